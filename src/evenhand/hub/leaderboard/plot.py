"""Bias against utility as a drawing of the page's own colours, which change with its theme; matplotlib's can't.

A line leads from a base to what was made of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from evenhand.hub.leaderboard.board import Board
from evenhand.hub.leaderboard.records import Column, Interval

WIDTH, HEIGHT = 640.0, 400.0
LEFT, RIGHT, TOP, BOTTOM = 64.0, 16.0, 16.0, 52.0
FRAME = {"width": WIDTH, "height": HEIGHT, "left": LEFT, "top": TOP, "right": WIDTH - RIGHT, "bottom": HEIGHT - BOTTOM}
"""Pixels: of the drawing, and the ends of its axes."""
MOST_WITH_INTERVALS, MOST_NAMED, MOST_APART = 60, 40, 300
MOST_LINKS = 60
LONGEST_LABEL = 28
MOST_PLOTS = 6


@dataclass(frozen=True)
class Label:
    """anchor: which end of the text is at x, as SVG has it."""

    text: str
    x: float
    y: float
    anchor: str

    @property
    def ends(self) -> tuple[float, float]:
        width = 6.5 * len(self.text)
        return (self.x, self.x + width) if self.anchor == "start" else (self.x - width, self.x)

    def meets(self, other: Label) -> bool:
        one, two = self.ends, other.ends
        return abs(self.y - other.y) < 14 and one[0] < two[1] and two[0] < one[1]


@dataclass(frozen=True)
class Point:
    """In pixels. ends: of the interval of its bias, up and down; None where it isn't shown."""

    name: str
    told: str
    x: float
    y: float
    ends: tuple[float, float] | None
    is_variant: bool
    label: Label | None


@dataclass(frozen=True)
class Tick:
    place: float
    text: str


@dataclass(frozen=True)
class Plot:
    """together: of very many points, those of bases and of variants as one path each; else nothing. n_links: lines from
    bases to variants, which are not drawn where they would hide the points.
    """

    bias: Column
    utility: Column
    points: tuple[Point, ...]
    together: tuple[str, str]
    links: tuple[tuple[Point, Point], ...]
    n_links: int
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]


def plots(board: Board) -> list[Plot]:
    """Of each bias of the overview, against utility, or another accuracy that most models have of it."""
    found = [_plot(board, column) for column in board.overview.columns if not column.utility]
    return [each for each in found if each][:MOST_PLOTS]


def _plot(board: Board, bias: Column) -> Plot | None:
    able = [column for column in board.columns if column.utility and column.metric == "accuracy"]
    shared = {column: [row for row in board.rows if _both(board, row.name, bias, column)] for column in able}
    enough = [column for column in able if len(shared[column]) >= 2]
    if not enough:
        return None
    utility = max(enough, key=lambda column: (column.benchmark == "utility", len(shared[column])))
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

    points: dict[str, Point] = {}
    for row in rows:
        x, y = across(of_utility[row.name].value), up(of_bias[row.name].value)
        points[row.name] = Point(
            row.name,
            f"{row.name}: {bias.metric.replace('_', ' ')} {of_bias[row.name].value:.4g}, "
            f"{utility.metric.replace('_', ' ')} {of_utility[row.name].value:.4g}",
            x,
            y,
            ends(of_bias[row.name].interval),
            row.base is not None,
            None,
        )
    if len(points) <= MOST_NAMED:
        points = _named(points)
    every = tuple(points.values())
    links = tuple((points[row.base], points[row.name]) for row in rows if row.base in points)
    return Plot(
        bias,
        utility,
        every,
        (_path(every, False), _path(every, True)) if len(every) > MOST_APART else ("", ""),
        links if len(links) <= MOST_LINKS else (),
        len(links),
        tuple(Tick(across(value), text) for value, text in x_ticks),
        tuple(Tick(up(value), text) for value, text in y_ticks),
    )


def _named(points: Mapping[str, Point]) -> dict[str, Point]:
    """With a label at each point that has room for one."""
    named: dict[str, Point] = {}
    labels: list[Label] = []
    for name, point in points.items():
        others = [each for each in points.values() if each is not point]
        label = next((each for each in _places(name, point) if _fits(each, labels, others)), None)
        named[name] = replace(point, label=label)
        labels += [] if label is None else [label]
    return named


def _places(name: str, point: Point) -> Iterator[Label]:
    """Above or below it, to the right or the left."""
    text = name if len(name) <= LONGEST_LABEL else f"{name[: LONGEST_LABEL - 1]}…"
    for away in (-6, 15):
        yield Label(text, point.x + 8, point.y + away, "start")
        yield Label(text, point.x - 8, point.y + away, "end")


def _fits(label: Label, labels: Iterable[Label], points: Iterable[Point]) -> bool:
    """Whether it lies within the frame, and hides no other label and no point."""
    left, right = label.ends
    if left < LEFT or right > WIDTH - 4 or label.y < TOP or label.y > HEIGHT - BOTTOM:
        return False
    hides = any(left - 6 < each.x < right + 6 and label.y - 16 < each.y < label.y + 9 for each in points)
    return not hides and not any(each.meets(label) for each in labels)


def _path(points: Iterable[Point], variants: bool) -> str:
    """Lines of no length, whose round ends are the points: a drawing of thousands stays small."""
    return "".join(f"M{each.x} {each.y}h0" for each in points if each.is_variant == variants)


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
    raw = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * each for each in (1, 2, 2.5, 5, 10) if power * each >= raw)
    for k in range(math.ceil(low / step), math.floor(high / step) + 1):
        yield k * step, f"{round(k * step, 10):g}"
