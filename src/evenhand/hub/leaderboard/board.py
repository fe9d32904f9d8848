"""The table: rows are models, columns are figures under one setting, cells have ranks."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from evenhand.benchmarks import BENCHMARKS
from evenhand.hub.leaderboard.ranks import PairedRuns, Rank, rank_results
from evenhand.hub.leaderboard.records import OURS, Column, Record
from evenhand.hub.leaderboard.sources import Gathered

MOST_OVERVIEW, MOST_COLUMNS = 12, 40  # columns of the first table, and of a benchmark's; leaderboard.csv has all


@dataclass(frozen=True)
class Row:
    """A model. base: its base model's row, on the board or not; variants: rows on the board made from this one."""

    name: str
    base: str | None
    variants: tuple[str, ...]


@dataclass(frozen=True)
class Cell:
    record: Record
    rank: Rank


@dataclass(frozen=True)
class Section:
    """One table of the page. left_out: number of columns that are not shown."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    left_out: int


Cells = Mapping[tuple[Column, str], Cell]
"""By column and row's name."""


@dataclass(frozen=True)
class Board:
    """All results. sections: one of all models, then one for each benchmark."""

    gathered: Gathered
    rows: tuple[Row, ...]
    columns: tuple[Column, ...]
    cells: Cells
    sections: tuple[Section, ...]
    made: datetime


def make_board(gathered: Gathered) -> Board:
    """Rank the results of each column, and order rows and columns."""
    runs = PairedRuns()
    results: dict[Column, list[Record]] = {}
    for each in gathered.records:
        results.setdefault(each.column, []).append(each)
    columns = sorted(results, key=_sort_key)
    cells: dict[tuple[Column, str], Cell] = {}
    for column in columns:
        records = results[column]
        values, intervals = [each.value for each in records], [each.interval for each in records]
        ranks = rank_results(values, intervals, column.lower_is_better, runs.pair(records))
        cells |= {(column, record.row): Cell(record, rank) for record, rank in zip(records, ranks)}
    overview = _choose_overview(columns, {column: len(of) for column, of in results.items()})
    shown = overview[:MOST_OVERVIEW]
    rows = _order_rows(gathered.records, shown, cells)
    sections = [Section("All models", shown, rows, len(overview[MOST_OVERVIEW:]))]
    for benchmark in dict.fromkeys(column.benchmark for column in columns):
        own = [each for each in columns if each.benchmark == benchmark]
        if not {*own[:MOST_COLUMNS]} <= {*shown}:
            with_results = [row for row in rows if any((column, row.name) in cells for column in own[:MOST_COLUMNS])]
            sections.append(Section(benchmark, own[:MOST_COLUMNS], with_results, len(own[MOST_COLUMNS:])))
    return Board(gathered, rows, tuple(columns), cells, tuple(sections), datetime.now(UTC))


def _sort_key(column: Column) -> tuple[object, ...]:
    """Order columns: evenhand's benchmarks first, whole benchmarks before their parts, bias before utility."""
    place = BENCHMARKS.names.index(column.benchmark) if column.benchmark in BENCHMARKS else len(BENCHMARKS.names)
    is_part = "all" not in re.split("[_-]", column.task)
    return (
        column.library != OURS, place, column.benchmark, is_part, column.utility,
        column.task, column.metric, column.setting, column.dataset, column.library, column.unit, column.lower_is_better,
    )  # fmt: skip


def _choose_overview(columns: Sequence[Column], counts: Mapping[Column, int]) -> list[Column]:
    """Choose, for each metric of a benchmark, the column that most models have.

    Columns of other libraries with the name of one of evenhand's figures are in the benchmark's own table only.
    """
    chosen: dict[tuple[str, str, str], Column] = {}
    ours = {(column.benchmark, column.metric) for column in columns if column.library == OURS}
    for column in columns:
        if column.library == OURS or (column.benchmark, column.metric) not in ours:
            key = (column.library, column.benchmark, column.metric)
            chosen[key] = max(chosen.get(key, column), column, key=lambda each: counts[each])
    found = [*chosen.values()]
    return sorted(found, key=lambda each: (each.library != OURS, -counts[each])) if found[MOST_OVERVIEW:] else found


def _order_rows(records: Iterable[Record], columns: Sequence[Column], cells: Cells) -> tuple[Row, ...]:
    """Order rows by the worst rank in each column in turn, then by name; variants follow their base."""
    bases: dict[str, str] = {}
    for each in records:
        if each.base_row is not None:
            bases.setdefault(each.row, each.base_row)
        if each.mitigation is not None and each.base is not None:
            bases.setdefault(each.model, each.base)
    names = sorted({each.row for each in records})

    def place(name: str) -> tuple[object, ...]:
        found = (cells.get((column, name)) for column in columns)
        return tuple(math.inf if cell is None else cell.rank.worst for cell in found), name.casefold()

    def key(name: str) -> tuple[object, ...]:
        base = bases.get(name)
        leader = base if base in names else name  # a base that isn't on the board orders nothing
        return place(leader), leader != name, place(name)

    variants = {name: tuple(each for each in names if bases.get(each) == name) for name in {*bases.values()}}
    return tuple(Row(name, bases.get(name), variants.get(name, ())) for name in sorted(names, key=key))
