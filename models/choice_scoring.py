"""Log-probabilities of answers after prompts: with shared prefixes where they agree with padded batches."""

from __future__ import annotations

import inspect
import logging
import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Literal, Protocol

import numpy as np
import torch
from transformers import PreTrainedModel

from evenhand.models.exact_logits import float32_logits
from evenhand.models.kept_prompts import KeptPrompts
from evenhand.models.prefix_tree import Continuation, LogProbs, Tokens
from evenhand.models.shared_prefix_scoring import SharedPrefixScoring
from evenhand.models.tree_masks import Unsupported

logger = logging.getLogger(__name__)

AGREEMENT = {torch.float32: 1e-3, torch.float64: 1e-3, torch.bfloat16: 0.5, torch.float16: 0.1}
"""Nats by which two ways of scoring may differ on a sample, by dtype; a wrong mask differs by far more."""


class Scoring(Protocol):
    """One way of scoring. name: for the log."""

    name: str

    def scored(self, continuations: Sequence[Continuation]) -> Iterator[tuple[int, LogProbs]]:
        """(place of a continuation, log-probability of each token of its answer), each once, as they are computed."""
        ...


def score_all(scoring: Scoring, continuations: Sequence[Continuation]) -> list[LogProbs]:
    """Log-probabilities in the continuations' order."""
    return [log_probs for _, log_probs in sorted(scoring.scored(continuations))]


class PaddedScoring:
    """Padded batches, for any model. Each row is what the model reads before an answer's last token."""

    name = "padded batches"

    def __init__(self, model: PreTrainedModel, padding: int, batch_size: int):
        self.model = model
        self.padding = padding
        self.batch_size = batch_size
        self._accepts = frozenset(inspect.signature(model.forward).parameters)

    def scored(self, continuations: Sequence[Continuation]) -> Iterator[tuple[int, LogProbs]]:
        rows: dict[Tokens, list[int]] = {}  # answers that differ in their last token share one
        for i, continuation in enumerate(continuations):
            rows.setdefault(continuation.read, []).append(i)
        ordered = sorted(rows, key=len)
        for start in range(0, len(ordered), self.batch_size):
            batch = ordered[start : start + self.batch_size]
            steps = max(len(continuations[i].answer) for row in batch for i in rows[row])
            log_probs = self._last_log_probs(batch, steps)
            for place, row in enumerate(batch):
                for i in rows[row]:
                    answer = continuations[i].answer
                    tokens = zip(range(steps - len(answer), steps), answer)
                    yield i, tuple(float(log_probs[place, step, token]) for step, token in tokens)

    def _last_log_probs(self, rows: Sequence[Tokens], steps: int) -> torch.Tensor:
        """Log-probabilities (rows, steps, vocabulary) of what follows each of the last `steps` tokens of each row."""
        device = self.model.get_input_embeddings().weight.device
        input_ids, attention_mask = (each.to(device) for each in left_padded(rows, self.padding))
        inputs = {"input_ids": input_ids, "attention_mask": attention_mask}
        if "position_ids" in self._accepts:
            inputs["position_ids"] = (attention_mask.cumsum(dim=-1) - 1).clamp(min=0)
        keep = {"logits_to_keep": steps} if "logits_to_keep" in self._accepts else {}
        with torch.inference_mode(), float32_logits(self.model):
            logits = self.model(**inputs, **keep, use_cache=False).logits[:, -steps:]
            return torch.log_softmax(logits.float(), dim=-1).cpu()


def left_padded(rows: Sequence[Tokens], padding: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids and attention mask (rows, longest)."""
    longest = max(len(row) for row in rows)
    input_ids = torch.tensor([[padding] * (longest - len(row)) + list(row) for row in rows])
    mask = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in rows])
    return input_ids, mask


class ChoiceScoring:
    """The scoring of one model.

    Args:
        identity: the model's name in the log.
        n_tokens: size of its vocabulary.
        padding: token that fills rows.
        context: tokens that it has positions for; None: any number.
        way: "auto" takes shared prefixes where they agree with padded batches.
        kept_prompts: of earlier calls.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        identity: str,
        n_tokens: int,
        padding: int,
        context: int | None,
        batch_size: int,
        way: Literal["auto", "padded"] = "auto",
        kept_prompts: KeptPrompts | None = None,
    ):
        self.model = model
        self.identity = identity
        self.n_tokens = n_tokens
        self.context = context
        self.way = way
        self.kept_prompts = kept_prompts
        self.padded = PaddedScoring(model, padding, batch_size)
        self._agrees: dict[int, bool] = {}

    def suited_to(self, continuations: Sequence[Continuation]) -> Scoring:
        """Choose shared prefixes where they agree with padded batches on a sample as long as these continuations.

        Lengths are rounded up to a power of two, and each is tried once: what is chosen is a function of the call's
        own prompts, whatever was scored before.
        """
        if self.shared is None:
            return self.padded
        longest = max((len(continuation.read) for continuation in continuations), default=0)
        length = 1 << max(5, (longest - 1).bit_length())
        if length not in self._agrees:
            reason = self._disagrees(min(length, self.context or length))
            self._agrees[length] = not reason
            if reason:
                self._explain_padding(reason)
            else:
                logger.info("%s: choices of up to %d tokens are scored with shared prefixes", self.identity, length)
        return self.shared if self._agrees[length] else self.padded

    @cached_property
    def shared(self) -> SharedPrefixScoring | None:
        if self.way == "padded":
            return None
        try:
            return SharedPrefixScoring(self.model, kept_prompts=self.kept_prompts)
        except Unsupported as error:
            self._explain_padding(str(error))
            return None

    def _disagrees(self, length: int) -> str:
        """Why shared prefixes can't be trusted, on a sample of this many tokens; empty where they can."""
        sample = forked_sample(self.n_tokens, length)
        kept = self.kept_prompts and KeptPrompts(self.model, self.kept_prompts.most_bytes)  # the sample's own
        try:
            padded = score_all(self.padded, sample)
            several_trees = SharedPrefixScoring(self.model, nodes_a_tree=1, paths_a_tree=0)
            shared = SharedPrefixScoring(self.model, kept_prompts=kept)
            apart = max(disagreement(score_all(each, sample), padded) for each in (shared, several_trees))
        except (TypeError, ValueError, RuntimeError, LookupError, AttributeError) as error:
            # What a model's own code raises when its masks or caches are of another kind.
            return f"{type(error).__name__}: {error}"
        if apart > AGREEMENT[self.model.dtype]:
            return f"log-probabilities of {length} tokens differ by {apart:.2g} nats"
        return ""

    def _explain_padding(self, reason: str) -> None:
        logger.warning(
            "%s: choices are scored in %s, not with shared prefixes (%s)", self.identity, PaddedScoring.name, reason
        )


def forked_sample(n_tokens: int, length: int) -> list[Continuation]:
    """Three continuations, the longest of `length` tokens, that share prefixes at two depths; of n_tokens tokens."""
    tokens = np.random.default_rng(0).integers(0, n_tokens, (3, length + 1)).tolist()
    base, *tails = (tuple(each) for each in tokens)
    whole = base[: length // 2] + tails[0]
    prompts = (whole[: length - 2], whole[: length * 3 // 4] + tails[1][: length // 8], base[: length // 2])
    return [Continuation(prompt, tails[1][-3:]) for prompt in prompts]


def disagreement(one: Sequence[Sequence[float]], other: Sequence[Sequence[float]]) -> float:
    """The largest difference of any token's log-probability, in nats; NaN counts as infinite."""
    differences = [abs(a - b) for first, second in zip(one, other) for a, b in zip(first, second)]
    return math.inf if any(math.isnan(each) for each in differences) else max(differences)
