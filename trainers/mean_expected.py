"""What a training does to the expected value of answers to questions that are held out from it, and to other text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul
from statistics import fmean

from transformers import PreTrainedModel

from evenhand.models.loading import Checkpoint
from evenhand.models.protocol import replies
from evenhand.models.request import Reply
from evenhand.trainers.held_out import as_it_is
from evenhand.trainers.mean_value import PERPLEXITY, UNREAD
from evenhand.trainers.neutral_text import neutral_perplexity
from evenhand.trainers.questions import Asked

EXPECTED, LIKELIEST = "expected value, to be made small", "value of the likeliest answer"


@dataclass(frozen=True)
class MeanExpected:
    """Measures a model in training on these questions. aggregate: of an option's log-probabilities, mean or sum."""

    questions: Sequence[Asked]
    aggregate: str
    checkpoint: Checkpoint

    def __call__(self, model: PreTrainedModel) -> dict[str, float]:
        asked = as_it_is(model, self.checkpoint)
        answered = replies(asked, [each.request for each in self.questions])
        found = [(each.values, probabilities(reply, self.aggregate)) for each, reply in zip(self.questions, answered)]
        known = [(values, shares) for values, shares in found if shares is not None]
        figures = {UNREAD: 100 * (1 - len(known) / len(found))} if found else {}
        if known:
            figures = {
                EXPECTED: fmean(math.fsum(map(mul, values, shares)) for values, shares in known),
                LIKELIEST: fmean(values[shares.index(max(shares))] for values, shares in known),
                **figures,
            }
        return {**figures, PERPLEXITY: neutral_perplexity(asked)}


def probabilities(reply: Reply, aggregate: str) -> list[float] | None:
    """Of each option; None where one's is not known, or none is possible."""
    scores = [sum(tokens) / (len(tokens) if aggregate == "mean" else 1) for tokens in reply.choice_log_probs]
    if reply.failed or any(map(math.isnan, scores)) or (highest := max(scores)) == -math.inf:
        return None
    weights = [math.exp(each - highest) for each in scores]
    return [weight / math.fsum(weights) for weight in weights]
