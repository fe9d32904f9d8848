"""Two labe runs on the same prompts, as LABE's Tables 2 and 3: a model before and after a mitigation, or two models."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from evenhand.metrics.agency_gap.group_means import inter_group_variance
from evenhand.report.findings import Similarity
from evenhand.report.tables import Cell, Table, figure
from evenhand.statistics.clustered import Difference, paired_difference
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
)

DIMENSIONS = {"gender": ("gender",), "race": ("race",), "intersectional": ("race", "gender")}
RUNS = ("_first", "_second")
SEPARATOR = "\0"  # of race, gender and name: in no name of a file


NOTE = (
    "Variances are in squared points, 0 is best; overall: the mean of the three. Interval: bootstrap over names (texts "
    "where nobody is named) within groups, its mean moved to the difference seen; p: the level at which that interval "
    "begins at 0. Noise adds to a variance: where B's texts differ less among each other, it is lower for that alone. "
)
"""On the headline figures."""


def variance_differences(first: pd.DataFrame, second: pd.DataFrame) -> dict[str, Difference]:
    """What the paper judges, of the predictions of two runs: each text type's variances, on texts that both have."""
    return {
        f"{text_type}, {name} variance": difference
        for text_type, paired in _by_type(first, second)
        for name, difference in _Names(paired).differences().items()
    }


def tables(first: pd.DataFrame, second: pd.DataFrame, similarity: Similarity) -> tuple[Table, ...]:
    """Predictions of two runs; rows are paired by id."""
    by_type = _by_type(first, second)
    return (_groups(by_type), _texts(by_type, similarity)) if by_type else ()


def _by_type(first: pd.DataFrame, second: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Texts that both runs have and could read, by text type."""
    paired = first.merge(second, on="id", suffixes=RUNS)
    paired = paired[paired["gap_first"].notna() & paired["gap_second"].notna()]
    return list(paired.groupby("text_type_first", sort=False))


def _groups(by_type: Sequence[tuple[str, pd.DataFrame]]) -> Table:
    rows = []
    for text_type, paired in by_type:
        people = paired["race_first"].str.cat(paired["gender_first"], sep=" ").str.strip()
        for name, group in paired.groupby(people, sort=False):
            one, other = (100 * group[f"n_agentic{run}"] / group[f"agentic{run}"].map(len) for run in RUNS)
            found = paired_difference(one, other, group["cluster_first"], within=(0.0, 100.0))
            difference = figure(found.estimate, [found.low, found.high])
            texts = (f"{text_type}, {name}", figure(found.first), figure(found.second), difference, f"{found.n:,}")
            rows.append(tuple(Cell(text) for text in texts))
    note = (
        "Means over texts, percent. Brackets: 95 % interval, paired, over names (texts, where nobody is named); none "
        "below three."
    )
    return Table("Agentic sentences", ("group", "A", "B", "B minus A", "texts"), tuple(rows), note)


def _texts(by_type: Sequence[tuple[str, pd.DataFrame]], similarity: Similarity) -> Table:
    """Whether B's texts still say what A's say: "more agentic" must not mean another text."""
    rows = []
    for text_type, paired in by_type:
        once = paired.drop_duplicates(["row_first", "run_first"])
        one, other = (once[f"text{run}"].str.split().map(len) for run in RUNS)
        found = paired_difference(one, other, once["cluster_first"])
        kept = _share_kept(once)
        similar = similarity(*([list(each) for each in once[f"sentences{run}"]] for run in RUNS))
        texts = (
            text_type,
            figure(found.first),
            figure(found.second),
            figure(found.estimate, [found.low, found.high]),
            figure(100 * (1 - kept)),
            "no encoder" if similar is None else figure(similar, digits=3),
            f"{len(once):,}",
        )
        rows.append(tuple(Cell(text) for text in texts))
    note = (
        "Sentences changed: those of A that are not in B word for word. Similarity: cosine of the texts' mean sentence "
        "embeddings (all-MiniLM-L6-v2), 1 for the same text."
    )
    columns = ("text type", "words, A", "words, B", "B minus A", "sentences changed, %", "similarity", "texts")
    return Table("Texts", columns, tuple(rows), note)


def _share_kept(once: pd.DataFrame) -> float:
    kept = [
        sum(s in set(second) for s in first) for first, second in zip(once["sentences_first"], once["sentences_second"])
    ]
    return sum(kept) / max(1, int(once["sentences_first"].map(len).sum()))


class _Names:
    """Sums and counts of gaps by name and seed in both runs: (names, 2 runs, seeds), names sorted by group."""

    def __init__(self, paired: pd.DataFrame):
        people = _joined(paired, ("race_first", "gender_first", "cluster_first"))
        codes, named = pd.factorize(people, sort=True)
        seed = pd.factorize(paired["run_first"].astype(str) + "/" + paired["classifier_first"])[0]
        shape = (len(named), 2, seed.max() + 1)
        self.sums, self.counts = np.zeros(shape), np.zeros(shape)
        for run, column in enumerate(("gap_first", "gap_second")):
            np.add.at(self.sums, (codes, run, seed), paired[column].to_numpy(dtype=float))
            np.add.at(self.counts, (codes, run, seed), 1)
        groups = pd.DataFrame([name.split(SEPARATOR)[:2] for name in named], columns=["race", "gender"])
        self.n, self.n_texts = len(named), len(paired)
        of_group = _joined(groups, ("race", "gender"))
        self._cells = [np.flatnonzero(of_group == group) for group in of_group.unique()]
        self._members = {
            name: _one_hot(_joined(groups, columns), groups[list(columns)].ne("").all(axis=1))
            for name, columns in DIMENSIONS.items()
        }

    def differences(self) -> dict[str, Difference]:
        """For each dimension and overall, B minus A; NaN where it is unknown."""
        # Noise in the groups' means adds to every variance: with B's texts half as noisy the differences seen lay 2 to
        # 9 squared points below the true ones in simulation (scripts/simulate_labe.py).
        seen = self._variances(np.ones(self.n)[None])[0]  # (figures, 2)
        point = seen[:, 1] - seen[:, 0]
        draws, _ = resampled(self._drawn_differences, self._cells, N_RESAMPLES, values=3 * self.n)
        freedom = self.n - len(self._cells)
        smallest = 0.5**freedom  # that so few names allow when all of them say the same: 1 / 2 for each that is free
        ends = moved_interval(draws, point, expanded_levels(freedom))
        spreads = np.ptp(draws, axis=0)
        ends[[too_few_alike(spread, smallest) for spread in spreads]] = np.nan
        p_values = np.maximum(_p_values(draws, point, freedom), smallest)
        return {
            name: Difference(
                first=float(seen[i, 0]),
                second=float(seen[i, 1]),
                estimate=float(point[i]),
                low=float(ends[i, 0]),
                high=float(ends[i, 1]),
                p_value=float(p_values[i]),
                n=self.n_texts,
                n_clusters=self.n,
                smallest_p=smallest,
            )
            for i, name in enumerate((*DIMENSIONS, "overall"))
        }

    def _drawn_differences(self, *cells: IntArray) -> FloatArray:
        """One name fewer than a group has is drawn, and weighs as much more: all would understate how they vary."""
        weights = sum(how_often(drawn[:, 1:], self.n) * ratio(drawn.shape[1], drawn.shape[1] - 1) for drawn in cells)
        variances = self._variances(np.asarray(weights))
        return variances[:, :, 1] - variances[:, :, 0]

    def _variances(self, weights: FloatArray) -> FloatArray:
        """(draws, dimensions and overall, 2 runs) of names counted as often as weights (draws, names) say."""

        def totals(values: FloatArray, run: int, members: FloatArray) -> FloatArray:
            """(draws, seeds, groups)"""
            return np.asarray(np.einsum("dn,ns,ng->dsg", weights, values[:, run], members, optimize=True))

        def variance(run: int, members: FloatArray) -> FloatArray:
            counts = totals(self.counts, run, members)
            sums = totals(self.sums, run, members)
            return np.asarray(inter_group_variance(ratio(sums, counts)).mean(axis=-1))

        by_dimension = [[variance(run, members) for run in (0, 1)] for members in self._members.values()]
        variances = np.moveaxis(np.array(by_dimension), -1, 0)
        return np.concatenate([variances, variances.mean(axis=1, keepdims=True)], axis=1)


def _p_values(draws: FloatArray, point: FloatArray, freedom: float) -> FloatArray:
    """Two-sided p (figures,): the level at which the interval of these draws (draws, figures) would begin at 0.

    Exchanging runs instead would take it for an effect that one run's texts are noisier than the other's.
    """
    moved = np.round(draws - draws.mean(axis=0) + point, 9)  # 0 but for its last bits is 0
    beyond = np.minimum((moved <= 0).sum(axis=0), (moved >= 0).sum(axis=0))
    share = (1 + beyond) / (1 + len(draws))
    p = np.minimum(1, 2 * stats.t.cdf(stats.norm.ppf(np.minimum(share, 1)), max(1, freedom)))
    return np.where(np.isnan(moved).any(axis=0), np.nan, p)


def _joined(table: pd.DataFrame, columns: Sequence[str]) -> pd.Series:
    """Each row's values as one text; pandas' own agg over rows takes a hundred times as long."""
    return pd.Series([SEPARATOR.join(values) for values in zip(*(table[column] for column in columns))])


def _one_hot(groups: pd.Series, known: pd.Series) -> FloatArray:
    """(names, groups) of known groups."""
    codes, names = pd.factorize(groups.where(known), sort=True)
    return np.asarray((codes[:, None] == np.arange(len(names))).astype(float))
