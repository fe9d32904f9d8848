"""Spearman's rank correlation of few pairs, with what can be said of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from evenhand.statistics.resampling import SEED, FloatArray

FEWEST_PAIRS = 4  # below it the error of the correlation is not known: its formula divides by n - 3
EXACT_PAIRS = 8  # 40,320 orders; of more pairs some are drawn
ORDERS_DRAWN = 9_999


@dataclass(frozen=True)
class RankCorrelation:
    """estimate in [-1, 1], with a 95 % interval. p_value: of the permutation test, two-sided. NaN: not known."""

    estimate: float
    low: float
    high: float
    p_value: float
    n: int

    @property
    def smallest_p(self) -> float:
        """That so few pairs could give: one order and its reverse, of all."""
        return min(1.0, 2 / math.factorial(self.n))


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> RankCorrelation:
    """Of paired values (n,) without NaN. All is NaN of fewer than four pairs, and where all values of a side are equal.

    The interval is Fisher's, with the standard error sqrt((1 + r^2 / 2) / (n - 3)) (Bonett and Wright 2000, "Sample
    size requirements for estimating Pearson, Kendall and Spearman correlations", Psychometrika 65, 23-28); none where r
    is 1 or -1. Of normal values it covers 95 to 97 % from eight pairs on, and more of fewer. Few values resampled would
    repeat each other, and correlate by it. p: the share of all orders of the second values, of up to eight pairs, that
    correlate at least as much.
    """
    from scipy import stats

    n = len(first)
    if n < FEWEST_PAIRS or len(set(first)) == 1 or len(set(second)) == 1:
        return RankCorrelation(math.nan, math.nan, math.nan, math.nan, n)
    ranks, others = (_standard(stats.rankdata(each)) for each in (first, second))
    estimate = float(np.clip(ranks @ others, -1.0, 1.0))
    low = high = math.nan
    if not math.isclose(abs(estimate), 1.0):
        half = special.ndtri(0.975) * math.sqrt((1 + estimate**2 / 2) / (n - 3))
        low, high = (math.tanh(math.atanh(estimate) + end) for end in (-half, half))
    return RankCorrelation(estimate, low, high, _p_value(ranks, others), n)


def _standard(ranks: FloatArray) -> FloatArray:
    """With mean 0 and length 1, so that products are correlations."""
    centered = ranks - ranks.mean()
    return np.asarray(centered / np.linalg.norm(centered))


def _p_value(ranks: FloatArray, others: FloatArray) -> float:
    from scipy import stats

    n = len(ranks)
    test = stats.permutation_test(
        (ranks,),
        lambda drawn, axis: np.abs((drawn * others).sum(axis=axis)),
        permutation_type="pairings",
        vectorized=True,
        n_resamples=math.factorial(n) if n <= EXACT_PAIRS else ORDERS_DRAWN,
        batch=1_000,
        alternative="greater",
        rng=np.random.default_rng(SEED),
    )
    return float(test.pvalue)
