"""Runs of one benchmark beside one another: their headline figures, each run by itself."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.benchmarks import get_benchmark
from evenhand.report.findings import Panel, Run
from evenhand.report.layout import intervals_note, shown
from evenhand.report.tables import Cell, Table

MOST_RUNS = 8  # columns of a table that people read


def panel(runs: Sequence[Run]) -> Panel:
    return Panel(tuple(runs), (side_by_side(runs),))


def side_by_side(runs: Sequence[Run]) -> Table:
    """A row for each headline figure, a column for each run."""
    benchmark = get_benchmark(runs[0].results.benchmark)
    keys = {
        (row.figure, tuple(row.groups.items())): None for run in runs for row in run.results.figures if row.headline
    }
    rows = tuple(
        (
            Cell(benchmark.figure(figure).label(dict(groups))),
            *(shown(run.results.figures.row(figure, **dict(groups)), benchmark.figure(figure)) for run in runs),
        )
        for figure, groups in keys
    )
    columns = ("figure", *(f"{run.letter}: {run.results.model_name}" for run in runs))
    return Table("Each run by itself", columns, rows, intervals_note(benchmark.card))
