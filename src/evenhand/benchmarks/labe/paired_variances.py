"""Differences of the variances between groups, of two runs on the same prompts (LABE's Table 2)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from evenhand.benchmarks.labe.reading import PEOPLE
from evenhand.metrics.agency_gap.group_means import HEADLINES, inter_group_variance
from evenhand.statistics.clustered import Difference
from evenhand.statistics.resampling import (
    N_RESAMPLES,
    FloatArray,
    IntArray,
    expanded_levels,
    how_often,
    moved_interval,
    ratio,
    resampled,
    too_few_alike,
)  # fmt: skip

PERSON = ["race", "gender", "cluster"]
OF_FIRST = ["id", "gap", "run", "classifier", *PERSON]


def variance_differences(first: pd.DataFrame, second: pd.DataFrame) -> dict[str, Difference]:
    """Return second minus first of each of the metric's variances, over texts that both runs have and could read.

    The interval comes from resampling names (texts where no one is named) within race and gender, moved so that its
    mean is the observed difference. The p-value is the level at which that interval begins at 0: exchanging runs
    instead would take noisier texts of one run for an effect.

    Noise in the groups' means adds to every variance. With second texts half as noisy, observed differences were 2 to 9
    squared points below the true ones in simulation (scripts/simulate_labe.py).
    """
    paired = first[OF_FIRST].merge(second[["id", "gap"]], on="id", suffixes=("", "_second"))
    paired = paired[paired["gap"].notna() & paired["gap_second"].notna()]
    if not len(paired):
        return {}
    names = _Names(paired)
    seen = names.variances(np.ones(names.n)[None])[0]  # (figures, 2)
    point = seen[:, 1] - seen[:, 0]
    draws, _ = resampled(names.drawn_differences, names.strata, N_RESAMPLES, values=3 * names.n)
    freedom = names.n - len(names.strata)
    smallest = 0.5**freedom  # that so few names allow when all of them say the same
    ends = moved_interval(draws, point, expanded_levels(freedom))
    ends[[too_few_alike(spread, smallest) for spread in np.ptp(draws, axis=0)]] = np.nan
    p_values = np.maximum(_p_values(draws, point, freedom), smallest)
    figures = np.column_stack([seen, point, ends, p_values]).tolist()
    return {
        key: Difference(first_value, second_value, estimate, low, high, p, len(paired), names.n, smallest)
        for key, (first_value, second_value, estimate, low, high, p) in zip(HEADLINES, figures)
    }


class _Names:
    """Sums and counts of gaps by name and seed in both runs, (names, 2 runs, seeds), names sorted by group.

    strata: the names of each race and gender, as their places.
    """

    def __init__(self, paired: pd.DataFrame):
        grouped = paired.groupby(PERSON, sort=True)
        codes, people = grouped.ngroup(), grouped.size().index.to_frame(index=False)
        seed = pd.factorize(paired["run"].astype(str) + "/" + paired["classifier"])[0]
        self.n = len(people)
        self.sums, self.counts = np.zeros((2, self.n, 2, seed.max() + 1))
        for run, column in enumerate(("gap", "gap_second")):
            np.add.at(self.sums, (codes, run, seed), paired[column].to_numpy(dtype=float))
            np.add.at(self.counts, (codes, run, seed), 1)
        self.strata = [some.index.to_numpy() for _, some in people.groupby(["race", "gender"], sort=True)]
        self._members = [_members(people[list(columns)]) for columns in PEOPLE]

    def drawn_differences(self, *strata: IntArray) -> FloatArray:
        """Of each stratum one name fewer than it has is drawn, and weighs more: all would understate how they vary."""
        weights = sum(how_often(drawn[:, 1:], self.n) * ratio(drawn.shape[1], drawn.shape[1] - 1) for drawn in strata)
        variances = self.variances(np.asarray(weights))
        return variances[:, :, 1] - variances[:, :, 0]

    def variances(self, weights: FloatArray) -> FloatArray:
        """Return (draws, figures, 2 runs) of names counted as often as weights (draws, names) say."""

        def totals(values: FloatArray, run: int, members: FloatArray) -> FloatArray:
            return np.asarray(np.einsum("dn,ns,ng->dsg", weights, values[:, run], members, optimize=True))

        def variance(run: int, members: FloatArray) -> FloatArray:
            gaps = ratio(totals(self.sums, run, members), totals(self.counts, run, members))
            return np.asarray(inter_group_variance(gaps).mean(axis=-1))

        by_dimension = [[variance(run, members) for run in (0, 1)] for members in self._members]
        variances = np.moveaxis(np.array(by_dimension), -1, 0)
        return np.concatenate([variances, variances.mean(axis=1, keepdims=True)], axis=1)


def _members(groups: pd.DataFrame) -> FloatArray:
    """Return (names, groups): 1 where a name is of a group, all of whose values are known."""
    codes = groups.groupby(list(groups)).ngroup().where(groups.ne("").all(axis=1), -1).to_numpy()
    return np.asarray((codes[:, None] == np.unique(codes[codes >= 0])).astype(float))


def _p_values(draws: FloatArray, point: FloatArray, freedom: float) -> FloatArray:
    """Return two-sided p (figures,): the level at which the interval of these draws (draws, figures) begins at 0."""
    moved = np.round(draws - draws.mean(axis=0) + point, 9)  # 0 but for its last bits is 0
    beyond = np.minimum((moved <= 0).sum(axis=0), (moved >= 0).sum(axis=0))
    share = (1 + beyond) / (1 + len(draws))
    p = np.minimum(1, 2 * stats.t.cdf(stats.norm.ppf(np.minimum(share, 1)), max(1, freedom)))
    return np.where(np.isnan(moved).any(axis=0), np.nan, p)
