"""Batches of prompts with their answers, for tuning: padded, or packed as a tree in which no prefix stands twice.

Either gives the same logits: a tree's node sees its ancestors and itself, where they would stand, so that every token
is computed from what is before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from transformers import PreTrainedModel

from evenhand.models.prefix_tree import Continuation, PrefixTree, grow, shared_length
from evenhand.models.tree_masks import TreeMasks

Batch = dict[str, Any]


@dataclass(frozen=True)
class Logits:
    """answers: before each token of each answer, in their order, (tokens, vocabulary).

    prompts: at some places within the prompts, (places, vocabulary); none where none were asked for.
    """

    answers: torch.Tensor
    prompts: torch.Tensor


class Batching(Protocol):
    """How continuations become a batch, and a batch logits."""

    name: str

    def batch(self, continuations: Sequence[Continuation], places: int = 0) -> Batch:
        """`tokens`: every token of every answer, in their order.

        places: how many within the prompts are looked at besides, spread evenly over their distinct prefixes, the same
        ones in any batching; fewer where there are fewer.
        """
        ...

    def logits(self, model: Any, batch: Batch) -> Logits: ...


@dataclass(frozen=True)
class _Packed:
    """needed: nodes whose logits are computed. answers, prompts: of what is looked at, the places among them."""

    tree: PrefixTree
    needed: torch.Tensor
    answers: torch.Tensor
    prompts: torch.Tensor


class TreeBatching:
    """Raises Unsupported on construction where the model takes no 4D mask."""

    name = "tree"

    def __init__(self, model: PreTrainedModel):
        self._masks = TreeMasks(model)

    def batch(self, continuations: Sequence[Continuation], places: int = 0) -> Batch:
        order, tree = _grown(continuations)
        nodes_of = dict(zip(order, tree.answers))
        answers = [node for place in range(len(continuations)) for node in nodes_of[place]]
        prompts = _within_prompts(tree, places)
        needed, found = np.unique([*answers, *prompts], return_inverse=True)
        looked = torch.from_numpy(found)
        packed = _Packed(tree, torch.from_numpy(needed), looked[: len(answers)], looked[len(answers) :])
        return {"tokens": _tokens(continuations), "packed": packed}

    def logits(self, model: Any, batch: Batch) -> Logits:
        packed = batch["packed"]
        device = batch["tokens"].device
        logits = model(
            input_ids=torch.from_numpy(packed.tree.tokens[None]).to(device),
            position_ids=torch.from_numpy(packed.tree.depths[None]).to(device),
            attention_mask=self._masks.additive([packed.tree], 0, device),
            use_cache=False,
            logits_to_keep=packed.needed.to(device),
        ).logits[0]
        return Logits(logits[packed.answers.to(device)], logits[packed.prompts.to(device)])


class PaddedBatching:
    """Every continuation whole, padded at its end to the longest."""

    name = "padded"

    def __init__(self, padding: int):
        self._padding = padding

    def batch(self, continuations: Sequence[Continuation], places: int = 0) -> Batch:
        longest = max(len(each.read) for each in continuations)
        answers = [
            (row, len(each.prompt) - 1 + place)
            for row, each in enumerate(continuations)
            for place in range(len(each.answer))
        ]
        within: list[tuple[int, int]] = []
        if places:  # the tree's own: what prompts share is looked at once, in the first row that has it
            order, tree = _grown(continuations)
            reads = [continuations[row].read for row in order]
            shares = [0, *map(shared_length, reads, reads[1:])]
            nodes = [
                (row, place) for row, read, shared in zip(order, reads, shares) for place in range(shared, len(read))
            ]
            within = [nodes[node] for node in _within_prompts(tree, places)]
        return {
            "tokens": _tokens(continuations),
            "input_ids": torch.tensor(
                [[*each.read, *[self._padding] * (longest - len(each.read))] for each in continuations]
            ),
            "attention_mask": torch.tensor(
                [[1] * len(each.read) + [0] * (longest - len(each.read)) for each in continuations]
            ),
            "answers": torch.tensor(answers),
            "prompts": torch.tensor(within, dtype=torch.long).reshape(-1, 2),
        }

    def logits(self, model: Any, batch: Batch) -> Logits:
        logits = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], use_cache=False).logits
        answers, prompts = (batch[which].unbind(dim=1) for which in ("answers", "prompts"))
        return Logits(logits[answers], logits[prompts])


def _tokens(continuations: Sequence[Continuation]) -> torch.Tensor:
    return torch.tensor([token for each in continuations for token in each.answer])


def _grown(continuations: Sequence[Continuation]) -> tuple[list[int], PrefixTree]:
    """The tree of all, and the order in which they stand in it."""
    order = sorted(range(len(continuations)), key=lambda place: continuations[place].read)
    return order, grow([continuations[place] for place in order], 0)


def _within_prompts(tree: PrefixTree, n: int) -> list[int]:
    """n nodes or fewer, spread evenly over those that no token of an answer follows."""
    answers = {node for each in tree.answers for node in each}
    return _spread([node for node in range(len(tree)) if node not in answers], n)


def _spread(some: Sequence[Any], n: int) -> list[Any]:
    """n of them or fewer, at even distances."""
    return [some[place * len(some) // n] for place in range(min(n, len(some)))] if n < len(some) else list(some)


def read_of(examples: Sequence[Any]) -> list[Continuation]:
    """What is read for these examples: each is a continuation, or has some."""
    found = [[each] if isinstance(each, Continuation) else each.continuations for each in examples]
    return [each for some in found for each in some]
