"""Means and paired differences, of which rows of one cluster (template, scenario, person …) count as one draw."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from evenhand.statistics.crossed import errors, influences
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
    """Mean of values (n,), NaN left out; percentile bootstrap over clusters. Below three the interval is NaN."""
    sums = _cluster_sums(values, clusters)
    n = int(sums[:, 1].sum())
    low, high = _interval(sums)
    return Mean(float(sums[:, 0].sum() / n) if n else math.nan, low, high, n, len(sums))


def paired_difference(
    first: pd.Series, second: pd.Series, clusters: pd.Series, strata: pd.Series | None = None,
    crossed: pd.Series | None = None,
) -> Difference:  # fmt: skip
    """Difference of the means of paired values (n,); NaN pairs are left out.

    Percentile bootstrap over clusters: the rows of one are drawn together. The p-value comes from exchanging first and
    second for whole clusters. Where rows cluster twice, by what is crossed, too, and clusters are drawn within strata,
    both come from Student's t (`evenhand.statistics.crossed`). With fewer than three clusters, NaN.
    """
    both = (first.notna() & second.notna()).to_numpy()
    first, second, clusters = first[both].astype(float), second[both].astype(float), clusters[both]
    if crossed is not None:
        strata = clusters.map(lambda _: 0) if strata is None else strata[both]
        return _crossed_difference(first, second, clusters, strata, crossed[both])
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


def _crossed_difference(
    first: pd.Series, second: pd.Series, clusters: pd.Series, strata: pd.Series, crossed: pd.Series
) -> Difference:
    """Of rows without NaN."""
    ways = (clusters, strata, crossed)
    cells = pd.DataFrame({"first": first, "second": second, "n": 1}).groupby([each.to_numpy() for each in ways]).sum()
    n = len(first)
    cluster, stratum, other = (np.asarray(cells.index.get_level_values(level).factorize()[0]) for level in range(3))
    part, whole = ((cells[[*names]].to_numpy(dtype=float)) for names in (["second"], ["n"]))
    part = part - cells[["first"]].to_numpy(dtype=float)
    found = errors(influences(part, whole, stratum), whole, cluster, other, stratum)
    estimate = ratio(part.sum(axis=0), whole.sum(axis=0))
    [(low, high)], [p_value] = found.interval(estimate), found.p_values(estimate)
    return Difference(
        first=float(first.mean()) if n else math.nan,
        second=float(second.mean()) if n else math.nan,
        estimate=float(estimate[0]),
        low=float(low),
        high=float(high),
        p_value=float(p_value),
        n=n,
        n_clusters=int(clusters.nunique()),
    )


def _cluster_sums(values: pd.Series, clusters: pd.Series) -> FloatArray:
    """Sum and count of the values of each cluster that has any: (clusters, 2)."""
    known = values.notna().to_numpy()
    grouped = values[known].astype(float).groupby(clusters.to_numpy()[known], dropna=False)
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
        return np.round(other.sum(axis=axis) - one.sum(axis=axis), 9)  # sums that are equal but for their last bits

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
