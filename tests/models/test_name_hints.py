"""What a name means that other tools would take: the error says what to type instead."""

import json
import shutil

import pytest

from evenhand.errors import EvenhandError, UsageError
from evenhand.models.errors import ModelError
from evenhand.models.name_hints import suggest_name
from evenhand.models.registry import backend_of, load_model, without_effect


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("openai/gpt-4o-mini", "https://api.openai.com/v1#gpt-4o-mini"),
        ("openai:gpt-4o-mini", "https://api.openai.com/v1#gpt-4o-mini"),
        ("gpt-4o-mini", "https://api.openai.com/v1#gpt-4o-mini"),
        ("anthropic/claude-sonnet-4-5", "https://api.anthropic.com/v1#claude-sonnet-4-5 --api-key-env NAME"),
        ("openrouter/meta-llama/llama-3", "https://openrouter.ai/api/v1#meta-llama/llama-3 --api-key-env NAME"),
        ("ollama/llama3", "http://localhost:11434/v1#llama3"),
        ("ollama:llama3:8b", "http://localhost:11434/v1#llama3:8b"),
        ("lmstudio/qwen3", "http://localhost:1234/v1#qwen3"),
        ("vllm/org/model", "vllm:org/model"),
        ("hf:org/model", "org/model"),
        ("hf/org/model", "org/model"),
        ("hf://org/model", "org/model"),
        ("huggingface/org/model", "org/model"),
        ("https://huggingface.co/org/model", "org/model"),
        ("https://huggingface.co/org/model/tree/main", "org/model"),
        ("hf.co/org/model", "org/model"),
        ("localhost:8000/v1", "http://localhost:8000/v1"),
        ("localhost:8000", "http://localhost:8000/v1"),
        ("localhost:8000/v1#org/model", "http://localhost:8000/v1#org/model"),
        ("127.0.0.1:11434", "http://127.0.0.1:11434/v1"),
        ("[::1]:8000/v1", "http://[::1]:8000/v1"),
        ("gpu-7.example.org:8000/api/v1", "http://gpu-7.example.org:8000/api/v1"),
        ("org/model:main", "org/model --revision main"),
        ("org/model@v1.0", "org/model --revision v1.0"),
    ],
)
def test_the_name_that_is_meant_is_in_the_error(name, meant):
    """And it is a name that a backend takes."""
    assert suggest_name(name) == meant
    with pytest.raises((EvenhandError, ModelError)) as error:
        load_model(name)
    assert f"--model {meant}" in str(error.value)
    backend_of(meant.split(" --")[0])


@pytest.mark.parametrize(
    "name", ["org/model", "embedded", "stub:first", "vllm:org/model", "llama3", "./folder", "a/b.c"]
)
def test_names_that_mean_what_they_say(name):
    assert suggest_name(name) is None or name.startswith("vllm")


def config(folder, **settings):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"model_type": "llama"} | settings))
    return folder


def training_folder(folder):
    config(folder / "checkpoint-500")
    (folder / "trainer_state.json").touch()
    return "name a folder in it: --model {}/checkpoint-500"


def hub_cache(folder):
    config(folder / "snapshots" / "0123abcd")
    (folder / "refs").mkdir()
    return "name a folder in it: --model {}/snapshots/0123abcd"


def nothing(folder):
    folder.mkdir()
    return "it has no config.json; it holds nothing"


def weights_alone(folder):
    folder.mkdir()
    (folder / "model.safetensors").touch()
    return "it has no config.json; it holds model.safetensors"


def diffusers(folder):
    folder.mkdir()
    (folder / "model_index.json").write_text("{}")
    return "it is a pipeline of diffusers, which writes no text"


def onnx(folder):
    (config(folder) / "onnx").mkdir()
    (folder / "onnx" / "model_q4.onnx").touch()
    return r"its weights are ONNX \(model_q4.onnx\), which is not read here; name the model that was exported"


def mlx_arrays(folder):
    (config(folder) / "weights.00.npz").touch()
    return r"its weights are MLX's .*mlx_lm.server --model {}, and then --model http://localhost:8080/v1"


def mlx_quantized(folder):
    quantization = {"group_size": 64, "bits": 4}
    config(folder, quantization=quantization, quantization_config=quantization)
    (folder / "model.safetensors").touch()
    return r"quantized by MLX.*mlx_lm.server --model {}, and then --model http://localhost:8080/v1"


def pickles(folder):
    (config(folder) / "pytorch_model.bin").touch()
    return r"its weights are pickled \(pytorch_model.bin\).*Convert them to safetensors"


FOLDERS = (
    training_folder, hub_cache, nothing, weights_alone, diffusers, onnx, mlx_arrays, mlx_quantized, pickles,
)  # fmt: skip


@pytest.mark.parametrize("make", FOLDERS)
def test_a_folder_that_is_no_model(make, tmp_path):
    """Said when it is named, before a run's folder is made."""
    says = make(tmp_path / "m").replace("{}", str(tmp_path / "m"))
    with pytest.raises(ModelError, match=f"could not load model .*{says}"):
        load_model(str(tmp_path / "m"), dtype="float32")


@pytest.mark.parametrize("make", [onnx, mlx_arrays, pickles])
def test_other_weights_beside_safetensors_are_left_alone(make, tmp_path, tiny_checkpoint):
    make(tmp_path / "m")
    shutil.copytree(tiny_checkpoint, tmp_path / "m", dirs_exist_ok=True)
    assert load_model(str(tmp_path / "m"), dtype="float32").model.num_parameters() > 0


def test_a_file_of_weights_is_named_by_its_folder(tiny_checkpoint):
    with pytest.raises(ModelError, match=rf"it is a file; name its folder, --model {tiny_checkpoint}\."):
        load_model(str(tiny_checkpoint / "model.safetensors"))


@pytest.mark.parametrize("name", ["a\0b", "~nobody-of-this-name/model", "./" + "x" * 300])
def test_what_can_be_no_path_is_a_wrong_use(name):
    with pytest.raises(UsageError):
        load_model(name)
    assert without_effect(name) == {}
