"""Shares of a class as a classifier sees them, corrected for its errors on sentences that people labelled.

Rogan and Gladen 1978, with the interval of Lee, Zeng, Jeong, Sohn and Lee 2025, "How to Correctly Report LLM-as-a-Judge
Evaluations" (arXiv 2511.21140): it carries what is not known of the share, and of the classifier's errors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy import stats

from evenhand.statistics.clustered import Error

FEWEST_LABELS = 10  # of either kind


@dataclass(frozen=True)
class Judged:
    """How a classifier did on labelled entries: of those of the class, and of the others, how many it got right."""

    n_positive: int
    right_positive: int
    n_negative: int
    right_negative: int

    @property
    def sensitivity(self) -> float:
        """NaN without an entry of the class."""
        return self.right_positive / self.n_positive if self.n_positive else math.nan

    @property
    def specificity(self) -> float:
        """Likewise of others."""
        return self.right_negative / self.n_negative if self.n_negative else math.nan

    @property
    def why_not(self) -> str | None:
        """Why nothing can be corrected by these labels; None where it can."""
        for n, kind in ((self.n_positive, "of the class"), (self.n_negative, "of others")):
            if n < FEWEST_LABELS:
                return f"{n} labels {kind}, {FEWEST_LABELS} are needed"
        (one, error), (other, of_other) = self._smoothed
        if one + other - 1 <= stats.norm.ppf(0.975) * math.hypot(error, of_other):
            return "the classifier is no better than chance on these labels"
        return None

    def corrected(self, share: float) -> float:
        """The true share (0 to 1) where the classifier sees this one; NaN where `why_not` says why."""
        if self.why_not:
            return math.nan
        return _inside((share + self.specificity - 1) / (self.sensitivity + self.specificity - 1))

    def interval(self, share: Error) -> tuple[float, float]:
        """95 % interval of the true share. share: as the classifier sees it, with its error over clusters.

        After the paper's: adjusted Wald with a shift towards the side on which errors are surer, but Student's t, for
        the clusters behind the share may be few, and the share that is seen as it is. Ends are cut at 0 and 1: both
        at one of them where the labels contradict the share that is seen.
        """
        if self.why_not or math.isnan(share.error):
            return math.nan, math.nan
        (positive, error), (negative, of_negative) = self._smoothed
        better = positive + negative - 1
        middle = (share.mean + negative - 1) / better
        of_share, of_errors = share.error**2, (((1 - middle) * of_negative) ** 2, (middle * error) ** 2)
        variance = of_share + sum(of_errors)
        if variance == 0:
            return _inside(middle), _inside(middle)
        labels = (self.n_negative, self.n_positive)
        parts = of_share**2 / share.freedom + sum(each**2 / n for each, n in zip(of_errors, labels))
        width = stats.t.ppf(0.975, variance**2 / parts) * math.sqrt(variance) / better
        shift = 2 * stats.norm.ppf(0.975) ** 2 * (middle * error**2 - (1 - middle) * of_negative**2)
        return _inside(middle + shift - width), _inside(middle + shift + width)

    @property
    def _smoothed(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Both rates and their standard errors, of one right and one wrong entry more."""
        counts = ((self.right_positive, self.n_positive), (self.right_negative, self.n_negative))
        rates = [((right + 1) / (n + 2), n + 2) for right, n in counts]
        one, other = ((rate, math.sqrt(rate * (1 - rate) / n)) for rate, n in rates)
        return one, other


def _inside(share: float) -> float:
    return min(1.0, max(0.0, share))
