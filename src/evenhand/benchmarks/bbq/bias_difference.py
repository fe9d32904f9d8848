"""The difference of two runs' bias scores on the rows that both answered readably: no mean, so drawn as a whole."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from evenhand.benchmarks.bbq.scoring import columns
from evenhand.metrics.bbq_bias.scores import CONDITIONS, Sums, counts
from evenhand.statistics.clustered import PERMUTATIONS, Difference, smallest_p
from evenhand.statistics.resampling import (
    FEWEST_CLUSTERS,
    N_RESAMPLES,
    FloatArray,
    IntArray,
    exchanges,
    expanded_levels,
    no_spread,
    p_value,
    resampled,
    students_intervals,
)

MOST = 200.0  # points, from always against the stereotype to always with it


def bias_differences(first: pd.DataFrame, second: pd.DataFrame) -> dict[str, Difference]:
    """{condition: second minus first}, in points of the bias score; NaN where one of them has none.

    Interval: bootstrap over templates, of both runs' rows together, its percentiles widened for few templates. p: by
    exchanging the runs for whole templates.
    """
    one, other = _paired(first, second)
    template = pd.factorize(one["template"])[0]
    n_clusters = int(template.max(initial=-1)) + 1
    sums = [_sums(each, template, n_clusters) for each in (one, other)]
    n = {condition: int((one["context_condition"] == condition).sum()) for condition in CONDITIONS}
    return {condition: _difference(condition, sums, n[condition], n_clusters) for condition in CONDITIONS}


def _paired(first: pd.DataFrame, second: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows of each that both have and both answered readably, in one order."""
    one, other = (each[each["answer"].notna()].set_index("id", drop=False) for each in (first, second))
    common = one.index.intersection(other.index)
    return one.loc[common], other.loc[common]


def _sums(some: pd.DataFrame, template: IntArray, n_clusters: int) -> FloatArray:
    """Of each template, what its rows add to the figures: (templates, counts)."""
    sums = np.zeros((n_clusters, len(Sums.names)))
    np.add.at(sums, template, counts(**columns(some)))
    return sums


def _difference(condition: str, sums: list[FloatArray], n: int, n_clusters: int) -> Difference:
    def score(of: FloatArray) -> FloatArray:
        return np.asarray(Sums.figures(of)["bias_score"][condition])

    def difference(drawn: IntArray) -> FloatArray:
        one, other = (each[drawn].sum(axis=1) for each in sums)
        return score(other) - score(one)

    first, second = (float(score(each.sum(axis=0))) for each in sums)
    low = high = p = math.nan
    smallest = smallest_p(max(1, n_clusters))
    if n_clusters >= FEWEST_CLUSTERS and not math.isnan(second - first):
        draws, _ = resampled(difference, [np.arange(n_clusters)], N_RESAMPLES, values=sums[0].size)
        ends = np.quantile(draws, expanded_levels(n_clusters - 1))
        if no_spread(float(np.ptp(draws))):
            ends = students_intervals(second - first, 0.0, 1, n_clusters, -MOST, MOST)
        low, high = map(float, ends)
        exchanged = exchanges(n_clusters, PERMUTATIONS) @ (sums[1] - sums[0])
        permuted = score(sums[1].sum(axis=0) - exchanged) - score(sums[0].sum(axis=0) + exchanged)
        p = float(p_value(abs(second - first), np.abs(permuted)))
    return Difference(first, second, second - first, low, high, p, n, n_clusters, smallest)
