"""The method of expected-score, and when it has learned enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.trainers.losses import Balanced, ExpectedValueLoss
from evenhand.trainers.mean_expected import EXPECTED
from evenhand.trainers.mean_value import PERPLEXITY, VALUE
from evenhand.trainers.method import Beginning, Made
from evenhand.trainers.over_steps import AtStep
from evenhand.trainers.social_contact_measures import PROBABILITY
from evenhand.trainers.supervised import by_loss

MADE_SMALL = (EXPECTED, VALUE, PROBABILITY)  # of a recipe's figures: the first that is there is what is made small
LEAST = 0.001  # of its first value: a change that counts


@dataclass(frozen=True)
class ExpectedValue:
    """A Method."""

    aggregate: str

    def __call__(self, beginning: Beginning, examples: Sequence[Balanced]) -> Made:
        return by_loss(ExpectedValueLoss(self.aggregate), beginning, examples)


@dataclass(frozen=True)
class EnoughLearned:
    """A Stop. patience: measurements in a row that bring no smaller value on what is held out, 0: however many; margin:
    percent by which perplexity may grow (it ends where that is no number, too), None: any.
    """

    patience: int
    margin: float | None

    def __call__(self, measured: Sequence[AtStep]) -> bool:
        perplexities = [each.figures[PERPLEXITY] for each in measured]
        if self.margin is not None and not perplexities[-1] <= (1 + self.margin / 100) * perplexities[0]:
            return True
        values = [
            next(each.figures[name] for name in MADE_SMALL if name in each.figures)
            for each in measured
            if any(name in each.figures for name in MADE_SMALL)
        ]
        if not 0 < self.patience < len(values):
            return False
        return min(values[-self.patience :]) > min(values[: -self.patience]) - LEAST * values[0]
