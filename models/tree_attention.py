"""Attention within trees that stand one after another in a sequence: none is padded, and masks stay as small as trees.

transformers looks the function up by its name in a model's config. `attending` names it there for a forward pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import accumulate, pairwise
from typing import Any

import torch
from transformers import AttentionInterface, PreTrainedConfig
from transformers.integrations.sdpa_attention import sdpa_attention_forward

NAME = "evenhand_trees"
BASE = "sdpa"  # what each tree goes through

_ends: ContextVar[tuple[int, ...]] = ContextVar("_ends")


def attend_within_trees(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor,
    **kwargs: Any,
) -> tuple[torch.Tensor, None]:
    """Each tree's nodes see the kept prefix and, by the mask, their own tree.

    query (1, heads, nodes, head size); key and value (1, heads, kept and nodes, head size); attention_mask, additive,
    (1, 1, nodes, kept and longest tree): a node's row begins with the kept prefix and goes on with its own tree.
    Returns (1, nodes, heads, head size).
    """
    kept = key.shape[-2] - query.shape[-2]
    seen = []
    for start, end in pairwise((0, *_ends.get())):
        keys, values = (
            torch.cat([all_[..., :kept, :], all_[..., kept + start : kept + end, :]], -2) for all_ in (key, value)
        )
        mask = attention_mask[..., start:end, : kept + end - start]
        seen.append(sdpa_attention_forward(module, query[..., start:end, :], keys, values, mask, **kwargs)[0])
    return torch.cat(seen, dim=1), None


AttentionInterface.register(NAME, attend_within_trees)


@contextmanager
def attending(config: PreTrainedConfig, lengths: Sequence[int]) -> Iterator[None]:
    """A forward pass of trees of these lengths, by a model with this config."""
    token, before = _ends.set(tuple(accumulate(lengths))), config._attn_implementation
    config._attn_implementation = NAME
    try:
        yield
    finally:
        config._attn_implementation = before
        _ends.reset(token)
