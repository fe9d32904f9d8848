"""The table itself: rows are models, columns are figures under one setting, cells have their ranks."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from evenhand.benchmarks import BENCHMARKS
from evenhand.hub.leaderboard.checking import OURS
from evenhand.hub.leaderboard.paired import PairedRuns, paired
from evenhand.hub.leaderboard.ranks import Ranks, ranks
from evenhand.hub.leaderboard.records import Column, Record, row_of

MOST_OVERVIEW, MOST_COLUMNS = 12, 40  # columns of the first table, and of a benchmark's; leaderboard.csv has all
MOST_SECTIONS = 30  # benchmarks with a table of their own
WHOLE = "all"  # in the names of tasks that are of a whole benchmark


@dataclass(frozen=True)
class Row:
    """base: a row's name, on the board or not. variants: rows on the board of which this is the base."""

    name: str
    base: str | None
    variants: tuple[str, ...]


@dataclass(frozen=True)
class Cell:
    record: Record
    rank: str


@dataclass(frozen=True)
class Section:
    """One table. left_out: how many columns there are beyond those that are shown."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    left_out: int


@dataclass(frozen=True)
class Board:
    """cells: by (column, row's name). n_left_out: benchmarks that have no table of their own. made: when it was.
    rehearsal: with answers of stubs, or of parts of the rows."""

    rows: tuple[Row, ...]
    columns: tuple[Column, ...]
    cells: Mapping[tuple[Column, str], Cell]
    ranks: Mapping[Column, Ranks]
    overview: Section
    sections: tuple[Section, ...]
    n_left_out: int
    n_refused: int
    made: datetime
    rehearsal: bool = False


def board(records: Sequence[Record], n_refused: int, made: datetime, rehearsal: bool = False) -> Board:
    """records: without duplicates."""
    runs = PairedRuns()
    by_column: dict[Column, list[Record]] = {}
    for each in records:
        by_column.setdefault(each.column, []).append(each)
    columns = sorted(by_column, key=_order)
    cells: dict[tuple[Column, str], Cell] = {}
    of_columns: dict[Column, Ranks] = {}
    for column in columns:
        own = by_column[column]
        of_columns[column] = found = ranks(
            [each.value for each in own],
            [each.interval for each in own],
            column.lower_is_better,
            paired(own, runs),
        )
        for place, each in enumerate(own):
            cells[column, each.row] = Cell(each, found.text(place))
    counts = Counter(each.column for each in records)
    overview = _overview(columns, counts)
    rows = _rows(records, _places(overview[:MOST_OVERVIEW], cells, of_columns))
    benchmarks = dict.fromkeys(column.benchmark for column in columns)
    sections = [
        _section(name, [each for each in columns if each.benchmark == name], rows, cells) for name in benchmarks
    ]
    first = Section("All models", tuple(overview[:MOST_OVERVIEW]), rows, max(0, len(overview) - MOST_OVERVIEW))
    more = tuple(each for each in sections if not {*each.columns} <= {*first.columns})
    shown, left_out = more[:MOST_SECTIONS], max(0, len(more) - MOST_SECTIONS)
    return Board(rows, tuple(columns), cells, of_columns, first, shown, left_out, n_refused, made, rehearsal)


def _order(column: Column) -> tuple[object, ...]:
    """Our benchmarks first, in their own order; of each its whole first, then bias, then utility."""
    known = BENCHMARKS.names.index(column.benchmark) if column.benchmark in BENCHMARKS else len(BENCHMARKS.names)
    part = WHOLE not in re.split("[_-]", column.task)
    return (
        column.library != OURS, known, column.benchmark, part, column.utility,
        column.task, column.metric, column.setting, column.dataset, column.library, column.unit, column.lower_is_better,
    )  # fmt: skip


def _places(
    columns: Sequence[Column], cells: Mapping[tuple[Column, str], Cell], ranks: Mapping[Column, Ranks]
) -> Mapping[str, tuple[float, ...]]:
    """Of each row, where it stands by rank: in the first column of the table, then in the next, and so on.

    By the worst rank that it may have: what nobody measured well, and what has no rank, is not in front.
    """
    found: dict[str, list[float]] = {}
    names = dict.fromkeys(row for _, row in cells)
    for column in columns:
        worst = dict(zip(_in_order(column, cells), ranks[column].worst))
        for name in names:
            rank = worst.get(name)
            found.setdefault(name, []).append(math.inf if rank is None else rank)
    return {name: tuple(each) for name, each in found.items()}


def _in_order(column: Column, cells: Mapping[tuple[Column, str], Cell]) -> list[str]:
    """The rows of a column, in the order in which they were ranked."""
    return [row for of, row in cells if of == column]


_Natural = list[tuple[bool, int, str]]
_Order = tuple[tuple[float, ...], _Natural]


def _rows(records: Sequence[Record], places: Mapping[str, tuple[float, ...]]) -> tuple[Row, ...]:
    """By rank, variants behind their base where that is on the board; what is as good by name."""
    bases: dict[str, str | None] = {}
    for each in records:
        bases[each.row] = bases.get(each.row) or each.base_row
        if each.mitigation is not None and each.base is not None:
            bases.setdefault(row_of(each.model), row_of(each.base))
    names = {each.row for each in records}
    variants: dict[str, list[str]] = {}
    for name in sorted(names):
        if base := bases[name]:
            variants.setdefault(base, []).append(name)

    def of_one(name: str) -> _Order:
        return places.get(name, ()), _natural(name)

    def key(name: str) -> tuple[_Order, bool, _Order]:
        base = bases[name]
        led = base if base in names else name  # whatever isn't there orders nothing
        return of_one(led), led != name, of_one(name)

    return tuple(Row(name, bases[name], tuple(variants.get(name, ()))) for name in sorted(names, key=key))


def _natural(name: str) -> _Natural:
    """A key by which model-2 goes before model-10."""
    parts = re.split(r"([0-9]{1,18})", name.casefold())
    return [(True, int(part), "") if k % 2 else (False, 0, part) for k, part in enumerate(parts)]


def _overview(columns: Sequence[Column], counts: Mapping[Column, int]) -> list[Column]:
    """Of each metric of a benchmark the column that most models have; of as many, the first.

    What another library calls as one of evenhand's figures on the board stands in the benchmark's own table alone.
    """
    first: dict[tuple[str, str, str], Column] = {}
    ours = {(column.benchmark, column.metric) for column in columns if column.library == OURS}
    for column in columns:
        if column.library != OURS and (column.benchmark, column.metric) in ours:
            continue
        key = (column.library, column.benchmark, column.metric)
        if key not in first or counts[column] > counts[first[key]]:
            first[key] = column
    shown = list(first.values())
    return (
        sorted(shown, key=lambda each: (each.library != OURS, -counts[each])) if len(shown) > MOST_OVERVIEW else shown
    )


def _section(
    benchmark: str, columns: Sequence[Column], rows: Sequence[Row], cells: Mapping[tuple[Column, str], Cell]
) -> Section:
    shown = tuple(columns[:MOST_COLUMNS])
    own = tuple(row for row in rows if any((column, row.name) in cells for column in shown))
    return Section(benchmark, shown, own, len(columns) - len(shown))
