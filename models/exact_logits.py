"""Logits in float32 of a model whose weights are in half precision, so that likely tokens are not tied by rounding."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn
from torch.nn.functional import linear
from transformers import PreTrainedModel

HALVES = (torch.bfloat16, torch.float16)
ROWS = 32_768  # of the output layer's weights that are in float32 in one piece


@contextmanager
def float32_logits(model: PreTrainedModel) -> Iterator[None]:
    """Compute logits in float32 from the last hidden states, where the output layer is a plain one in half precision.

    A logit in bfloat16 has eight bits, and the logits of two options are often the very same number. Weights and hidden
    states stay as they are, and so does what the model does to logits after its output layer.
    """
    head = model.get_output_embeddings()
    if not isinstance(head, nn.Linear) or head.weight.dtype not in HALVES or head.weight.is_meta:
        yield
        return

    def compute(layer: nn.Linear, inputs: tuple[torch.Tensor, ...], output: torch.Tensor) -> torch.Tensor:
        hidden = inputs[0].float()
        logits = torch.cat([linear(hidden, rows.float()) for rows in layer.weight.split(ROWS)], dim=-1)
        return logits if layer.bias is None else logits + layer.bias.float()

    hook = head.register_forward_hook(compute)
    try:
        yield
    finally:
        hook.remove()
