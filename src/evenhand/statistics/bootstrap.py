"""Intervals and differences of any number computed from rows, by resampling clusters."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy import special

from evenhand.statistics.clustered import Difference, smallest_p
from evenhand.statistics.resampling import FEWEST_CLUSTERS, LEVELS, N_RESAMPLES, SEED, expanded_levels

if TYPE_CHECKING:
    from evenhand.statistics.resampling import FloatArray, IntArray


def bootstrap_interval(
    value: Callable[[pd.DataFrame], float], rows: pd.DataFrame, clusters: pd.Series
) -> tuple[float, float]:
    """Return the 95 % interval: expanded percentile bootstrap (Hesterberg 2015) over the clusters (n,) of the rows.

    NaN where there are fewer than three clusters, or the value is undefined in too many draws.
    """
    codes, n_clusters = _encode(clusters)
    draws = [value(rows.iloc[places]) for places in _resample(codes, n_clusters)]
    return _percentiles(np.array(draws, dtype=float), n_clusters)


def bootstrap_difference(
    value: Callable[[pd.DataFrame], float],
    first: pd.DataFrame,
    second: pd.DataFrame,
    clusters: pd.Series,
    sign: int = 1,
) -> Difference:
    """Return second minus first of rows that are parallel: clusters (n,) are resampled in both together.

    sign: -1 takes the first as if its value had the other sign.

    p: the level at which the interval begins at 0.
    """
    values = [sign * float(value(first)), float(value(second))]
    codes, n_clusters = _encode(clusters)
    draws = np.array(
        [value(second.iloc[k]) - sign * value(first.iloc[k]) for k in _resample(codes, n_clusters)], dtype=float
    )
    low, high = _percentiles(draws, n_clusters)
    smallest = smallest_p(max(1, n_clusters))
    p = float("nan")
    if len(draws) and not np.isnan(draws).any():
        share = (min((draws <= 0).sum(), (draws >= 0).sum()) + 1) / (len(draws) + 1)
        p = min(1.0, max(smallest, 2 * float(special.stdtr(n_clusters - 1, special.ndtri(share)))))
    return Difference(values[0], values[1], values[1] - values[0], low, high, p, len(first), n_clusters, smallest)


def _encode(clusters: pd.Series) -> tuple[IntArray, int]:
    codes, names = pd.factorize(clusters, use_na_sentinel=False)
    return np.asarray(codes), len(names)


def _resample(codes: IntArray, n_clusters: int) -> list[IntArray]:
    """Return places of rows, clusters drawn with replacement."""
    if n_clusters < FEWEST_CLUSTERS:
        return []
    rng = np.random.default_rng(SEED)
    places = [np.flatnonzero(codes == code) for code in range(n_clusters)]
    return [
        np.concatenate([places[code] for code in drawn])
        for drawn in rng.integers(0, n_clusters, (N_RESAMPLES, n_clusters))
    ]


def _percentiles(draws: FloatArray, n_clusters: int) -> tuple[float, float]:
    """NaN where the statistic is undefined in more draws than the interval leaves out, or all clusters say the same."""
    known = draws[~np.isnan(draws)]
    if not len(draws) or len(known) < (1 - LEVELS[0]) * len(draws) or np.ptp(known) == 0:
        return float("nan"), float("nan")
    low, high = np.quantile(known, expanded_levels(n_clusters - 1))
    return float(low), float(high)
