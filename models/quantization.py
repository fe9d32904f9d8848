"""Weights in 4 or 8 bits, through bitsandbytes: a 13B model in 4 bits takes some 8 GB."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Literal

from evenhand.models.errors import ModelError

if TYPE_CHECKING:
    from transformers import BitsAndBytesConfig

Bits = Literal["4bit", "8bit"]


def check_quantization(bits: Bits) -> None:
    """Raises ModelError where weights can't be loaded so: without a CUDA GPU or bitsandbytes."""
    import torch

    if not torch.cuda.is_available():
        raise ModelError(
            f"weights of {bits} were asked for (quantization), and this machine has no CUDA GPU, which they need: "
            "leave it out, or run there; --dtype bfloat16 takes half the memory of float32 anywhere"
        )
    if importlib.util.find_spec("bitsandbytes") is None:
        raise ModelError(
            f"weights of {bits} were asked for (quantization), and bitsandbytes is not installed; run: "
            "pip install 'evenhand[quantization]'"
        )


def quantization_config(bits: Bits, compute_dtype: str) -> BitsAndBytesConfig:
    """What from_pretrained takes. compute_dtype: "bfloat16", for instance, of what 4-bit weights are computed in."""
    import torch
    from transformers import BitsAndBytesConfig

    if bits == "8bit":
        return BitsAndBytesConfig(load_in_8bit=True)
    # QLoRA's (arXiv 2305.14314, section 3): normal floats, whose scales are quantized, too.
    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=getattr(torch, compute_dtype),
    )
