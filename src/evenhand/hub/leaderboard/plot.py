"""Bias against utility as a drawing of the page's own colours, which change with its theme; matplotlib's can't.

A line leads from a base to what was made of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evenhand.benchmarks import BENCHMARKS, get_benchmark
from evenhand.hub.leaderboard.board import Board
from evenhand.hub.leaderboard.records import Column

WIDTH, HEIGHT = 640.0, 400.0
LEFT, RIGHT, TOP, BOTTOM = 64.0, 16.0, 16.0, 52.0
FRAME = {"width": WIDTH, "height": HEIGHT, "left": LEFT, "top": TOP, "right": WIDTH - RIGHT, "bottom": HEIGHT - BOTTOM}
"""Pixels: of the drawing, and the ends of its axes."""
MOST_POINTS, MOST_WITH_INTERVALS, MOST_NAMED, MOST_LINKS, MOST_PLOTS = 300, 60, 12, 60, 6
LONGEST_LABEL = 28  # characters
TICKS = 5


@dataclass(frozen=True)
class Point:
    """In pixels. ends: of the interval of its bias, up and down. label: its name beside it, which ends at the point
    where `left`.
    """

    title: str
    x: float
    y: float
    ends: tuple[float, float] | None
    is_variant: bool
    label: str
    left: bool


@dataclass(frozen=True)
class Tick:
    place: float
    text: str


@dataclass(frozen=True)
class Plot:
    """links: lines from bases to variants. n: models with both figures, of which the first are drawn."""

    bias: Column
    utility: Column
    n: int
    points: tuple[Point, ...]
    links: tuple[tuple[Point, Point], ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]


def plots(board: Board) -> list[Plot]:
    """Each bias of the overview, against the utility that most models have."""
    found = [_plot(board, column) for column in board.overview.columns if not column.utility]
    return [each for each in found if each][:MOST_PLOTS]


def _plot(board: Board, bias: Column) -> Plot | None:
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
    of_bias = {row.name: board.cells[bias, row.name].record for row in rows}
    of_utility = {row.name: board.cells[utility, row.name].record for row in rows}
    intervals = {name: each.interval if len(rows) <= MOST_WITH_INTERVALS else None for name, each in of_bias.items()}
    across, x_ticks = _axis([each.value for each in of_utility.values()], LEFT, WIDTH - RIGHT)
    ys = [end for name, each in of_bias.items() for end in (each.value, *(intervals[name] or ()))]
    up, y_ticks = _axis(ys, HEIGHT - BOTTOM, TOP)

    points: dict[str, Point] = {}
    for row in rows:
        one, other, interval = of_bias[row.name], of_utility[row.name], intervals[row.name]
        x = across(other.value)
        points[row.name] = Point(
            f"{row.name}: {bias.metric.replace('_', ' ')} {one.value:.4g}, "
            f"{utility.metric.replace('_', ' ')} {other.value:.4g}",
            x,
            up(one.value),
            None if interval is None else (up(interval[0]), up(interval[1])),
            row.base is not None,
            row.name[:LONGEST_LABEL] if len(rows) <= MOST_NAMED else "",
            x > WIDTH / 2,
        )
    links = tuple((points[row.base], points[row.name]) for row in rows if row.base in points)
    drawn = links if len(links) <= MOST_LINKS else ()
    return Plot(bias, utility, len(shared[utility]), tuple(points.values()), drawn, x_ticks, y_ticks)


def _is_about_utility(column: Column) -> bool:
    """Whether its benchmark measures nothing else."""
    known = column.benchmark in BENCHMARKS and get_benchmark(column.benchmark).figures
    return bool(known) and all(each.about == "utility" for each in known or ())


def _axis(values: Sequence[float], start: float, end: float) -> tuple[Callable[[float], float], tuple[Tick, ...]]:
    """Where a value stands, in pixels from start to end; and some round numbers."""
    low, high = min(values), max(values)
    span = (high - low) or max(abs(high), 1.0)
    low, high = low - 0.06 * span, high + 0.06 * span

    def place(value: float) -> float:
        return round(start + (value - low) / (high - low) * (end - start), 1)

    raw = (high - low) / TICKS
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * each for each in (1, 2, 2.5, 5, 10) if power * each >= raw)
    ticks = (k * step for k in range(math.ceil(low / step), math.floor(high / step) + 1))
    return place, tuple(Tick(place(each), f"{round(each, 10):g}") for each in ticks)
