"""Means and paired differences, of which rows of one cluster (template, scenario, person …) count as one draw."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import special

from evenhand.statistics.crossed import Errors, balanced, errors, influences
from evenhand.statistics.rare import rare_upper_end, widen_for_rare
from evenhand.statistics.resampling import (
    FEW_CLUSTERS,
    FEWEST_CLUSTERS,
    LEVEL,
    LEVELS,
    SEED,
    FloatArray,
    IntArray,
    freedom_of,
    no_spread,
    ratio,
    students_intervals,
    too_few_alike,
)

__all__ = [
    "FEW_CLUSTERS",
    "Difference",
    "Error",
    "Mean",
    "clustered_error",
    "clustered_mean",
    "lasting_share",
    "mean_error",
    "paired_difference",
]

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
class Error:
    """A mean, its standard error over clusters, and the degrees of freedom of Student's t; NaN below three clusters."""

    mean: float
    error: float
    freedom: float

    @property
    def interval(self) -> tuple[float, float]:
        """95 %."""
        low, high = self.mean + special.stdtrit(self.freedom, LEVELS) * self.error
        return float(low), float(high)


@dataclass(frozen=True)
class Difference:
    """Second minus first, over the rows that both have, with a 95 % interval over clusters.

    low, high: NaN where clusters are too few to tell. p_value: that nothing differs, two-sided, over clusters.
    smallest_p: that so few clusters could give. correction: what estimate, interval and p-value are corrected for
    ("less noise"), where they are not of the plain difference.
    """

    first: float
    second: float
    estimate: float
    low: float
    high: float
    p_value: float
    n: int
    n_clusters: int
    smallest_p: float = 0.0
    correction: str = ""

    @property
    def plain(self) -> float:
        """The second figure minus the first, as both are reported."""
        return self.second - self.first

    @property
    def known(self) -> bool:
        """Whether there is an interval."""
        return not math.isnan(self.low + self.high)

    @property
    def tied(self) -> bool:
        """The interval holds 0."""
        return self.low <= 0 <= self.high

    @property
    def differs(self) -> bool:
        """Neither the interval nor the test takes it for 0: of few clusters the one may, where the other doesn't."""
        return self.known and not self.tied and self.p_value < LEVEL


def clustered_mean(
    values: pd.Series, clusters: pd.Series, within: tuple[float, float] | None = None, weights: pd.Series | None = None
) -> Mean:
    """Return the mean of values (n,), NaN left out, with a 95 % interval over clusters. Below three of them it is NaN.

    weights (n,): of rows; None: equal weights.

    within: the least and the most that a value can be; None: not known. The interval is Student's, in log-odds where
    they are known (`students_intervals`), and ends no nearer than what few clusters have may reach (`widen_for_rare`).
    Clusters that all say the same have the interval that `students_intervals` gives, and none, NaN, where it isn't
    known how far others could be.

    Of 6, 12, 30, 60 and 200 clusters it covers 98, 98, 97, 94, 95 % of shares of 3 % (five answers a cluster,
    correlation 0.2); 97, 96, 97, 97, 97 of a half with one cluster ten times as large; 99, 96, 92, 92, 95 of 8 % with a
    sixth of the clusters so large (300 data sets each).
    """
    sums = _cluster_sums(values, clusters, weights)
    found, (totals, counts) = _error(sums, np.zeros(len(sums), dtype=np.int64)), sums.T
    n, n_clusters = int(values.notna().sum()), len(sums)
    if within is not None:
        least, most = within
        low, high = students_intervals(found.mean, found.error, found.freedom, max(1, n_clusters), least, most)
        if n_clusters >= FEWEST_CLUSTERS:
            shares, span = ((totals / counts - least) / (most - least)).clip(0, 1), most - least
            ends = widen_for_rare((low - least) / span, (high - least) / span, shares, counts)
            low, high = (least + span * end for end in ends)
    else:
        low, high = (math.nan, math.nan) if no_spread(found.error, found.mean) else found.interval
    return Mean(found.mean, float(low), float(high), n, n_clusters)


def paired_difference(
    first: pd.Series, second: pd.Series, clusters: pd.Series, strata: pd.Series | None = None,
    crossed: pd.Series | None = None, within: tuple[float, float] | None = None,
) -> Difference:  # fmt: skip
    """Return the difference of the means of paired values (n,); NaN pairs are left out.

    Student's t over clusters, which would be drawn anew within strata (`clustered_error`). The p-value comes from
    exchanging first and second for whole clusters. Where rows cluster twice, by what is crossed, too, it comes from
    Student's t, as well (`evenhand.statistics.crossed`). With fewer than three clusters there is no interval, NaN.

    within: the least and the most that a value can be; None: not known. Where they are known the interval is symmetric
    in log-odds of what the difference can be, and has a width where all clusters say the same (`students_intervals`).
    Where not, clusters that all say the same have none below six of them, and are a point from there on.

    docs/coverage.md has how often it holds the truth.
    """
    both = (first.notna() & second.notna()).to_numpy()
    first, second, clusters = first[both].astype(float), second[both].astype(float), clusters[both]
    strata = None if strata is None else strata[both]
    if crossed is not None:
        return _crossed_difference(first, second, clusters, strata, crossed[both], within)
    found = clustered_error(second - first, clusters, strata)
    ones, others = (_cluster_sums(each, clusters)[:, 0] for each in (first, second))
    low, high = _ends(found.mean, found.error, found.freedom, len(ones), smallest_p(len(ones)), within)
    if within is not None and len(ones) >= FEWEST_CLUSTERS:
        low, high = _widen_for_rare_changes(second - first, clusters, within[1] - within[0], low, high)
    return Difference(
        first=float(first.mean()) if len(first) else math.nan,
        second=float(second.mean()) if len(second) else math.nan,
        estimate=found.mean,
        low=low,
        high=high,
        p_value=_exchange_p_value(ones, others) if len(ones) > 1 else math.nan,
        n=len(first),
        n_clusters=len(ones),
        smallest_p=smallest_p(len(ones)),
    )


def smallest_p(n_clusters: int) -> float:
    """The smallest p-value of exchanging two sides for whole clusters: none and all of 2ⁿ ways are as different."""
    return min(1.0, 2.0 ** (1 - n_clusters))


def clustered_error(values: pd.Series, clusters: pd.Series, strata: pd.Series | None = None) -> Error:
    """Of the mean of values (n,), NaN left out. strata: of clusters, among which alone they would be drawn anew.

    A percentile bootstrap over five clusters holds 82 % of means; this holds 95. A cluster with many rows pulls the
    mean towards itself, so that its departure comes out too small: its square is divided by the share that the mean
    leaves of it where rows are equal ("CR2", Bell and McCaffrey 2002), and the degrees of freedom are those of
    Satterthwaite for so uneven clusters (Imbens and Kolesár 2016). Clusters with equally many rows: n / (n - 1), and
    n - 1 degrees a stratum, as Welch has them. Where a stratum has one or two clusters, all are taken as of one, which
    is wider.
    """
    sums = _cluster_sums(values, clusters)
    stratum = np.zeros(len(sums), dtype=np.int64)
    if strata is not None:
        known = values.notna().to_numpy()
        first = np.unique(_codes(clusters[known], sort=True), return_index=True)[1]  # its row decides
        stratum = np.unique(_codes(strata[known])[first], return_inverse=True)[1]
    return _error(sums, stratum)


def _error(sums: FloatArray, stratum: IntArray) -> Error:
    """sums: (clusters, 2), `_cluster_sums`'; stratum: (clusters,) codes."""
    if not len(sums):
        return Error(math.nan, math.nan, 1.0)
    whole = float(sums[:, 1].sum())
    if np.bincount(stratum).min() < FEWEST_CLUSTERS:
        stratum = np.zeros_like(stratum)
    sizes = np.bincount(stratum)
    mean = float(sums[:, 0].sum() / whole)
    if sizes[0] < FEWEST_CLUSTERS:
        return Error(mean, math.nan, 1.0)
    totals, counts = sums.T
    of_strata = np.bincount(stratum, counts)
    means = np.bincount(stratum, totals) / of_strata
    shares = counts / of_strata[stratum]
    variances = np.bincount(stratum, ((totals - means[stratum] * counts) / whole) ** 2 / (1 - shares))
    freedoms = np.array([freedom_of(shares[stratum == each]) for each in range(len(sizes))])
    variance = float(variances.sum())
    freedom = variance**2 / float((variances**2 / freedoms).sum()) if variance > 0 else 1.0
    return Error(mean, math.sqrt(variance), freedom)


def mean_error(
    values: pd.Series, clusters: pd.Series, strata: pd.Series | None = None, crossed: pd.Series | None = None
) -> Error:
    """Of the mean of values (n,), NaN left out, as `paired_difference` has it of what changed."""
    if crossed is None:
        return clustered_error(values, clusters, strata)
    known = values.notna().to_numpy()
    if not known.any():
        return Error(math.nan, math.nan, 1.0)
    mean, found = crossed_error(
        values[known], clusters[known], None if strata is None else strata[known], crossed[known]
    )
    return Error(float(mean[0]), float(found.errors[0]), float(found.freedom[0]))


def lasting_share(error: Error, values: pd.Series, clusters: pd.Series, strata: pd.Series | None = None) -> float:
    """Share of a squared error of values (n,), NaN left out, that more rows of the same clusters would not lessen.

    Rows by themselves, in their strata, have the variance within clusters and that between them, each over n rows;
    clusters have that between them over as many as they are. Where each cluster has one row, nothing can tell them
    apart: 1, so that nothing is promised. Also of no error, 1.
    """
    known = values.notna().to_numpy()
    n, n_clusters = int(known.sum()), int(clusters[known].nunique(dropna=False))
    if n <= n_clusters or not error.error > 0:
        return 1.0
    own = values[known].astype(float)
    means = own.mean() if strata is None else own.groupby(strata[known].to_numpy(), dropna=False).transform("mean")
    of_rows = float(((own - means) ** 2).sum()) / n / (n - 1)
    return min(1.0, max(0.0, (1 - of_rows / error.error**2) / (1 - n_clusters / n)))


def crossed_error(
    values: pd.Series, clusters: pd.Series, strata: pd.Series | None, crossed: pd.Series,
    weights: pd.Series | None = None,
) -> tuple[FloatArray, Errors]:  # fmt: skip
    """Return the mean (1,) of values (n,), NaN left out, of rows that cluster in two ways, and its errors.

    strata: (n,) of clusters, among which new ones are sampled, where they are as even as the design has them.
    """
    known = values.notna().to_numpy()
    weight = (
        known.astype(float) if weights is None else np.where(known, np.nan_to_num(weights.to_numpy(dtype=float)), 0.0)
    )
    parts = np.where(known, weight * values.to_numpy(dtype=float), 0.0)
    ways = [_codes(each) for each in (clusters, strata, crossed) if each is not None]
    sizes = [int(each.max(initial=0)) + 1 for each in ways]
    cells, cell_of_row = np.unique(np.ravel_multi_index(ways, sizes), return_inverse=True)
    each_cell = [np.bincount(cell_of_row, each) for each in (parts, weight, np.ones(len(weight)))]
    part, whole, asked = (sums[:, None].astype(float) for sums in each_cell)
    cluster, *between, other = np.unravel_index(cells, sizes)
    stratum = balanced(between[0] if between else np.zeros_like(cluster), asked[:, 0])
    found = errors(influences(part, whole), whole, cluster, other, stratum, influences(part, whole, stratum))
    return ratio(part.sum(axis=0), whole.sum(axis=0)), found


def _codes(names: pd.Series, sort: bool = False) -> IntArray:
    """Codes (n,) in order of appearance, or of the sorted names; what is missing is a value, too."""
    return np.asarray(pd.factorize(names, sort=sort, use_na_sentinel=False)[0])


def crossed_mean(
    values: pd.Series, clusters: pd.Series, crossed: pd.Series, strata: pd.Series | None = None,
    within: tuple[float, float] | None = None, weights: pd.Series | None = None,
) -> tuple[float, float, float]:  # fmt: skip
    """Mean of values (n,), NaN left out, of rows that cluster in two ways, and its 95 % interval (`crossed.errors`).

    Args:
        strata: (n,) of clusters: new clusters are sampled within each, where they are as even as the design has them.
        within: the least and the most that a value can be; a range about 0 is one of differences.
        weights: (n,) of rows; None: equal weights.
    """
    least, most = (0.0, 1.0) if within is None else within
    span = max(abs(least), most) if least < 0 else most - least
    base = 0.0 if least < 0 else least
    mean, found = crossed_error((values.astype(float) - base) / span, clusters, strata, crossed, weights)
    if within is None:
        spread = no_spread(float(found.errors[0]), float(mean[0]))
        [ends] = np.full((1, 2), math.nan) if spread else found.interval(mean)
    else:
        [ends] = found.interval_between(mean, -1, 1) if least < 0 else found.interval_of_shares(mean)
    estimate, low, high = (float(base + span * each) for each in (mean[0], *ends))
    return estimate, low, high


def _crossed_difference(
    first: pd.Series, second: pd.Series, clusters: pd.Series, strata: pd.Series | None, crossed: pd.Series,
    within: tuple[float, float] | None,
) -> Difference:  # fmt: skip
    """Of rows without NaN."""
    n, (estimate, found) = len(first), crossed_error(second - first, clusters, strata, crossed)
    [p_value], [freedom], [error] = found.p_values(estimate), found.freedom, found.errors
    smallest = float(0.5**freedom)
    if within is None:
        low, high = _ends(float(estimate[0]), float(error), float(freedom), freedom + 1, smallest, within)
    else:
        span = within[1] - within[0]
        low, high = map(float, found.interval_between(estimate, -span, span)[0])
        if not math.isnan(low):
            for way in (clusters, crossed):
                low, high = _widen_for_rare_changes(second - first, way, span, low, high)
    return Difference(
        first=float(first.mean()) if n else math.nan,
        second=float(second.mean()) if n else math.nan,
        estimate=float(estimate[0]),
        low=low,
        high=high,
        p_value=float(p_value),
        n=n,
        n_clusters=int(clusters.nunique(dropna=False)),
        smallest_p=smallest,
    )


def _ends(
    difference: float, error: float, freedom: float, n_clusters: float, smallest: float,
    within: tuple[float, float] | None,
) -> tuple[float, float]:  # fmt: skip
    """Of the 95 % interval of a paired difference of means."""
    if within is not None:
        span = within[1] - within[0]
        low, high = students_intervals(difference, error, freedom, max(1.0, n_clusters), -span, span)
        return float(low), float(high)
    if too_few_alike(error, smallest, difference):
        return math.nan, math.nan
    return Error(difference, error, freedom).interval


def _widen_for_rare_changes(
    changes: pd.Series, clusters: pd.Series, span: float, low: float, high: float
) -> tuple[float, float]:
    """Widen an interval where few clusters carry what rose, or what fell (`rare_upper_end`).

    changes: of rows, from -span to span. What none did is no reason to look there: that all clusters which changed did
    so in one direction is what the test judges.
    """

    def beyond(that_way: pd.Series) -> float:
        if not that_way.any():
            return 0.0
        totals, counts = _cluster_sums(that_way, clusters).T
        return span * max(0.0, rare_upper_end(totals / counts, counts) - float(that_way.mean()))

    mean, moved = float(changes.mean()), changes / span
    return min(low, mean - beyond(-moved.clip(upper=0))), max(high, mean + beyond(moved.clip(lower=0)))


def _cluster_sums(values: pd.Series, clusters: pd.Series, weights: pd.Series | None = None) -> FloatArray:
    """Sum and count (sum of weights) of the values of each cluster that has any: (clusters, 2)."""
    known = values.notna().to_numpy()
    codes, some = _codes(clusters[known], sort=True), values[known].to_numpy(dtype=float)
    if weights is None:
        return np.stack([np.bincount(codes, some), np.bincount(codes)], axis=-1)
    weight = weights[known].to_numpy(dtype=float)
    return np.stack([np.bincount(codes, np.nan_to_num(each)) for each in (weight * some, weight)], axis=-1)


def _exchange_p_value(ones: FloatArray, others: FloatArray) -> float:
    """Two-sided, over cluster sums (clusters,): which run a cluster's answers are from is exchanged at random."""
    if np.array_equal(ones, others):
        return 1.0
    from scipy import stats  # takes a second

    def difference(one: FloatArray, other: FloatArray, axis: int) -> FloatArray:
        # Sums that are equal but for their last bits are equal.
        return np.asarray(np.round(other.sum(axis=axis) - one.sum(axis=axis), 9))

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
