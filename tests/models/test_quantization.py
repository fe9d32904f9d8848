"""Weights in 4 and 8 bits: what reaches transformers, what stands for the model, and where it can't be.

No GPU is needed: what transformers would do with the configuration is replaced.
"""

import importlib.util
from types import SimpleNamespace

import pytest
import torch

from evenhand.models import loading
from evenhand.models.errors import ModelError
from evenhand.models.registry import load_model

FOUND = importlib.util.find_spec


@pytest.fixture
def gpu(monkeypatch):
    """A machine that says it has a CUDA GPU and bitsandbytes."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda **_: False)
    spec = SimpleNamespace(origin="bitsandbytes")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec if name == "bitsandbytes" else FOUND(name))


@pytest.fixture
def given(monkeypatch, tiny_llama):
    """What from_pretrained is given of weights; it makes the tiny model all the same."""
    settings = {}

    def loaded_weights(kind, path, **rest):
        settings.update(rest)
        return tiny_llama, {"missing_keys": []}

    monkeypatch.setattr(loading, "loaded_weights", loaded_weights)
    return settings


def load(checkpoint, **options):
    dtype = options.pop("dtype", "auto")
    return load_model(
        str(checkpoint), dtype=dtype, options={key.replace("_", "-"): text for key, text in options.items()}
    )


def test_4_bits_are_nf4_double_quantized_and_computed_in_bfloat16(gpu, given, tiny_checkpoint):
    model = load(tiny_checkpoint, quantization="4bit")
    assert model.model is not None
    config = given["quantization_config"]
    assert config.load_in_4bit
    assert not config.load_in_8bit
    assert config.bnb_4bit_quant_type == "nf4"
    assert config.bnb_4bit_use_double_quant
    assert config.bnb_4bit_compute_dtype == given["dtype"] == torch.bfloat16
    assert given["device_map"] == "auto"


def test_8_bits(gpu, given, tiny_checkpoint):
    assert load(tiny_checkpoint, quantization="8bit").model is not None
    assert given["quantization_config"].load_in_8bit
    assert not given["quantization_config"].load_in_4bit


def test_a_dtype_of_ones_own_is_what_4_bits_are_computed_in(gpu, given, tiny_checkpoint):
    assert load(tiny_checkpoint, quantization="4bit", dtype="float16").model is not None
    assert given["quantization_config"].bnb_4bit_compute_dtype == given["dtype"] == torch.float16


def test_without_it_nothing_is_quantized(given, tiny_checkpoint):
    assert load(tiny_checkpoint, device_map="cpu").model is not None
    assert "quantization_config" not in given


def test_quantization_is_part_of_what_the_model_is(gpu, given, tiny_checkpoint):
    """And its identity ends with its dtype, as any local model's."""
    whole, *quantized = (
        load(tiny_checkpoint, dtype="bfloat16", **chosen).identity
        for chosen in ({}, {"quantization": "4bit"}, {"quantization": "8bit"})
    )
    assert [each.removeprefix(whole.removesuffix("bfloat16")) for each in quantized] == [
        "4bit bfloat16",
        "8bit bfloat16",
    ]


@pytest.mark.parametrize("bits", ["4bit", "8bit"])
def test_a_machine_without_a_gpu_says_so_before_anything_is_loaded(monkeypatch, given, tiny_checkpoint, bits):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(
        ModelError,
        match=rf"weights of {bits} were asked for \(quantization\), and this machine has no CUDA GPU.*leave it out",
    ):
        load(tiny_checkpoint, quantization=bits)
    assert given == {}


def test_a_missing_bitsandbytes_is_named_with_what_installs_it(gpu, monkeypatch, given, tiny_checkpoint, root):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "bitsandbytes" else FOUND(name))
    with pytest.raises(ModelError, match=r"bitsandbytes is not installed; run: pip install 'evenhand\[quantization\]'"):
        load(tiny_checkpoint, quantization="4bit")
    assert "\nquantization =\n    bitsandbytes" in (root / "setup.cfg").read_text()


def test_the_command_line_refuses_it_without_a_gpu(monkeypatch, evenhand, tiny_checkpoint, tmp_path):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    asked = ("run", "contact_hypothesis", "--model", tiny_checkpoint, "--limit", 6, "--output", tmp_path / "run")
    called = evenhand(*asked, "--model-option", "quantization=4bit")
    assert called.code == 1
    assert "this machine has no CUDA GPU" in called.err
    wrong = evenhand(*asked, "--model-option", "quantization=2bit")
    assert wrong.code == 2
    assert "must be 4bit or 8bit" in wrong.err
    assert not (tmp_path / "run").exists()
