"""Uncertainty that a reviewer would accept: rows of one cluster (template, scenario, person …) count as one draw."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

RESAMPLES = 1000
PERMUTATIONS = 9999
SEED = 0
FEW_CLUSTERS = 30

FloatArray = npt.NDArray[np.float64]


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


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values that control the family-wise error rate (Holm 1979). NaN stays NaN and counts as no test."""
    tested = sorted((p, i) for i, p in enumerate(p_values) if not math.isnan(p))
    adjusted = [math.nan] * len(p_values)
    largest = 0.0
    for rank, (p, i) in enumerate(tested):
        largest = max(largest, min(1.0, (len(tested) - rank) * p))
        adjusted[i] = largest
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values that control the false discovery rate. NaN stays NaN and counts as no test."""
    tested = [p for p in p_values if not math.isnan(p)]
    adjusted = iter(stats.false_discovery_control(tested) if tested else [])
    return [math.nan if math.isnan(p) else float(next(adjusted)) for p in p_values]


def smallest_difference(n: int, n_clusters: int, intraclass_correlation: float, share: float = 0.5) -> float:
    """The smallest difference of two independent shares, in points, that is found with 80 % power at the 5 % level.

    n answers in n_clusters equal clusters, whose answers correlate by `intraclass_correlation` (0: not at all, 1: a
    cluster answers as one); design effect 1 + (n / n_clusters - 1) times it (Kish 1965).
    """
    design_effect = 1 + (n / n_clusters - 1) * intraclass_correlation
    standard_error = math.sqrt(2 * share * (1 - share) * design_effect / n)
    return float(100 * (stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) * standard_error)


def _cluster_sums(values: pd.Series, clusters: pd.Series) -> FloatArray:
    """Sum and count of the values of each cluster that has any: (clusters, 2)."""
    known = values.notna().to_numpy()
    grouped = values[known].astype(float).groupby(clusters.to_numpy()[known])
    return np.asarray(grouped.agg(["sum", "count"]).to_numpy(dtype=float))


def _interval(sums: FloatArray) -> tuple[float, float]:
    if len(sums) < 2:
        return math.nan, math.nan

    def mean(drawn: npt.NDArray[np.int64], axis: int) -> FloatArray:
        total = sums[drawn].sum(axis=-2)
        return np.asarray(total[..., 0] / total[..., 1])

    interval = stats.bootstrap(
        (np.arange(len(sums)),),
        mean,
        n_resamples=RESAMPLES,
        vectorized=True,
        method="percentile",
        rng=np.random.default_rng(SEED),
    ).confidence_interval
    return float(interval.low), float(interval.high)


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
