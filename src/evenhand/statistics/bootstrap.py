"""Intervals and differences of any statistic, by resampling clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from evenhand.figure import Estimate, Sample, Statistic
from evenhand.statistics.clustered import Difference, smallest_p
from evenhand.statistics.resampling import FEWEST_CLUSTERS, LEVELS, N_RESAMPLES, SEED, expanded_levels

if TYPE_CHECKING:
    from evenhand.statistics.resampling import FloatArray, IntArray


def bootstrap_estimate(statistic: Statistic, sample: Sample) -> Estimate:
    """Expanded percentile bootstrap over clusters (Hesterberg 2015); no interval of fewer than three."""
    read = _read(statistic, sample)
    value = float(statistic.value(read.rows)) if len(read) else float("nan")
    codes, n_clusters = _codes(read.clusters)
    asked = int(sample.clusters.nunique(dropna=False))
    draws = np.array([statistic.value(read.rows.iloc[places]) for places in _draws(codes, n_clusters)], dtype=float)
    low, high = _ends(draws, n_clusters)
    return Estimate(value, low, high, len(sample), len(read), n_clusters, asked)


def bootstrap_difference(statistic: Statistic, first: Sample, second: Sample, sign: int = 1) -> Difference | None:
    """Second minus first on the rows that both runs have and could read, clusters resampled in both together.

    sign: -1 takes the first as if its statistic had the other sign.

    p: twice the smaller share of draws on either side of 0. None without a row in common.
    """
    one, other = (_read(statistic, each) for each in (first, second))
    common = one.rows[one.rows["id"].isin(other.rows["id"])]
    if not len(common):
        return None
    rows = [common, other.rows.set_index("id", drop=False).loc[common["id"]]]
    values = [sign * float(statistic.value(rows[0])), float(statistic.value(rows[1]))]
    codes, n_clusters = _codes(Sample(common, first.design).clusters)
    draws = np.array(
        [statistic.value(rows[1].iloc[k]) - sign * statistic.value(rows[0].iloc[k]) for k in _draws(codes, n_clusters)]
    )
    low, high = _ends(draws, n_clusters)
    smallest = smallest_p(max(1, n_clusters))
    p = float("nan")
    if len(draws) and not np.isnan(draws).any():
        share = min((draws <= 0).sum(), (draws >= 0).sum())
        p = min(1.0, max(smallest, 2 * float(share + 1) / (len(draws) + 1)))
    return Difference(values[0], values[1], values[1] - values[0], low, high, p, len(common), n_clusters, smallest)


def _read(statistic: Statistic, sample: Sample) -> Sample:
    return Sample(sample.rows.dropna(subset=list(statistic.columns)), sample.design)


def _codes(clusters: pd.Series) -> tuple[IntArray, int]:
    codes, names = pd.factorize(clusters, use_na_sentinel=False)
    return np.asarray(codes), len(names)


def _draws(codes: IntArray, n_clusters: int) -> list[IntArray]:
    """Places of rows, clusters drawn with replacement."""
    if n_clusters < FEWEST_CLUSTERS:
        return []
    rng = np.random.default_rng(SEED)
    places = [np.flatnonzero(codes == code) for code in range(n_clusters)]
    return [
        np.concatenate([places[code] for code in drawn])
        for drawn in rng.integers(0, n_clusters, (N_RESAMPLES, n_clusters))
    ]


def _ends(draws: FloatArray, n_clusters: int) -> tuple[float, float]:
    """NaN where the statistic is undefined in more draws than the interval leaves out, or all clusters say the same."""
    known = draws[~np.isnan(draws)]
    if not len(draws) or len(known) < (1 - LEVELS[0]) * len(draws) or np.ptp(known) == 0:
        return float("nan"), float("nan")
    low, high = np.quantile(known, expanded_levels(n_clusters - 1))
    return float(low), float(high)
