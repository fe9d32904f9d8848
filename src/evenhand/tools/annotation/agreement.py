"""How far annotators agree: in percent, and beyond chance as Cohen's and Fleiss' kappa.

Borah & Mihalcea state percent agreement and Cohen's kappa, Raj et al. Cohen's, LABE Fleiss' over two annotators and
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

from evenhand.errors import UsageError
from evenhand.report.tables import Cell, Table, figure
from evenhand.statistics.kappa import cohen, fleiss
from evenhand.tools.annotation.files import read_sheet
from evenhand.tools.annotation.from_sheets import decide

FEW_ENTRIES = 30
NOT_RATERS = ("id", "question", "third", "majority", "status")

Interval = tuple[float, float]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Pair:
    """Two raters, or one and the majority of the others, on n entries: percent agreement [0, 100], Cohen's kappa."""

    names: tuple[str, str]
    n: int
    percent: float
    kappa: float


@dataclass(frozen=True)
class Agreement:
    """Of one question, over the n entries that all raters labelled and none labelled na.

    percent: of all pairs of labels of an entry, those that are the same; unanimous: of all entries, those with one
    label alone; both [0, 100]. kappa: Fleiss', with its 95 % bootstrap interval over entries. A kappa is NaN where only
    one label was given: chance alone would agree. disputed: entries and their labels, the most disagreed on first.
    """

    question: str
    raters: tuple[str, ...]
    n: int
    incomplete: int
    na: int
    percent: float
    unanimous: float
    kappa: float
    interval: Interval
    pairs: tuple[Pair, ...]
    others: tuple[Pair, ...]
    disputed: tuple[tuple[str, Mapping[str, str]], ...]

    def sentences(self) -> tuple[str, ...]:
        out = f"{self.incomplete:,} that not all labelled and {self.na:,} labelled na are left out"
        found = [f"{self.question}: {self.n:,} entries that all {len(self.raters)} raters labelled; {out}."]
        if not self.n:
            return (*found, "Nothing to compare: no entry has all labels.")
        shares = f"{self.percent:.1f} % of pairs of labels agree; {self.unanimous:.1f} % of entries are unanimous."
        found.append(f"Percent agreement: {shares}")
        if math.isnan(self.kappa):
            return (*found, "Fleiss' kappa: undefined, since all labels are the same; it compares with chance.")
        found.append(f"Fleiss' kappa: {figure(self.kappa, list(self.interval), digits=3)}, with its 95 % interval.")
        if math.isnan(self.interval[0]):
            found[-1] = f"Fleiss' kappa: {self.kappa:.3f}."
            found.append("It has no interval: among entries drawn again, some draws hold one label alone.")
        if self.n < FEW_ENTRIES:
            found.append(f"Fewer than {FEW_ENTRIES} entries: rough figures.")
        return tuple(found)

    def tables(self) -> tuple[Table, ...]:
        columns = ("", "entries", "agreement, %", "Cohen's kappa")
        undefined = any(math.isnan(pair.kappa) and pair.n for pair in (*self.pairs, *self.others))
        note = "undefined: both gave one and the same label to every entry." if undefined else ""
        pairs = tuple(_line(" and ".join(pair.names), pair) for pair in self.pairs)
        others = tuple(_line(pair.names[0], pair) for pair in self.others)
        disputed = tuple(
            (Cell(entry), *(Cell(labels[name]) for name in self.raters)) for entry, labels in self.disputed
        )
        tables = [Table(f"{self.question}: pairs of raters", columns, pairs, note)]
        tables.append(
            Table(
                f"{self.question}: each rater against the majority of the others",
                columns,
                others,
                " ".join(filter(None, ("Entries where the others have a majority.", note))),
            )
        )
        if disputed:
            tables.append(Table(f"{self.question}: most disagreed on", ("id", *self.raters), disputed))
        return tuple(tables)


def _line(name: str, pair: Pair) -> tuple[Cell, ...]:
    kappa = "undefined" if math.isnan(pair.kappa) and pair.n else figure(pair.kappa, digits=3)
    return tuple(Cell(text) for text in (name, f"{pair.n:,}", figure(pair.percent), kappa))


def agree(path: Path, items: int = 10) -> list[Agreement]:
    """The agreement on each question of a merged table (CSV, JSONL or parquet, as the import writes it).

    items: how many disputed entries are named. Raises UsageError for a table of fewer than two raters.
    """
    sheet = read_sheet(path)
    id_column, status, question = (sheet.column(name) for name in ("id", "status", "question"))
    raters = [name for name in sheet.columns if name not in NOT_RATERS]
    if len(raters) < 2:
        raise UsageError(f"{path} has the labels of {len(raters)} rater; two or more are compared: import more files")
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
    """labels: entry: {rater: label, "" where missing}."""
    complete = {entry: by for entry, by in labels.items() if len(raters) > 1 and all(by[rater] for rater in raters)}
    columns = {rater: [by[rater] for by in complete.values()] for rater in raters}
    counts = _counts(columns)
    agreeing = _agreeing(counts)
    return Agreement(
        question=question,
        raters=tuple(raters),
        n=len(complete),
        incomplete=len(labels) - len(complete),
        na=na,
        percent=_percent(agreeing),
        unanimous=_percent(agreeing == 1),
        kappa=fleiss(counts),
        interval=fleiss_interval(counts),
        pairs=tuple(_pair(names, columns[names[0]], columns[names[1]]) for names in combinations(raters, 2)),
        others=tuple(_against_others(rater, columns) for rater in raters) if len(raters) > 1 else (),
        disputed=_disputed(complete, agreeing, items),
    )


def fleiss_interval(counts: Counts) -> Interval:
    """95 % percentile bootstrap over entries; NaN for fewer than two, or where a draw has one label alone."""
    from evenhand.statistics.resampling import LEVELS, N_RESAMPLES, FloatArray, IntArray, resampled

    if math.isnan(fleiss(counts)):
        return math.nan, math.nan
    # In an order of their own, so that neither the file's nor the annotators' changes the draws.
    ordered = counts[np.lexsort(counts.T)]

    def kappas(drawn: IntArray) -> FloatArray:
        return np.array([fleiss(ordered[places]) for places in drawn])

    drawn, _ = resampled(kappas, [np.arange(len(ordered))], N_RESAMPLES, values=counts.size)
    low, high = np.quantile(drawn, LEVELS)
    return float(low), float(high)


def _counts(columns: Mapping[str, Sequence[str]]) -> Counts:
    """(entries, labels)"""
    from statsmodels.stats.inter_rater import aggregate_raters

    return np.asarray(aggregate_raters(np.array(list(columns.values())).T)[0])


def _agreeing(counts: Counts) -> npt.NDArray[np.float64]:
    """Of each entry's pairs of labels, the share that are the same: (entries,)."""
    raters = counts.sum(axis=1)
    return np.asarray((counts * (counts - 1)).sum(axis=1) / np.maximum(raters * (raters - 1), 1))


def _percent(shares: npt.NDArray[np.float64] | npt.NDArray[np.bool_]) -> float:
    return float(100 * shares.mean()) if len(shares) else math.nan


def _pair(names: tuple[str, str], first: Sequence[str], second: Sequence[str]) -> Pair:
    same = np.asarray([one == other for one, other in zip(first, second)], dtype=bool)
    return Pair(names, len(same), _percent(same), cohen(first, second))


def _against_others(rater: str, columns: Mapping[str, Sequence[str]]) -> Pair:
    """On the entries where more than half of the others gave one label."""
    others = [column for name, column in columns.items() if name != rater]
    majority = [decide(votes)[0] for votes in zip(*others)]
    decided = [(own, label) for own, label in zip(columns[rater], majority) if label]
    return _pair((rater, "the others"), [own for own, _ in decided], [label for _, label in decided])


def _disputed(
    complete: Mapping[str, Mapping[str, str]], agreeing: npt.NDArray[np.float64], items: int
) -> tuple[tuple[str, Mapping[str, str]], ...]:
    """Those with fewest agreeing pairs; among equals by id."""
    ranked = sorted((share, entry) for share, entry in zip(agreeing.tolist(), complete) if share < 1)
    return tuple((entry, complete[entry]) for _, entry in ranked[:items])
