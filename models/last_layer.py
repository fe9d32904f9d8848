"""The last layer's feed-forward network, computed for those nodes alone whose logits are needed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from transformers import PreTrainedModel


def last_feed_forward(model: PreTrainedModel, n_layers: int) -> torch.nn.Module | None:
    """The last layer's feed-forward network, where it computes each node alone; None where that isn't known."""
    lists = [each for each in model.modules() if isinstance(each, torch.nn.ModuleList) and len(each) == n_layers]
    mlp = getattr(lists[0][-1], "mlp", None) if len(lists) == 1 else None
    return mlp if isinstance(mlp, torch.nn.Module) and type(mlp).__name__.endswith("MLP") else None


@contextmanager
def computed_for(nodes: torch.Tensor, mlp: torch.nn.Module | None) -> Iterator[None]:
    """Within, the network computes only these nodes, whose logits are needed; its output for others is 0.

    Nothing mixes nodes after the last layer's attention. Where mlp is None, all are computed.
    """
    if mlp is None:
        yield
        return

    def some(module: torch.nn.Module, given: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        sizes.append(given[0].shape[-2])
        return (given[0].index_select(-2, nodes),)

    def all_(module: torch.nn.Module, given: object, computed: torch.Tensor) -> torch.Tensor:
        out = computed.new_zeros(*computed.shape[:-2], sizes.pop(), computed.shape[-1])
        return out.index_copy_(-2, nodes, computed)

    sizes: list[int] = []
    hooks = mlp.register_forward_pre_hook(some), mlp.register_forward_hook(all_)
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
