"""Batches of prompts with answers: padded, or packed as a prefix tree that holds each distinct prefix once.

Both give the same logits: a tree's node attends to its ancestors and itself, at the positions they have in the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from transformers import PreTrainedModel

from evenhand.models.choice_scoring import AGREEMENT, disagreement, forked_sample
from evenhand.models.prefix_tree import Continuation, PrefixTree, grow, shared_length
from evenhand.models.tree_masks import TreeMasks

Batch = dict[str, Any]
CHECKED_LENGTH = 48  # tokens of the longest prompt that the check of a tree reads


class Logits(NamedTuple):
    """Logits before each token of each answer, and at some positions within the prompts: (positions, vocabulary)."""

    answers: torch.Tensor
    prompts: torch.Tensor


class Batching(Protocol):
    """How continuations become a batch, and a batch logits."""

    name: str

    def batch(self, continuations: Sequence[Continuation], places: int = 0) -> Batch:
        """Make a batch; `tokens` are all tokens of all answers, in order.

        Args:
            places: number of positions within the prompts to look at as well, spread evenly over their distinct
                prefixes; the same ones in any batching.
        """
        ...

    def logits(self, model: Any, batch: Batch) -> Logits: ...


class TreeBatching:
    """Prefix trees. Raises Unsupported for a model that takes no 4D mask."""

    name = "tree"

    def __init__(self, model: PreTrainedModel):
        self._masks = TreeMasks(model)

    def batch(self, continuations: Sequence[Continuation], places: int = 0) -> Batch:
        order, tree = _grow_sorted(continuations)
        nodes_of = dict(zip(order, tree.answers))
        answers = [node for place in range(len(continuations)) for node in nodes_of[place]]
        needed, found = np.unique([*answers, *_prompt_nodes(tree, places)], return_inverse=True)
        return {
            "tokens": _answer_tokens(continuations),
            "input_ids": torch.from_numpy(tree.tokens[None]),
            "position_ids": torch.from_numpy(tree.depths[None]),
            "needed": torch.from_numpy(needed),
            "answers": torch.from_numpy(found[: len(answers)]),
            "prompts": torch.from_numpy(found[len(answers) :]),
            "tree": tree,
        }

    def logits(self, model: Any, batch: Batch) -> Logits:
        logits = model(
            input_ids=batch["input_ids"],
            position_ids=batch["position_ids"],
            attention_mask=self._masks.additive([batch["tree"]], 0, batch["input_ids"].device),
            use_cache=False,
            logits_to_keep=batch["needed"],
        ).logits[0]
        return Logits(logits[batch["answers"]], logits[batch["prompts"]])


class PaddedBatching:
    """Every continuation whole, padded at its end to the longest."""

    name = "padded"

    def __init__(self, padding: int):
        self._padding = padding

    def batch(self, continuations: Sequence[Continuation], places: int = 0) -> Batch:
        answers = [
            (row, len(each.prompt) - 1 + place)
            for row, each in enumerate(continuations)
            for place in range(len(each.answer))
        ]
        within: list[tuple[int, int]] = []
        if places:  # those of the tree: a shared prefix is looked at in the first row that has it
            order, tree = _grow_sorted(continuations)
            reads = [continuations[row].read for row in order]
            shares = [0, *map(shared_length, reads, reads[1:])]
            nodes = [(row, at) for row, read, shared in zip(order, reads, shares) for at in range(shared, len(read))]
            within = [nodes[node] for node in _prompt_nodes(tree, places)]
        rows = [torch.tensor(each.read) for each in continuations]
        return {
            "tokens": _answer_tokens(continuations),
            "input_ids": torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=self._padding),
            "attention_mask": torch.nn.utils.rnn.pad_sequence([torch.ones_like(row) for row in rows], batch_first=True),
            "answers": torch.tensor(answers),
            "prompts": torch.tensor(within, dtype=torch.long).reshape(-1, 2),
        }

    def logits(self, model: Any, batch: Batch) -> Logits:
        logits = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], use_cache=False).logits
        answers, prompts = (batch[which].unbind(dim=1) for which in ("answers", "prompts"))
        return Logits(logits[answers], logits[prompts])


def _answer_tokens(continuations: Sequence[Continuation]) -> torch.Tensor:
    return torch.tensor([token for each in continuations for token in each.answer])


def _grow_sorted(continuations: Sequence[Continuation]) -> tuple[list[int], PrefixTree]:
    """Return the order of the continuations in their tree, and the tree."""
    order = sorted(range(len(continuations)), key=lambda place: continuations[place].read)
    return order, grow([continuations[place] for place in order], 0)


def _prompt_nodes(tree: PrefixTree, n: int) -> list[int]:
    """Return up to n nodes, spread evenly over those that no token of an answer follows."""
    answers = {node for each in tree.answers for node in each}
    nodes = [node for node in range(len(tree)) if node not in answers]
    return [nodes[place * len(nodes) // n] for place in range(n)] if n < len(nodes) else nodes


def continuations_of(examples: Sequence[Any]) -> list[Continuation]:
    """Return what is read for these examples: each is a continuation, or has several."""
    found = [[each] if isinstance(each, Continuation) else each.continuations for each in examples]
    return [each for some in found for each in some]


def answer_log_probs(model: Any, batching: Batching, some: Sequence[Continuation]) -> list[list[float]]:
    """Compute the log-probability of each token of each answer, in nats, without dropout; the model stays as it was."""
    was_training = model.training
    model.eval()
    try:
        device = next(model.parameters()).device
        batch = {
            name: value.to(device) if isinstance(value, torch.Tensor) else value
            for name, value in batching.batch(some).items()
        }
        with torch.no_grad():
            log_probs = batching.logits(model, batch).answers.float().log_softmax(dim=-1)
        found = log_probs.gather(1, batch["tokens"][:, None])[:, 0].tolist()
    finally:
        model.train(was_training)
    return [[found.pop(0) for _ in each.answer] for each in some]


def find_tree_fault(model: Any, tree: Batching, padded: Batching, n_tokens: int) -> str:
    """Compare a tree with padded batches of one continuation each; return why the tree can't be used, or "".

    A configuration doesn't tell all that a model's layers do, so it is tried before anything is learned.
    """
    sample = forked_sample(n_tokens, CHECKED_LENGTH)
    try:
        apart = disagreement(
            [each for one in sample for each in answer_log_probs(model, padded, [one])],
            answer_log_probs(model, tree, sample),
        )
    except (TypeError, ValueError, RuntimeError, LookupError, AttributeError) as error:
        return f"{type(error).__name__}: {error}"  # raised by a model's own code, whose masks are of another kind
    return f"log-probabilities differ by {apart:.2g} nats" if apart > AGREEMENT[model.dtype] else ""
