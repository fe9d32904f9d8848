"""Agreement of annotators: in percent, and beyond chance as Cohen's and Fleiss' kappa.

Borah & Mihalcea report percent agreement and Cohen's kappa, Raj et al. Cohen's, LABE Fleiss' over two annotators and
the default labels (Appendix B.5).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from statsmodels.stats.inter_rater import aggregate_raters

from evenhand.errors import UsageError
from evenhand.report.tables import Cell, Table, count, figure
from evenhand.statistics.kappa import cohen, fleiss
from evenhand.statistics.resampling import N_RESAMPLES, FloatArray, IntArray, resampled
from evenhand.tools.annotation.files import read_sheet
from evenhand.tools.annotation.from_sheets import decide

FEW_ENTRIES = 30
NOT_RATERS = ("id", "question", "third", "majority", "status")


@dataclass(frozen=True)
class Pair:
    """Two raters, or one and the majority of the others, on n entries: percent agreement [0, 100], Cohen's kappa."""

    names: tuple[str, str]
    n: int
    percent: float
    kappa: float


@dataclass(frozen=True)
class Agreement:
    """Agreement on one question, over the n entries that all raters labelled and none labelled na.

    Attributes:
        percent: pairs of labels of one entry that are equal, in percent of all pairs.
        unanimous: entries with one label only, in percent.
        kappa: Fleiss' kappa; NaN where all labels are the same, since chance alone would agree.
        interval: its 95 % bootstrap interval over entries.
        pairs, others: each pair of raters; each rater against the majority of the others.
        disputed: entries and their labels, those with fewest agreeing pairs first.
    """

    question: str
    raters: tuple[str, ...]
    n: int
    incomplete: int
    na: int
    percent: float
    unanimous: float
    kappa: float
    interval: tuple[float, float]
    pairs: tuple[Pair, ...]
    others: tuple[Pair, ...]
    disputed: tuple[tuple[str, Mapping[str, str]], ...]

    def sentences(self) -> tuple[str, ...]:
        left_out = f"{self.incomplete:,} that not all labelled and {self.na:,} labelled na are left out"
        found = [f"{self.question}: {self.n:,} entries that all {len(self.raters)} raters labelled; {left_out}."]
        if not self.n:
            return (*found, "Nothing to compare: no entry has all labels.")
        agreement = f"{self.percent:.1f} % of pairs of labels agree; {self.unanimous:.1f} % of entries are unanimous"
        found.append(f"Percent agreement: {agreement}.")
        if math.isnan(self.kappa):
            return (*found, "Fleiss' kappa: undefined, since all labels are the same; it compares with chance.")
        found.append(f"Fleiss' kappa: {figure(self.kappa, list(self.interval), digits=3)} (95 % interval in brackets).")
        if math.isnan(self.interval[0]):
            found[-1] = f"Fleiss' kappa: {self.kappa:.3f}. No interval: some resamples of entries have one label only."
        if self.n < FEW_ENTRIES:
            found.append(f"Fewer than {FEW_ENTRIES} entries: rough figures.")
        return tuple(found)

    def tables(self) -> tuple[Table, ...]:
        columns = ("", "entries", "agreement, %", "Cohen's kappa")
        undefined = any(math.isnan(pair.kappa) and pair.n for pair in (*self.pairs, *self.others))
        note = "undefined: both gave one and the same label to every entry." if undefined else ""
        pairs, others = (tuple(map(_cells, each)) for each in (self.pairs, self.others))
        of_others = f"Entries where the others have a majority. {note}".strip()
        tables = [
            Table(f"{self.question}: pairs of raters", columns, pairs, note),
            Table(f"{self.question}: each rater against the majority of the others", columns, others, of_others),
        ]
        if self.disputed:
            rows = tuple((Cell(entry), *(Cell(by[each]) for each in self.raters)) for entry, by in self.disputed)
            tables.append(Table(f"{self.question}: most disagreed on", ("id", *self.raters), rows))
        return tuple(tables)


def _cells(pair: Pair) -> tuple[Cell, ...]:
    name = pair.names[0] if pair.names[1] == "the others" else " and ".join(pair.names)
    kappa = Cell(pair.kappa, digits=3, missing="undefined" if pair.n else "no data")
    return Cell(name), count(pair.n), Cell(pair.percent), kappa


def agree(path: Path, items: int = 10) -> list[Agreement]:
    """Compute the agreement on each question of a merged table.

    Args:
        items: number of disputed entries to name.
    """
    sheet = read_sheet(path)
    id_column, status, question = (sheet.column(name) for name in ("id", "status", "question"))
    raters = [name for name in sheet.columns if name not in NOT_RATERS]
    if len(raters) < 2:
        raise UsageError(f"{path} has the labels of {len(raters)} rater; two or more are needed: import more files")
    found = []
    for name in dict.fromkeys(row[question] for row in sheet.rows):
        rows = [row for row in sheet.rows if row[question] == name]
        # Default labels of one question are no rater of another.
        present = [rater for rater in raters if rater != "default" or any(row[rater] for row in rows)]
        labels = {row[id_column]: {rater: row[rater] for rater in present} for row in rows if row[status] != "na"}
        found.append(agreement(labels, tuple(present), name, na=len(rows) - len(labels), items=items))
    return found


def agreement(
    labels: Mapping[str, Mapping[str, str]], raters: Sequence[str], question: str = "", na: int = 0, items: int = 10
) -> Agreement:
    """Compute the agreement of raters. labels: {entry: {rater: label, "" where missing}}."""
    complete = {entry: by for entry, by in labels.items() if len(raters) > 1 and all(by[rater] for rater in raters)}
    table = pd.DataFrame(complete.values(), columns=list(raters))
    counts = np.asarray(aggregate_raters(table.to_numpy(dtype=str))[0])  # (entries, labels)
    n_pairs = max(math.comb(len(raters), 2), 1)
    agreeing = pd.Series((counts * (counts - 1)).sum(axis=1) / 2 / n_pairs)  # of each entry, share of pairs of labels
    ranked = sorted((share, entry) for share, entry in zip(agreeing, complete) if share < 1)
    others = []
    for rater in raters if len(raters) > 1 else ():
        majority = table.drop(columns=rater).apply(lambda votes: decide(list(votes))[0], axis=1, result_type="reduce")
        decided = majority.astype(str) != ""
        others.append(_compare((rater, "the others"), table[rater][decided], majority[decided]))
    return Agreement(
        question=question,
        raters=tuple(raters),
        n=len(complete),
        incomplete=len(labels) - len(complete),
        na=na,
        percent=float(100 * agreeing.mean()),
        unanimous=float(100 * (agreeing == 1).mean()),
        kappa=fleiss(counts),
        interval=fleiss_interval(counts),
        pairs=tuple(_compare(pair, table[pair[0]], table[pair[1]]) for pair in combinations(raters, 2)),
        others=tuple(others),
        disputed=tuple((entry, complete[entry]) for _, entry in ranked[:items]),
    )


def _compare(names: tuple[str, str], first: pd.Series, second: pd.Series) -> Pair:
    return Pair(names, len(first), float(100 * (first == second).mean()), cohen(first, second))


def fleiss_interval(counts: npt.NDArray[np.int64]) -> tuple[float, float]:
    """Bootstrap entries: 95 % percentile interval, NaN for few entries or where a resample has one label only."""
    if math.isnan(fleiss(counts)):
        return math.nan, math.nan
    ordered = counts[np.lexsort(counts.T)]  # so that the order of rows does not change the resamples

    def compute_kappas(drawn: IntArray) -> FloatArray:
        return np.array([fleiss(ordered[places]) for places in drawn])

    low, high = resampled(compute_kappas, [np.arange(len(ordered))], N_RESAMPLES, values=counts.size)[1]
    return float(low), float(high)
