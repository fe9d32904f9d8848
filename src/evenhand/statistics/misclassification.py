"""Shares of a class as a classifier sees them, corrected for its errors on entries that people labelled.

Rogan and Gladen 1978; Lee, Zeng, Jeong, Sohn and Lee 2025, "How to Correctly Report LLM-as-a-Judge Evaluations" (arXiv
2511.21140). The interval carries what is not known of the share and of the classifier's errors, as theirs, but is one
of profile likelihood: theirs, cut at 0 and 1, shrinks to a point there where the labels hardly fit the share.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import pandas as pd
from scipy import special

from evenhand.statistics.clustered import clustered_error

FEWEST_LABELS = 10  # of either kind
LEAST_ERROR = 1e-6  # of a share
HALF = 0.975


@dataclass(frozen=True)
class Seen:
    """A share as a classifier sees it: its standard errors downwards and upwards, and Student's degrees of freedom."""

    mean: float
    below: float
    over: float
    freedom: float

    @classmethod
    def between(cls, mean: float, low: float, high: float, freedom: float) -> Seen:
        """Of a share with this 95 % interval."""
        quantile = float(special.stdtrit(freedom, HALF))
        return cls(mean, (mean - low) / quantile, (high - mean) / quantile, freedom)


@dataclass(frozen=True)
class Judged:
    """How a classifier did on labelled entries: of those of the class, and of the others, how many it got right.

    worth_positive, worth_negative: of an entry of either kind, beside one drawn alone (`label_worth`).
    """

    n_positive: int
    right_positive: int
    n_negative: int
    right_negative: int
    worth_positive: float = 1.0
    worth_negative: float = 1.0

    @property
    def sensitivity(self) -> float:
        """NaN without an entry of the class."""
        return self.right_positive / self.n_positive if self.n_positive else math.nan

    @property
    def specificity(self) -> float:
        """NaN without an entry of the others."""
        return self.right_negative / self.n_negative if self.n_negative else math.nan

    @property
    def why_not(self) -> str | None:
        """Why nothing can be corrected by these labels; None where it can."""
        for n, worth, kind in (
            (self.n_positive, self.worth_positive, "of the class"),
            (self.n_negative, self.worth_negative, "of others"),
        ):
            if n * worth < FEWEST_LABELS:
                worth_text = f", worth {n * worth:.1f} drawn singly" if n >= FEWEST_LABELS else ""
                return f"{n} labels {kind}{worth_text}, {FEWEST_LABELS} are needed"
        (one, error), (other, of_other) = self._smoothed
        if one + other - 1 <= special.ndtri(HALF) * math.hypot(error, of_other):
            return "the classifier is no better than chance on these labels"
        return None

    def corrected(self, share: float) -> float:
        """Return the true share (0 to 1) where the classifier sees this one; NaN where `why_not` says why."""
        if self.why_not:
            return math.nan
        better = self.sensitivity + self.specificity - 1
        return min(1.0, max(0.0, (share + self.specificity - 1) / better))

    def contradicts(self, seen: Seen) -> bool:
        """Whether no true share, 0 and 1 included, fits the share that is seen, its error and the labels (5 % level).

        Then the classifier errs otherwise on what it saw than on what people labelled. A classifier that is right on
        all labels, and sees none or nothing else, is no contradiction.
        """
        if self.why_not or math.isnan(seen.mean + seen.below + seen.freedom):
            return False
        best = self.corrected(seen.mean)
        return bool(self._misfit(best, seen) > self._quantile(best, seen) ** 2)

    def interval(self, seen: Seen) -> tuple[float, float]:
        """Return the 95 % interval of the true share, of the share that the classifier sees.

        The true shares that fit little worse than the best one in [0, 1] does, each with the sensitivity and the
        specificity that suit it best (profile likelihood); by Student's t, for the clusters behind the share may be
        few. Of 500 data sets each with true shares from 0 to 1 it held 95 to 98 %. NaN where the labels contradict it.
        """
        from scipy import optimize

        if self.why_not or math.isnan(seen.mean + seen.below + seen.freedom) or self.contradicts(seen):
            return math.nan, math.nan
        best = self.corrected(seen.mean)
        most = self._misfit(best, seen) + self._quantile(best, seen) ** 2

        def beyond(true: float) -> float:
            return self._misfit(true, seen) - most

        low = 0.0 if beyond(0.0) <= 0 else optimize.brentq(beyond, 0.0, best, xtol=1e-6)
        high = 1.0 if beyond(1.0) <= 0 else optimize.brentq(beyond, best, 1.0, xtol=1e-6)
        return float(low), float(high)

    def _misfit(self, true: float, share: Seen) -> float:
        """Return twice the log-likelihood that this true share lacks, at the rates that suit it best.

        Lagrange's condition gives both rates from how far the share seen lies above the one expected; that is found.
        """
        from scipy import optimize

        (right, n_positive), (correct, n_negative) = self._counts
        wrong = n_negative - correct

        def variance(above: float) -> float:
            return max(share.below if above > 0 else share.over, LEAST_ERROR) ** 2

        def rates(above: float) -> tuple[float, float]:
            pull = above / variance(above)
            return (
                _best_rate(right, n_positive, true * pull),
                _best_rate(wrong, n_negative, (1 - true) * pull),
            )

        def excess(above: float) -> float:
            seen, falsely = rates(above)
            return share.mean - true * seen - (1 - true) * falsely - above

        above = optimize.brentq(excess, -1.0, 1.0, xtol=1e-15, rtol=1e-14)
        seen, falsely = rates(above)
        found = above**2 / variance(above)
        found += _lacking(right, n_positive, seen) + _lacking(wrong, n_negative, falsely)
        return max(0.0, float(found))

    def _quantile(self, true: float, share: Seen) -> float:
        """Of Student's t: degrees of freedom by Satterthwaite, over the share's clusters and the labels."""
        (_, n_positive), (_, n_negative) = self._counts
        parts = (
            (max(share.below, share.over, LEAST_ERROR) ** 2, share.freedom),
            (true**2 * self.sensitivity * (1 - self.sensitivity) / n_positive, n_positive),
            ((1 - true) ** 2 * self.specificity * (1 - self.specificity) / n_negative, n_negative),
        )
        freedom = sum(part for part, _ in parts) ** 2 / sum(part**2 / n for part, n in parts)
        return float(special.stdtrit(freedom, HALF))

    @property
    def _counts(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Of either kind, in entries drawn singly: how many were right, of how many."""
        one, other = self.worth_positive, self.worth_negative
        return (self.right_positive * one, self.n_positive * one), (
            self.right_negative * other,
            self.n_negative * other,
        )

    @property
    def _smoothed(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Both rates and their standard errors, of one right and one wrong entry more."""
        rates = [((right + 1) / (n + 2), n + 2) for right, n in self._counts]
        one, other = ((rate, math.sqrt(rate * (1 - rate) / n)) for rate, n in rates)
        return one, other


def label_worth(right: pd.Series, names: pd.Series) -> float:
    """What a labelled entry is worth, 1 at most, where a name's entries are right or wrong (right, 1 or 0: (n,))
    together.

    The variance of as many entries drawn singly over that between names (`clustered_error`), widened for few of
    them as Student's t is. Below three names each is worth one entry. Where all are right, it isn't known: 1.
    """
    n = len(right)
    if right.nunique() < 2:
        return 1.0
    found = clustered_error(right.astype(float), names)
    if math.isnan(found.error):
        return float(names.nunique(dropna=False)) / n
    widened = (found.error * float(special.stdtrit(found.freedom, HALF) / special.ndtri(HALF))) ** 2
    alone = found.mean * (1 - found.mean) / n
    return float(min(1.0, alone / widened)) if widened else 1.0


def _best_rate(k: float, n: float, pull: float) -> float:
    """Return the rate x in [0, 1] at which k / x - (n - k) / (1 - x) = -pull: that of k among n, pulled up or down."""
    middle = n - pull
    root = math.sqrt(max(0.0, middle**2 + 4 * pull * k))
    if middle > 0:
        return min(1.0, 2 * k / (middle + root))
    return min(1.0, (root - middle) / (2 * pull))


def _lacking(k: float, n: float, rate: float) -> float:
    """Return twice the log-likelihood that a rate lacks against the one of k among n."""
    parts = ((k, rate), (n - k, 1 - rate))
    if any(part and chance <= 0 for part, chance in parts):
        return math.inf
    return 2 * sum(part * math.log(part / n / chance) for part, chance in parts if part)
