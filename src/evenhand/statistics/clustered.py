"""Means and paired differences, of which rows of one cluster (template, scenario, person …) count as one draw."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from evenhand.statistics.resampling import FEW_CLUSTERS, N_RESAMPLES, SEED, FloatArray, IntArray, ratio, resampled

__all__ = ["FEW_CLUSTERS", "Difference", "Mean", "clustered_mean", "paired_difference"]

PERMUTATIONS = 9999


@dataclass(frozen=True)
class Mean:
    """A mean with its 95 % interval over clusters."""

    estimate: float
    low: float
    high: float
    n: int
    n_clusters: int


@dataclass(frozen=True)
class Difference:
    """Second minus first, over the rows that both have, with a 95 % interval over clusters.

    p_value: of the paired permutation test over clusters, two-sided.
    """

    first: float
    second: float
    estimate: float
    low: float
    high: float
    p_value: float
    n: int
    n_clusters: int

    @property
    def tied(self) -> bool:
        """The interval holds 0, or there is none."""
        return not (self.low > 0 or self.high < 0)


def clustered_mean(values: pd.Series, clusters: pd.Series) -> Mean:
    """Mean of values (n,), NaN left out; percentile bootstrap over clusters. Fewer than two clusters: NaN interval."""
    sums = _cluster_sums(values, clusters)
    n = int(sums[:, 1].sum())
    low, high = _interval(sums)
    return Mean(float(sums[:, 0].sum() / n) if n else math.nan, low, high, n, len(sums))


def paired_difference(first: pd.Series, second: pd.Series, clusters: pd.Series) -> Difference:
    """Difference of the means of paired values (n,); NaN pairs are left out.

    Percentile bootstrap over clusters: the rows of one are drawn together. The p-value comes from exchanging first and
    second for whole clusters. With fewer than two clusters, NaN.
    """
    both = first.notna() & second.notna()
    first, second, clusters = first[both].astype(float), second[both].astype(float), clusters[both]
    difference = clustered_mean(second - first, clusters)
    ones, others = (_cluster_sums(each, clusters)[:, 0] for each in (first, second))
    return Difference(
        first=float(first.mean()) if len(first) else math.nan,
        second=float(second.mean()) if len(second) else math.nan,
        estimate=difference.estimate,
        low=difference.low,
        high=difference.high,
        p_value=_exchange_p_value(ones, others) if difference.n_clusters > 1 else math.nan,
        n=difference.n,
        n_clusters=difference.n_clusters,
    )


def _cluster_sums(values: pd.Series, clusters: pd.Series) -> FloatArray:
    """Sum and count of the values of each cluster that has any: (clusters, 2)."""
    known = values.notna().to_numpy()
    grouped = values[known].astype(float).groupby(clusters.to_numpy()[known])
    return np.asarray(grouped.agg(["sum", "count"]).to_numpy(dtype=float))


def _interval(sums: FloatArray) -> tuple[float, float]:
    def mean(drawn: IntArray) -> FloatArray:
        total = sums[drawn].sum(axis=1)
        return ratio(total[:, 0], total[:, 1])

    _, (low, high) = resampled(mean, [np.arange(len(sums))], N_RESAMPLES, values=sums.size)
    return float(low), float(high)


def _exchange_p_value(ones: FloatArray, others: FloatArray) -> float:
    """Two-sided, over cluster sums (clusters,): which run a cluster's answers came from is exchanged at random."""
    if np.array_equal(ones, others):
        return 1.0

    def difference(one: FloatArray, other: FloatArray, axis: int) -> FloatArray:
        return np.asarray(other.sum(axis=axis) - one.sum(axis=axis))

    test = stats.permutation_test(
        (ones, others),
        difference,
        permutation_type="samples",
        vectorized=True,
        n_resamples=PERMUTATIONS,
        batch=1000,
        rng=np.random.default_rng(SEED),
    )
    return float(test.pvalue)
