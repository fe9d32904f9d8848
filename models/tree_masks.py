"""Which nodes of prefix trees see which: the 4D masks that a forward pass takes, and attention within trees.

Trees stand one after another in a sequence: none is padded, and masks stay as small as trees. transformers looks the
attention function up by its name in a model's config; `attending` names it there for a forward pass.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from transformers import AttentionInterface, PreTrainedConfig, PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward

from evenhand.models.prefix_tree import PrefixTree

BASE = "sdpa"  # what each tree goes through
_NAME = "evenhand_trees"
_LAYER_KINDS = ("layer_types", "attention_layers", "layers_block_type", "block_types")  # as configurations call them


class Unsupported(Exception):
    """The model takes no 4D mask, or has layers that are no plain attention."""


class TreeMasks:
    """Raises Unsupported on construction where the model's layers are not full or sliding-window attention."""

    def __init__(self, model: PreTrainedModel):
        config = model.config.get_text_config()
        layer_types = set(next(filter(None, (getattr(config, name, None) for name in _LAYER_KINDS)), ()))
        if not layer_types <= {"full_attention", "sliding_attention"} or model.config.is_encoder_decoder:
            raise Unsupported(f"layers of type {', '.join(sorted(layer_types)) or 'encoder-decoder'}")
        if getattr(config, "alibi", False):
            raise Unsupported("it tells distances by where tokens stand (ALiBi), not by position ids")
        accepts = inspect.signature(model.forward).parameters
        missing = {"attention_mask", "position_ids", "past_key_values", "logits_to_keep"} - set(accepts)
        if missing:
            raise Unsupported(f"its forward pass takes no {', '.join(sorted(missing))}")
        self._dtype = model.dtype
        self._by_layer_type = "sliding_attention" in layer_types
        windowed = self._by_layer_type or not layer_types  # without types, the window is every layer's
        windowed = windowed and getattr(config, "use_sliding_window", True)
        self._window: int | None = getattr(config, "sliding_window", None) if windowed else None

    def additive(
        self, trees: Sequence[PrefixTree], before: int, device: torch.device
    ) -> torch.Tensor | dict[str, torch.Tensor]:
        """(1, 1, nodes, kept and longest tree), in the model's dtype; a sliding window counts depths, not places.

        before: tokens of a kept prefix, which every node sees. Where layers differ, one mask for each kind of them.
        """
        sees = np.zeros((sum(map(len, trees)), before + max(map(len, trees))), dtype=bool)
        near = np.zeros_like(sees)
        for start, tree in zip(accumulate(map(len, trees), initial=0), trees):
            rows, columns = slice(start, start + len(tree)), slice(before, before + len(tree))
            sees[rows, :before] = True
            sees[rows, columns] = tree.sees
            if self._window is not None:
                seen = np.concatenate([np.arange(before), tree.depths])
                near[rows, : columns.stop] = tree.depths[:, None] - seen < self._window

        def additive(allowed: npt.NDArray[np.bool_]) -> torch.Tensor:
            hidden = torch.from_numpy(~allowed)[None, None].to(device)
            return torch.zeros(hidden.shape, dtype=self._dtype, device=device).masked_fill_(
                hidden, torch.finfo(self._dtype).min
            )

        if self._window is None:
            return additive(sees)
        within = additive(sees & near)
        return {"full_attention": additive(sees), "sliding_attention": within} if self._by_layer_type else within


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


AttentionInterface.register(_NAME, attend_within_trees)


@contextmanager
def attending(config: PreTrainedConfig, lengths: Sequence[int]) -> Iterator[None]:
    """A forward pass of trees of these lengths, by a model with this config."""
    token, before = _ends.set(tuple(accumulate(lengths))), config._attn_implementation
    config._attn_implementation = _NAME
    try:
        yield
    finally:
        config._attn_implementation = before
        _ends.reset(token)
