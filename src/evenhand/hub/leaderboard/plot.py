"""Bias against utility as a drawing of the page's own colours, which change with its theme; matplotlib's can't.

A line leads from a base to what was made of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from evenhand.hub.leaderboard.board import Board
from evenhand.hub.leaderboard.records import Column, Interval

WIDTH, HEIGHT = 640.0, 400.0
LEFT, RIGHT, TOP, BOTTOM = 64.0, 16.0, 16.0, 52.0
FRAME = {"width": WIDTH, "height": HEIGHT, "left": LEFT, "top": TOP, "right": WIDTH - RIGHT, "bottom": HEIGHT - BOTTOM}
"""Pixels: of the drawing, and the ends of its axes."""
MOST_WITH_INTERVALS, MOST_NAMED = 60, 12
MOST_PLOTS = 6


@dataclass(frozen=True)
class Point:
    """In pixels. ends: of the interval of its bias, up and down; None where it isn't shown."""

    name: str
    told: str
    x: float
    y: float
    ends: tuple[float, float] | None
    is_variant: bool
    named: bool


@dataclass(frozen=True)
class Tick:
    place: float
    text: str


@dataclass(frozen=True)
class Plot:
    bias: Column
    utility: Column
    points: tuple[Point, ...]
    links: tuple[tuple[Point, Point], ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]


def plots(board: Board) -> list[Plot]:
    """Of each bias of the overview, against the utility that most models of it have; none without two models."""
    found = [_plot(board, column) for column in board.overview.columns if not column.utility]
    return sorted((each for each in found if each), key=lambda each: -len(each.points))[:MOST_PLOTS]


def _plot(board: Board, bias: Column) -> Plot | None:
    able = [column for column in board.columns if column.utility and column.metric == "accuracy"]
    shared = {column: [row for row in board.rows if _both(board, row.name, bias, column)] for column in able}
    utility = max(able, key=lambda column: len(shared[column]), default=None)
    if utility is None or len(shared[utility]) < 2:
        return None
    rows = shared[utility]
    of_bias = {row.name: board.cells[bias, row.name].record for row in rows}
    of_utility = {row.name: board.cells[utility, row.name].record for row in rows}
    with_ends = len(rows) <= MOST_WITH_INTERVALS
    ys = [end for each in of_bias.values() for end in (each.value, *((with_ends and each.interval) or ()))]
    x_low, x_high, x_ticks = _axis([each.value for each in of_utility.values()])
    y_low, y_high, y_ticks = _axis(ys)

    def across(value: float) -> float:
        return round(LEFT + (value - x_low) / (x_high - x_low) * (WIDTH - LEFT - RIGHT), 1)

    def up(value: float) -> float:
        return round(HEIGHT - BOTTOM - (value - y_low) / (y_high - y_low) * (HEIGHT - TOP - BOTTOM), 1)

    def ends(interval: Interval | None) -> tuple[float, float] | None:
        return (up(interval[0]), up(interval[1])) if with_ends and interval is not None else None

    points = {
        row.name: Point(
            row.name,
            f"{row.name}: {bias.metric.replace('_', ' ')} {of_bias[row.name].value:.4g}, "
            f"{utility.metric.replace('_', ' ')} {of_utility[row.name].value:.4g}",
            across(of_utility[row.name].value),
            up(of_bias[row.name].value),
            ends(of_bias[row.name].interval),
            row.base is not None,
            len(rows) <= MOST_NAMED,
        )
        for row in rows
    }
    links = tuple((points[row.base], points[row.name]) for row in rows if row.base in points)
    return Plot(
        bias, utility, tuple(points.values()), links,
        tuple(Tick(across(value), text) for value, text in x_ticks),
        tuple(Tick(up(value), text) for value, text in y_ticks),
    )  # fmt: skip


def _both(board: Board, row: str, bias: Column, utility: Column) -> bool:
    return (bias, row) in board.cells and (utility, row) in board.cells


def _axis(values: list[float]) -> tuple[float, float, list[tuple[float, str]]]:
    """Ends around the values, and some four round numbers between them."""
    low, high = min(values), max(values)
    span = (high - low) or max(abs(high), 1.0)
    low, high = low - 0.06 * span, high + 0.06 * span
    ticks = list(_ticks(low, high))
    return low, high, ticks


def _ticks(low: float, high: float) -> Iterator[tuple[float, str]]:
    raw = (high - low) / 4
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * each for each in (1, 2, 5, 10) if power * each >= raw)
    for k in range(math.ceil(low / step), math.floor(high / step) + 1):
        yield k * step, f"{round(k * step, 10):g}"
