"""Which way of scoring choices a model takes: shared prefixes where they agree with padded batches, else those."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from functools import cached_property
from typing import Literal

import numpy as np
import torch
from transformers import PreTrainedModel

from evenhand.models.kept_prompts import KeptPrompts
from evenhand.models.padded_scoring import PaddedScoring
from evenhand.models.prefix_tree import Continuation
from evenhand.models.scoring import Scoring
from evenhand.models.shared_prefix_scoring import SharedPrefixScoring
from evenhand.models.tree_masks import Unsupported

logger = logging.getLogger(__name__)

AGREEMENT = {torch.float32: 1e-3, torch.float64: 1e-3, torch.bfloat16: 0.5, torch.float16: 0.1}
"""Nats by which two ways of scoring may differ on a sample, by dtype; a wrong mask differs by far more."""


class ChoiceScoring:
    """Of one model. identity: what the log calls it. n_tokens: of its tokenizer. kept_prompts: of earlier calls."""

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
        """Shared prefixes where they agree with padded batches on a sample as long as these continuations.

        Lengths are rounded up to a power of two, and each is tried once: what is chosen is a function of the call's
        own prompts, whatever was scored before.
        """
        if self.shared is None:
            return self.padded
        longest = max((len(continuation.read) for continuation in continuations), default=0)
        length = 1 << max(5, (longest - 1).bit_length())
        if length not in self._agrees:
            self._agrees[length] = self._try(min(length, self.context or length))
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

    def _try(self, length: int) -> bool:
        """Whether shared prefixes give what padded batches give, on a sample of this many tokens; a word in the log."""
        sample = forked_sample(self.n_tokens, length)
        kept = self.kept_prompts and KeptPrompts(self.model, self.kept_prompts.most_bytes)  # the sample's own
        try:
            padded = self.padded.log_probs(sample)
            several_trees = SharedPrefixScoring(self.model, nodes_a_tree=1, paths_a_tree=0)
            shared = SharedPrefixScoring(self.model, kept_prompts=kept)
            apart = max(disagreement(each.log_probs(sample), padded) for each in (shared, several_trees))
        except (TypeError, ValueError, RuntimeError, LookupError, AttributeError) as error:
            # What a model's own code raises when its masks or caches are of another kind.
            self._explain_padding(f"{type(error).__name__}: {error}")
            return False
        if apart > AGREEMENT[self.model.dtype]:
            self._explain_padding(f"log-probabilities of {length} tokens differ by {apart:.2g} nats")
            return False
        logger.info("%s: choices of up to %d tokens are scored with %s", self.identity, length, shared.name)
        return True

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
