"""Losses of a batch: sums over its labels, from the logits of a batching."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch.nn.functional import cross_entropy, kl_div, log_softmax

from evenhand.models.prefix_tree import Continuation
from evenhand.trainers.packing import Batch


class Loss(Protocol):
    """What is learned from examples."""

    def passes(self, examples: Sequence[Any]) -> list[Sequence[Any]]:
        """Split a batch's examples into those of each forward pass."""
        return [examples]

    def batch(self, examples: Sequence[Any]) -> Batch:
        """Return `labels`, as many as the loss is a mean of, and whatever else `summed` needs."""
        ...

    def summed(self, logits: torch.Tensor, batch: Batch) -> torch.Tensor:
        """Sum the loss over all labels; logits: before each token of each answer."""
        ...


class AnswerLoss(Loss):
    """Negative log-likelihood of the answers' tokens; each token is a label."""

    def batch(self, examples: Sequence[Continuation]) -> Batch:
        return {"labels": torch.tensor([token for each in examples for token in each.answer])}

    def summed(self, logits: torch.Tensor, batch: Batch) -> torch.Tensor:
        return cross_entropy(logits.float(), batch["labels"], reduction="sum")


@dataclass(frozen=True)
class Question:
    """A prompt with its options, and the value (bias) of each."""

    continuations: tuple[Continuation, ...]
    values: tuple[float, ...]


@dataclass(frozen=True)
class Balanced:
    """Questions of one example, among which each option is the biased one equally often.

    apart: compute each in a pass of its own, since it has many options.
    """

    questions: tuple[Question, ...]
    apart: bool = False

    @property
    def continuations(self) -> tuple[Continuation, ...]:
        return tuple(each for question in self.questions for each in question.continuations)


@dataclass(frozen=True)
class ExpectedValueLoss(Loss):
    """Expected value of an answer drawn by the options' probabilities; each question is a label.

    aggregate: mean or sum of an option's log-probabilities over its tokens, as in scoring.
    """

    aggregate: str

    def passes(self, examples: Sequence[Balanced]) -> list[Sequence[Balanced]]:
        together = [each for each in examples if not each.apart]
        alone = [[Balanced((question,))] for each in examples if each.apart for question in each.questions]
        return [*([together] if together else []), *alone]

    def batch(self, examples: Sequence[Balanced]) -> Batch:
        questions = [question for each in examples for question in each.questions]
        most = max(len(each.values) for each in questions)
        option_of = [  # the cell of each token's option, in a table of questions by options
            row * most + option
            for row, question in enumerate(questions)
            for option, each in enumerate(question.continuations)
            for _ in each.answer
        ]
        values = torch.zeros(len(questions), most)
        for row, question in enumerate(questions):
            values[row, : len(question.values)] = torch.tensor(question.values)
        labels = torch.ones(len(questions), dtype=torch.long)
        return {"labels": labels, "option_of": torch.tensor(option_of), "values": values}

    def summed(self, logits: torch.Tensor, batch: Batch) -> torch.Tensor:
        values, option_of = batch["values"], batch["option_of"]
        of_tokens = -cross_entropy(logits.float(), batch["tokens"], reduction="none")
        summed = torch.zeros(values.numel(), device=values.device).index_add(0, option_of, of_tokens)
        n = torch.zeros_like(summed).index_add(0, option_of, torch.ones_like(of_tokens))
        scores = summed / n.clamp(min=1) if self.aggregate == "mean" else summed
        scores = scores.masked_fill(n == 0, -torch.inf).reshape(values.shape)
        return (scores.softmax(dim=1) * values).sum()


def divergence(base: torch.Tensor, tuned: torch.Tensor) -> torch.Tensor:
    """Mean Kullback-Leibler divergence of next-token probabilities, in nats; logits of shape (places, vocabulary)."""
    of_base, of_tuned = (log_softmax(each.float(), dim=-1) for each in (base, tuned))
    return kl_div(of_tuned, of_base, log_target=True, reduction="batchmean")
