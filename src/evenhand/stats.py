"""Differences between two runs on the same rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

RESAMPLES = 1000
SEED = 0


@dataclass(frozen=True)
class Difference:
    """Second minus first, over the rows that both have, with a 95 % interval over clusters."""

    first: float
    second: float
    estimate: float
    low: float
    high: float
    n: int
    n_clusters: int

    @property
    def tied(self) -> bool:
        """The interval holds 0, or there is none."""
        return not (self.low > 0 or self.high < 0)


def paired_difference(first: pd.Series, second: pd.Series, clusters: pd.Series) -> Difference:
    """Difference of the means of paired values (n,); NaN pairs are left out.

    Percentile bootstrap over clusters: the rows of one are drawn together. With fewer than two clusters, NaN.
    """
    both = first.notna() & second.notna()
    first, second = first[both].astype(float), second[both].astype(float)
    sums = (second - first).groupby(clusters[both].to_numpy()).agg(["sum", "count"]).to_numpy(dtype=float)
    n = int(both.sum())
    estimate = sums[:, 0].sum() / n if n else np.nan
    low = high = np.nan
    if len(sums) > 1:

        def mean(drawn: np.ndarray, axis: int) -> np.ndarray:
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
        low, high = float(interval.low), float(interval.high)
    return Difference(
        first=float(first.mean()) if n else np.nan,
        second=float(second.mean()) if n else np.nan,
        estimate=float(estimate),
        low=low,
        high=high,
        n=n,
        n_clusters=len(sums),
    )
