"""The table: rows are models, columns are figures under one setting, cells have ranks."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from evenhand.benchmarks import BENCHMARKS
from evenhand.hub.leaderboard.ranks import PairedRuns, Rank, rank_results
from evenhand.hub.leaderboard.records import Column, Record, row_name
from evenhand.hub.leaderboard.sources import Gathered
from evenhand.hub.leaderboard.validation import OURS

MOST_OVERVIEW, MOST_COLUMNS = 12, 40  # columns of the first table, and of a benchmark's; leaderboard.csv has all
MOST_SECTIONS = 30  # benchmarks with a table of their own
MOST_RUNS = 30  # of a column, of which pairs are compared; of more, intervals decide


@dataclass(frozen=True)
class Row:
    """base: a row's name, on the board or not. variants: rows on the board of which this is the base."""

    name: str
    base: str | None
    variants: tuple[str, ...]


@dataclass(frozen=True)
class Cell:
    record: Record
    rank: Rank


@dataclass(frozen=True)
class Section:
    """One table. left_out: how many columns are not shown."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    left_out: int


Cells = Mapping[tuple[Column, str], Cell]
"""By column and row's name."""


@dataclass(frozen=True)
class Board:
    """n_left_out: benchmarks that have no table of their own."""

    gathered: Gathered
    rows: tuple[Row, ...]
    columns: tuple[Column, ...]
    cells: Cells
    overview: Section
    sections: tuple[Section, ...]
    n_left_out: int
    made: datetime


def make_board(gathered: Gathered) -> Board:
    """Rank the results of each column, and order rows and columns."""
    runs = PairedRuns()
    by_column: dict[Column, list[Record]] = {}
    for each in gathered.records:
        by_column.setdefault(each.column, []).append(each)
    columns = sorted(by_column, key=_sort_key)
    cells: dict[tuple[Column, str], Cell] = {}
    for column in columns:
        records = by_column[column]
        values, intervals = [each.value for each in records], [each.interval for each in records]
        n_runs = sum(each.origin.run is not None for each in records)
        paired = partial(runs.difference, records) if 2 <= n_runs <= MOST_RUNS else None
        ranks = rank_results(values, intervals, column.lower_is_better, paired)
        cells |= {(column, each.row): Cell(each, rank) for each, rank in zip(records, ranks)}
    overview = _choose_overview(columns, Counter({column: len(records) for column, records in by_column.items()}))
    rows = _order_rows(gathered.records, overview[:MOST_OVERVIEW], cells)
    first = Section("All models", tuple(overview[:MOST_OVERVIEW]), rows, max(0, len(overview) - MOST_OVERVIEW))
    sections = []
    for benchmark in dict.fromkeys(column.benchmark for column in columns):
        own = [each for each in columns if each.benchmark == benchmark]
        shown_columns = tuple(own[:MOST_COLUMNS])
        if not {*shown_columns} <= {*first.columns}:
            with_results = tuple(row for row in rows if any((column, row.name) in cells for column in shown_columns))
            sections.append(Section(benchmark, shown_columns, with_results, len(own) - len(shown_columns)))
    shown, n_left_out = tuple(sections[:MOST_SECTIONS]), max(0, len(sections) - MOST_SECTIONS)
    return Board(gathered, rows, tuple(columns), cells, first, shown, n_left_out, datetime.now(UTC))


def _sort_key(column: Column) -> tuple[object, ...]:
    """Evenhand's benchmarks first, in their own order; of each the figures of all of it, then bias, then utility."""
    place = BENCHMARKS.names.index(column.benchmark) if column.benchmark in BENCHMARKS else len(BENCHMARKS.names)
    is_part = "all" not in re.split("[_-]", column.task)
    return (
        column.library != OURS, place, column.benchmark, is_part, column.utility,
        column.task, column.metric, column.setting, column.dataset, column.library, column.unit, column.lower_is_better,
    )  # fmt: skip


def _choose_overview(columns: Sequence[Column], counts: Mapping[Column, int]) -> list[Column]:
    """Of each metric of a benchmark the column that most models have.

    What another library calls the same as one of evenhand's figures is in the benchmark's own table alone.
    """
    chosen: dict[tuple[str, str, str], Column] = {}
    ours = {(column.benchmark, column.metric) for column in columns if column.library == OURS}
    for column in columns:
        if column.library == OURS or (column.benchmark, column.metric) not in ours:
            key = (column.library, column.benchmark, column.metric)
            chosen[key] = max(chosen.get(key, column), column, key=lambda each: counts[each])
    found = list(chosen.values())
    if len(found) > MOST_OVERVIEW:
        found.sort(key=lambda each: (each.library != OURS, -counts[each]))
    return found


def _order_rows(records: Iterable[Record], columns: Sequence[Column], cells: Cells) -> tuple[Row, ...]:
    """By the worst rank in the first column, then in the next, and so on, then by name; variants behind their base."""
    bases: dict[str, str | None] = {}
    for each in records:
        bases[each.row] = bases.get(each.row) or each.base_row
        if each.mitigation is not None and each.base is not None:
            plain = row_name(each.model)
            bases[plain] = bases.get(plain) or row_name(each.base)
    names = {each.row for each in records}
    variants: dict[str, list[str]] = {}
    for name in sorted(names):
        if base := bases[name]:
            variants.setdefault(base, []).append(name)

    def place(name: str) -> tuple[object, ...]:
        found = (cells.get((column, name)) for column in columns)
        return tuple(math.inf if cell is None else cell.rank.worst for cell in found), _natural_key(name)

    def key(name: str) -> tuple[object, ...]:
        base = bases[name]
        leader = base if base in names else name  # a base that isn't on the board orders nothing
        return place(leader or name), leader != name, place(name)

    return tuple(Row(name, bases[name], tuple(variants.get(name, ()))) for name in sorted(names, key=key))


def _natural_key(name: str) -> list[tuple[bool, int, str]]:
    """A key by which model-2 goes before model-10."""
    parts = re.split(r"([0-9]{1,18})", name.casefold())
    return [(True, int(part), "") if k % 2 else (False, 0, part) for k, part in enumerate(parts)]
