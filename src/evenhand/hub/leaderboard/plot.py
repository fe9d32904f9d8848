"""Bias against utility, drawn in the page's own colours, which change with its theme; matplotlib's can't.

A line leads from a base to what was made from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

from evenhand.benchmarks import BENCHMARKS, get_benchmark
from evenhand.hub.leaderboard.board import Board, Row
from evenhand.hub.leaderboard.records import Column

WIDTH, HEIGHT = 640.0, 400.0
LEFT, RIGHT, TOP, BOTTOM = 64.0, 16.0, 16.0, 52.0
FRAME = {"width": WIDTH, "height": HEIGHT, "left": LEFT, "top": TOP, "right": WIDTH - RIGHT, "bottom": HEIGHT - BOTTOM}
"""Pixels: of the drawing, and the ends of its axes."""
MOST_POINTS, MOST_WITH_INTERVALS, MOST_LINKS, MOST_PLOTS = 300, 60, 60, 6
TICKS = 5

Ticks = tuple[tuple[float, str], ...]
"""Pixels, and the number there."""


@dataclass(frozen=True)
class Point:
    """x, y: in pixels. ends: of the interval of its bias, in pixels."""

    row: Row
    bias: float
    utility: float
    x: float
    y: float
    ends: tuple[float, ...]


@dataclass(frozen=True)
class Plot:
    """links: lines from bases to variants. n: models with both figures, of which the first are drawn."""

    bias: Column
    utility: Column
    n: int
    points: tuple[Point, ...]
    links: tuple[tuple[Point, Point], ...]
    x_ticks: Ticks
    y_ticks: Ticks


def draw_plots(board: Board) -> list[Plot]:
    """Each bias of the overview, against the utility that most models have."""
    found = (_draw_plot(board, column) for column in board.overview.columns if not column.utility)
    return [each for each in found if each is not None][:MOST_PLOTS]


def _draw_plot(board: Board, bias: Column) -> Plot | None:
    shared = {
        column: [row for row in board.rows if (bias, row.name) in board.cells and (column, row.name) in board.cells]
        for column in board.columns
        if column.utility and not column.lower_is_better
    }
    enough = [column for column, rows in shared.items() if len(rows) >= 2]
    if not enough:
        return None
    utility = max(enough, key=lambda column: (_is_about_utility(column), len(shared[column])))
    rows = shared[utility][:MOST_POINTS]
    x_values = [board.cells[utility, row.name].record.value for row in rows]
    y_values = [board.cells[bias, row.name].record.value for row in rows]
    intervals = [board.cells[bias, row.name].record.interval or () for row in rows]
    ends = intervals if len(rows) <= MOST_WITH_INTERVALS else [()] * len(rows)
    place_x, x_ticks = _axis(x_values, LEFT, WIDTH - RIGHT)
    place_y, y_ticks = _axis([*y_values, *chain.from_iterable(ends)], HEIGHT - BOTTOM, TOP)
    points = {
        row.name: Point(row, y, x, place_x(x), place_y(y), tuple(map(place_y, interval)))
        for row, x, y, interval in zip(rows, x_values, y_values, ends)
    }
    links = tuple((points[row.base], points[row.name]) for row in rows if row.base in points)
    drawn = links if len(links) <= MOST_LINKS else ()
    return Plot(bias, utility, len(shared[utility]), tuple(points.values()), drawn, x_ticks, y_ticks)


def _is_about_utility(column: Column) -> bool:
    """Whether its benchmark measures nothing else."""
    known = column.benchmark in BENCHMARKS
    return known and {each.about for each in get_benchmark(column.benchmark).figures} == {"utility"}


def _axis(values: Sequence[float], start: float, end: float) -> tuple[Callable[[float], float], Ticks]:
    """Where a value is, in pixels from start to end; and ticks at round numbers."""
    low, high = min(values), max(values)
    margin = 0.06 * ((high - low) or max(abs(high), 1.0))
    low, high = low - margin, high + margin

    def place(value: float) -> float:
        return round(start + (value - low) / (high - low) * (end - start), 1)

    raw = (high - low) / TICKS
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * each for each in (1, 2, 2.5, 5, 10) if power * each >= raw)
    ticks = (k * step for k in range(math.ceil(low / step), math.floor(high / step) + 1))
    return place, tuple((place(each), f"{round(each, 10):g}") for each in ticks)
