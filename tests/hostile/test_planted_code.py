"""A checkpoint's code never runs: every path that loads one is given folders with code in them, and "yes" to whatever
may be asked. Code that ran would leave a mark."""

import ast
import io
import json
import pickle
import shutil
from pathlib import Path

import peft
import pytest
import torch
from safetensors.torch import load_file
from transformers import BertConfig, BertForSequenceClassification, YolosConfig, YolosForObjectDetection
from transformers.models.yolos.image_processing_pil_yolos import YolosImageProcessorPil

from evenhand.benchmarks.mllm_stereotypes.persona_models import DiffusersPainter, TransformersDetector
from evenhand.language_agency.classifier import AgencyClassifier
from evenhand.models.errors import ModelError
from evenhand.models.protocol import replies
from evenhand.models.registry import load_model
from evenhand.models.request import Message, Request
from evenhand.models.text_similarity import TextEncoder
from tests.models import tiny_vision

ASKED = [Request((Message("user", "Why?"),), ("Likely", "Unlikely"))]
NEVER_RUN = "code of its own"
PICKLED = r"pickled.*safetensors"
AUTO = (
    "AutoConfig", "AutoModel", "AutoModelForCausalLM", "AutoModelForSequenceClassification",
    "AutoModelForImageTextToText", "AutoModelForObjectDetection", "AutoProcessor", "AutoImageProcessor",
    "AutoVideoProcessor", "AutoFeatureExtractor",
)  # fmt: skip
AUTO_MAP = {name: "planted.Planted" for name in AUTO} | {"AutoTokenizer": ["planted.Planted", "planted.Planted"]}


@pytest.fixture(autouse=True)
def mark(tmp_path, monkeypatch):
    """Where the code leaves its mark; whoever asks hears yes."""
    monkeypatch.setattr("sys.stdin", io.StringIO("yes\n" * 100))
    path = tmp_path / "mark"
    yield path
    assert not path.exists()


@pytest.fixture
def planted(tmp_path, mark):
    """planted(folder, file, …) → the folder, with code in it that each of these JSON files names."""
    code = f"open({str(mark)!r}, 'w').close()\nclass Planted: pass\ndef generate(**inputs): open({str(mark)!r}, 'w')\n"

    def call(folder, *files, **changes):
        for place in ("planted.py", "custom_generate/generate.py"):
            (folder / place).parent.mkdir(exist_ok=True)
            (folder / place).write_text(code)
        for file in files:
            path = folder / file
            settings = json.loads(path.read_text()) if path.exists() else {}
            path.write_text(json.dumps(settings | {"auto_map": AUTO_MAP} | changes))
        return folder

    return call


class Marks:
    """Of which a pickle leaves the mark when it is read."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return open, (self.path, "w")


@pytest.fixture
def pickled(mark):
    """pickled(folder, file) → the folder, with such a pickle in place of its weights."""

    def call(folder, file="pytorch_model.bin"):
        for path in folder.glob("*.safetensors"):
            path.unlink()
        torch.save({"weight": Marks(mark)}, folder / file, pickle_module=pickle)
        return folder

    return call


@pytest.fixture
def text_model(tiny_checkpoint, tmp_path):
    return shutil.copytree(tiny_checkpoint, tmp_path / "text")


@pytest.fixture
def vision_model(tmp_path):
    return tiny_vision.build("llava", tmp_path / "vision")


@pytest.fixture
def classifier(tokenizer, tmp_path):
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2,
        id2label={0: "communal", 1: "agentic"},
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(tmp_path / "bert")
    tokenizer.save_pretrained(tmp_path / "bert")
    return tmp_path / "bert"


@pytest.fixture
def detector(tmp_path):
    config = YolosConfig(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, image_size=[32, 32],
        num_detection_tokens=5, id2label={0: "person"},
    )  # fmt: skip
    YolosForObjectDetection(config).save_pretrained(tmp_path / "yolos")
    YolosImageProcessorPil(size={"height": 32, "width": 32}).save_pretrained(tmp_path / "yolos")
    return tmp_path / "yolos"


@pytest.fixture
def adapter(tiny_llama, text_model, tmp_path):
    """On `text_model`."""
    import copy

    model = peft.get_peft_model(copy.deepcopy(tiny_llama), peft.LoraConfig(r=2, task_type="CAUSAL_LM"))
    model.save_pretrained(tmp_path / "adapter")
    changed(tmp_path / "adapter" / "adapter_config.json", base_model_name_or_path=str(text_model))
    return tmp_path / "adapter"


def changed(path, **settings):
    path.write_text(json.dumps(json.loads(path.read_text()) | settings))


def answered(folder, **options):
    return replies(load_model(str(folder), dtype="float32", **options), ASKED)


# Models of text


def test_a_model_of_no_known_kind(evenhand, planted, text_model, tmp_path):
    planted(text_model, "config.json", model_type="planted")
    told = evenhand("run", "contact_hypothesis", "--model", text_model, "--limit", 6, "--output", tmp_path / "run")
    assert told.code == 1
    assert NEVER_RUN in told.err


@pytest.mark.parametrize("architecture", ["LlamaForCausalLM", "Planted"])
def test_a_known_model_is_loaded_by_the_librarys_code(planted, text_model, architecture):
    """And writes by it, for generation may bring code, too."""
    planted(text_model, "config.json", "generation_config.json", architectures=[architecture])
    [reply] = replies(load_model(str(text_model), dtype="float32"), [Request((Message("user", "Why?"),))])
    assert reply.finish_reason in ("stop", "length")


def test_a_tokenizer_of_no_known_kind(planted, text_model):
    planted(text_model, "tokenizer_config.json", tokenizer_class="Planted")
    (text_model / "tokenizer.json").unlink()
    with pytest.raises(ModelError, match="could not load model"):
        answered(text_model)


def test_attention_that_is_to_be_fetched(text_model):
    changed(text_model / "config.json", attn_implementation="somebody/kernels")
    with pytest.raises(ModelError, match=r"would fetch somebody/kernels and run it.*attn_implementation=sdpa"):
        answered(text_model)
    assert answered(text_model, options={"attn_implementation": "eager"})[0].finish_reason == "choice"


def test_pickled_weights(pickled, text_model):
    with pytest.raises(ModelError, match=r"pytorch_model\.bin.*Convert them to safetensors"):
        answered(pickled(text_model))


def test_pickled_parts_of_weights_that_call_themselves_safe(mark, text_model):
    names = list(load_file(text_model / "model.safetensors"))
    (text_model / "model.safetensors").unlink()
    torch.save({name: Marks(mark) for name in names}, text_model / "part.bin")
    index = {"metadata": {"total_size": 1}, "weight_map": dict.fromkeys(names, "part.bin")}
    (text_model / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(ModelError, match=PICKLED):
        answered(text_model)


def test_pickles_beside_weights_are_left_alone(mark, text_model):
    for name in ("pytorch_model.bin", "training_args.bin", "optimizer.pt", "scheduler.pt", "rng_state.pth"):
        torch.save(Marks(mark), text_model / name)
    assert answered(text_model)[0].finish_reason == "choice"


# Adapters


def test_an_adapter_that_names_a_module(planted, adapter, monkeypatch):
    planted(adapter, "adapter_config.json")
    named = {"base_model_class": "Planted", "parent_library": "planted"}
    changed(adapter / "adapter_config.json", auto_mapping=named, task_type=None)
    monkeypatch.syspath_prepend(str(adapter))
    assert answered(adapter)[0].finish_reason == "choice"


def test_an_adapter_on_a_base_with_code(planted, adapter, text_model):
    planted(text_model, "config.json", model_type="planted")
    with pytest.raises(ModelError, match=NEVER_RUN):
        answered(adapter)


def test_a_pickled_adapter(pickled, adapter):
    pickled(adapter, "adapter_model.bin")
    with pytest.raises(ModelError, match=PICKLED):
        answered(adapter)


# Models of pictures


@pytest.mark.parametrize("files", [["config.json"], ["processor_config.json", "preprocessor_config.json"]])
def test_a_vision_model_of_no_known_kind(planted, vision_model, files):
    planted(vision_model, *files, model_type="planted", processor_class="Planted")
    if "config.json" not in files:
        planted(vision_model, "preprocessor_config.json", image_processor_type="Planted")
    with pytest.raises(ModelError, match=NEVER_RUN):
        answered(vision_model, pictures=True)


def test_a_processors_parts(planted, vision_model):
    """Of a model that names no processor, transformers takes the one of its kind, and would ask for its parts."""
    for name in ("processor_config.json", "preprocessor_config.json"):
        (vision_model / name).unlink()
    planted(vision_model, "preprocessor_config.json", image_processor_type="Planted")
    with pytest.raises(ModelError, match=NEVER_RUN):
        answered(vision_model, pictures=True)


def test_a_processors_tokenizer(planted, vision_model):
    """Which the library reads by its own code."""
    planted(vision_model, "tokenizer_config.json", tokenizer_class="Planted")
    (vision_model / "processor_config.json").unlink()
    changed(vision_model / "preprocessor_config.json", processor_class=None)
    load_model(str(vision_model), pictures=True)


def test_a_pickled_vision_model(pickled, vision_model):
    with pytest.raises(ModelError, match=PICKLED):
        answered(pickled(vision_model), pictures=True)


# Classifiers and encoders


@pytest.mark.parametrize("file", ["config.json", "tokenizer_config.json"])
def test_a_classifier_of_no_known_kind(evenhand, planted, classifier, tmp_path, file):
    planted(classifier, file, model_type="planted", tokenizer_class="Planted")
    if file != "config.json":
        (classifier / "tokenizer.json").unlink()
    texts = tmp_path / "texts.csv"
    texts.write_text("text,gender\nShe leads.,female\nHe helps.,male\n")
    told = evenhand("run", "labe", "--texts", texts, "--classifiers", classifier, "--output", tmp_path / "run")
    assert told.code == 1
    assert (NEVER_RUN if file == "config.json" else "could not load classifier") in told.err


def test_a_pickled_classifier(pickled, classifier):
    with pytest.raises(ModelError, match=PICKLED):
        AgencyClassifier.from_pretrained(str(pickled(classifier)))


def test_a_classifier_that_is_a_pickled_adapter(mark, classifier):
    """transformers looks for adapters in every folder."""
    peft.LoraConfig(r=2, target_modules=["query"]).save_pretrained(classifier)
    changed(classifier / "adapter_config.json", base_model_name_or_path=str(classifier))
    torch.save({"weight": Marks(mark)}, classifier / "adapter_model.bin")
    with pytest.raises(ModelError, match="adapter"):
        AgencyClassifier.from_pretrained(str(classifier))


@pytest.mark.parametrize("recipe", [[], ["--recipe", "bert"]])
@pytest.mark.parametrize("harm", ["config.json", "pickle"])
def test_what_is_trained(evenhand, planted, pickled, classifier, tmp_path, recipe, harm):
    if harm == "pickle":
        pickled(classifier)
    else:
        planted(classifier, harm, model_type="planted")
    told = evenhand("train", "agency", "--base", classifier, *recipe, "--output", tmp_path / "trained")
    assert told.code in (1, 2)
    assert ("safetensors" if harm == "pickle" else NEVER_RUN) in told.err


def test_an_encoder(planted, pickled, classifier):
    with pytest.raises(ModelError, match=NEVER_RUN):
        TextEncoder.from_folder(planted(classifier, "config.json", model_type="planted"))
    with pytest.raises(ModelError, match=PICKLED):
        TextEncoder.from_folder(pickled(classifier))


# Detectors and painters


@pytest.mark.parametrize("file", ["config.json", "preprocessor_config.json"])
def test_a_detector_of_no_known_kind(planted, detector, file):
    planted(detector, file, model_type="planted", image_processor_type="Planted")
    with pytest.raises(ModelError, match=NEVER_RUN):
        TransformersDetector.from_pretrained(str(detector))


def test_a_pickled_detector(pickled, detector):
    with pytest.raises(ModelError, match=PICKLED):
        TransformersDetector.from_pretrained(str(pickled(detector)))


@pytest.fixture
def painter(tmp_path):
    """painter(class of the pipeline, parts …) → a folder of diffusers."""
    pytest.importorskip("diffusers")

    def call(pipeline, **parts):
        folder = tmp_path / "painter"
        folder.mkdir()
        (folder / "model_index.json").write_text(json.dumps({"_class_name": pipeline, **parts}))
        return folder

    return call


def test_a_pipeline_of_its_own(planted, painter):
    folder = planted(painter(["planted", "Planted"]))
    with pytest.raises(ModelError, match="could not load painter"):
        DiffusersPainter.from_pretrained(str(folder))


@pytest.mark.parametrize(
    "part", [["planted", "Planted"], ["transformers", "LlavaProcessor"], ["transformers", "AutoTokenizer"]]
)
def test_a_pipelines_part(planted, painter, vision_model, part):
    """Of a known pipeline: its tokenizer's folder holds the code, and perhaps what asks for it."""
    folder = painter("StableDiffusionPipeline", tokenizer=part)
    shutil.move(vision_model, folder / "tokenizer")
    names = ("config.json", "tokenizer_config.json", "preprocessor_config.json", "processor_config.json")
    planted(folder / "tokenizer", *names, model_type="planted", image_processor_type="Planted")
    with pytest.raises(ModelError, match="could not load painter"):
        DiffusersPainter.from_pretrained(str(folder))


# Data


def test_a_dataset_is_one_of_the_package(evenhand, mark, tmp_path):
    folder = tmp_path / "planted"
    folder.mkdir()
    (folder / "loading_script.py").write_text(f"open({str(mark)!r}, 'w').close()")
    told = evenhand("annotate", "export", f"{folder}:x", "--scheme", "agency", "--output", tmp_path / "sheet.csv")
    assert told.code == 2
    assert "unknown dataset" in told.err


# Whatever loads later


def test_all_that_loads_does_so_in_one_place(root):
    """The other calls of this name are to evenhand's own classes, and to peft's, which read settings."""
    own = {
        "CompleteModel",
        "AgencyClassifier",
        "TransformersDetector",
        "DiffusersPainter",
        "PeftConfig",
        "_CompleteModel",
    }
    calls = set()
    for folder in ("src", "models", "trainers", "scripts", "metrics"):
        for path in Path(root / folder).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            for node in ast.walk(ast.parse(text)) if "from_" in text else ():
                if isinstance(node, ast.Attribute) and node.attr in ("from_pretrained", "from_single_file"):
                    calls.add((path.relative_to(root).as_posix(), ast.unparse(node.value)))
    assert {file for file, owner in calls if owner not in own} == {
        "models/loading.py",
        "src/evenhand/tools/peers/templates/lm_eval_task.py",  # runs in the other harness: a tokenizer, as it loads one
    }
