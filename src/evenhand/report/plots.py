"""Drawings for reports: SVG text, the same bytes for the same numbers."""

from __future__ import annotations

import io
import math
import textwrap
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from evenhand.words import in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

_COLORS = ("#8a8f98", "#2a9d8f", "#c8553d", "#3d5a80", "#b08900", "#7b4b94")
_MARKS = "osD^vP"
_STYLE = {
    "svg.hashsalt": "evenhand", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 10,
    "axes.spines.top": False, "axes.spines.right": False,
    "text.parse_math": False,  # a "$" in a name is a "$"
}  # fmt: skip
LETTERS_AN_INCH = 10.4  # of 9 points
WIDE, WIDEST = 5.4, 7.6  # inches: what a phone shows at two thirds can still be read
_LONGEST = 80  # characters of a label
_ON_COLOR = "#010101"  # text within coloured cells: unlike black text, a page's dark theme leaves it as it is
Interval = Sequence[float | None]


def grouped_bars(
    values: Mapping[str, Mapping[str, tuple[float, Interval]]], unit: str, reference: tuple[float, str],
    limits: tuple[float, float] = (0, 100), marks: Mapping[str, Mapping[str, float]] | None = None,
) -> str:  # fmt: skip
    """Draw horizontal bars with error bars, and a dashed line at the reference.

    Args:
        values: {group: {bar: (value, interval)}}; a value that is no number is left out.
        reference: (value, label) of the dashed line.
        marks: {group: {bar: value}}, a black line across a bar.
    """
    groups, bars = list(values), list(dict.fromkeys(bar for group in values.values() for bar in group))
    names = [_folded(group, 24) for group in groups]
    height = sum(max(0.16 * len(bars) + 0.16, 0.17 * (1 + name.count("\n"))) for name in names)
    columns = _legend_columns(bars, WIDE)
    with _style():
        figure, axes = _canvas(WIDE, 1.1 + height + 0.2 * math.ceil(len(bars) / columns))
        thick = 0.8 / len(bars)
        for k, bar in enumerate(bars):
            lengths: dict[float, float] = {}
            for g, group in enumerate(groups):
                place = g + (k - (len(bars) - 1) / 2) * thick
                value, interval = values[group].get(bar, (math.nan, ()))
                if _finite(value):
                    lengths[place] = value
                    _error_bar(axes, place, interval)
                if (mark := (marks or {}).get(group, {}).get(bar)) is not None:
                    axes.vlines(mark, place - thick / 2, place + thick / 2, color="black", linewidth=2.5)
            color = _COLORS[k % len(_COLORS)]
            axes.barh(list(lengths), list(lengths.values()), thick * 0.92, label=_label(bar), color=color)
        axes.axvline(reference[0], linestyle="--", linewidth=1, color="#444")
        axes.annotate(
            _label(reference[1]), (reference[0], 1), (0, 3), ("data", "axes fraction"), "offset points", ha="center",
            fontsize=9,
        )  # fmt: skip
        _name_rows(axes, names, unit)
        axes.set_xlim(*limits)
        if len(bars) > 1:
            figure.legend(frameon=False, fontsize=9, loc="outside lower center", ncols=columns)
        return _svg(figure)


def _error_bar(axes: Axes, place: float, interval: Interval) -> None:
    """Without an interval there is no cap, which would look like certainty."""
    if ends := _ends(interval):
        middle, half = sum(ends) / 2, (ends[1] - ends[0]) / 2
        axes.errorbar(middle, place, xerr=half, fmt="none", ecolor="#222", elinewidth=1, capsize=3)


def _name_rows(axes: Axes, names: Sequence[str], unit: str) -> None:
    """Name the rows of a drawing, the first on top, and its horizontal axis."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(_label(unit))


def _legend_columns(names: Sequence[str], width: float) -> int:
    """Return how many columns of a legend fit into so many inches."""
    longest = max((len(_label(name)) for name in names), default=0)
    return max(1, min(len(names), int(width * LETTERS_AN_INCH) // (longest + 6)))


def lines(panels: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]], x: str) -> str:
    """Draw {panel: {line: [(x, y)]}}, panels one under another over one x axis; a line of few points shows them."""
    with _style():
        figure = _figure(WIDE, 0.6 + 2.0 * len(panels))
        every = figure.subplots(len(panels), 1, sharex=True, squeeze=False).ravel()
        for axes, (title, drawn) in zip(every, panels.items()):
            for k, (name, points) in enumerate(drawn.items()):
                where, values = zip(*points) if points else ((), ())
                mark = "o" if len(points) < 30 else ""
                axes.plot(where, values, marker=mark, markersize=3, color=_COLORS[k % len(_COLORS)], label=_label(name))
            axes.set_ylabel(_label(title), fontsize=8)
            if len(drawn) > 1:  # above the panel, where no line runs
                axes.legend(
                    frameon=False, fontsize=7, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0,
                    ncols=_legend_columns(list(drawn), WIDE),
                )  # fmt: skip
        every[-1].set_xlabel(_label(x))
        return _svg(figure)


def points(values: Mapping[str, Sequence[tuple[float, float, Interval]]], x: str, y: str) -> str:
    """Draw {group: [(x, y, interval of y)]}, a colour and a mark for each group; no numbers are left out."""
    with _style():
        figure, axes = _canvas(WIDE, 3.8)
        for k, (name, some) in enumerate(values.items()):
            color, known = _COLORS[k % len(_COLORS)], [each for each in some if _finite(*each[:2])]
            if not known:
                continue
            where, heights, intervals = zip(*known)
            axes.plot(where, heights, _MARKS[k % len(_MARKS)], color=color, markersize=6, label=_label(name))
            for at, interval in zip(where, intervals):
                if ends := _ends(interval):
                    axes.vlines(at, *ends, color=color, linewidth=1)
        axes.set_xlabel(_label(x))
        axes.set_ylabel(_label(y))
        axes.legend(frameon=False, fontsize=8)
        return _svg(figure)


def differences(values: Mapping[str, tuple[float, Interval, bool]], unit: str) -> str:
    """Draw {figure: (difference, its interval, whether it differs from 0)}, one under another, and a line at 0.

    A difference is coloured and filled, a tie is grey and hollow.
    """
    names = [_folded(name, 26) for name in values]
    with _style():
        figure, axes = _canvas(WIDE, 0.9 + sum(0.14 + 0.16 * (1 + name.count("\n")) for name in names))
        for place, (value, interval, differs) in enumerate(values.values()):
            color = _COLORS[3] if differs else _COLORS[0]
            if ends := _ends(interval):
                axes.hlines(place, *ends, color=color, linewidth=2)
            if _finite(value):
                axes.plot(value, place, "o", color=color, markersize=6, markerfacecolor=color if differs else "white")
        axes.axvline(0, linestyle="--", linewidth=1, color="#444")
        _name_rows(axes, names, unit)
        return _svg(figure)


def heatmap(values: Mapping[str, Mapping[str, float]], unit: str) -> str:
    """Draw {row: {column: percent}} as a coloured grid with its numbers; cells without data stay empty."""
    columns = _columns([values])
    with _style():
        figure, axes = _canvas(1.9 + 0.7 * max(3, len(columns)), 1.6 + 0.28 * len(values))
        image = _grid(axes, values, columns)
        axes.set_xticks(range(len(columns)), [_folded(column, 11) for column in columns], fontsize=9)
        axes.set_yticks(range(len(values)), [*map(_label, values)])
        _add_scale(figure, image, axes, unit)
        return _svg(figure)


def heatmaps(matrices: Mapping[str, Mapping[str, Mapping[str, float]]], unit: str, x: str = "", y: str = "") -> str:
    """Draw {name: {row: {column: percent}}} as small grids side by side, each with its numbers. x, y: of the axes.

    Grids of the same rows name them once a line.
    """
    longest = max(len(each) for each in matrices.values())
    labels = 0.075 * max(len(in_words(row)) for each in matrices.values() for row in each)  # inches
    once = len({tuple(each) for each in matrices.values()}) == 1
    wide = 0.6 * len(_columns(matrices.values())) + 0.3 + (0 if once else labels)  # inches of a grid
    a_row = max(1, min(4, len(matrices), int((WIDEST - once * labels) / wide)))
    n_rows = -(-len(matrices) // a_row)
    with _style():
        height = max(2.2, 0.9 + 0.2 * longest) * n_rows + 0.6
        figure = _figure(wide * a_row + once * labels, height)
        places = figure.subplots(n_rows, a_row, squeeze=False).ravel()
        for axes in places[len(matrices) :]:
            axes.set_axis_off()
        for k, (axes, (name, values)) in enumerate(zip(places, matrices.items())):
            columns = _columns([values])
            image = _grid(axes, values, columns)
            first = k % a_row == 0 or not once
            axes.set_title(_folded(name, int(wide / 0.085)), fontsize=10)
            axes.set_xticks(range(len(columns)), [_folded(column, 11) for column in columns], fontsize=8)
            axes.set_yticks(range(len(values)), [*map(_label, values)] if first else [""] * len(values), fontsize=8)
            axes.set_xlabel(x, fontsize=8)
            axes.set_ylabel(y if first else "", fontsize=8)
        _add_scale(figure, image, list(places), unit)
        return _svg(figure)


def _columns(grids: Iterable[Mapping[str, Mapping[str, float]]]) -> list[str]:
    return list(dict.fromkeys(column for grid in grids for row in grid.values() for column in row))


def _add_scale(figure: Figure, image: AxesImage, axes: Axes | list[Axes], unit: str) -> None:
    """Draw the scale of the colours below: at the side it would make a drawing wider than a phone."""
    figure.colorbar(image, ax=axes, label=_label(unit), location="bottom", shrink=0.7, aspect=30)


def _grid(axes: Axes, values: Mapping[str, Mapping[str, float]], columns: Sequence[str]) -> AxesImage:
    """Draw coloured cells with their numbers; those without data stay empty."""
    numbers = [[row.get(column) for column in columns] for row in values.values()]
    grid = [[math.nan if value is None else value for value in row] for row in numbers]
    image = axes.imshow(grid, vmin=0, vmax=100, cmap="RdYlBu_r", aspect="auto")
    axes.tick_params(length=0)
    for i, row in enumerate(grid):
        for j, value in enumerate(row):
            if not math.isnan(value):
                color = "white" if abs(value - 50) > 35 else _ON_COLOR
                axes.text(j, i, f"{value:.0f}", ha="center", va="center", fontsize=8, color=color)
    for spine in axes.spines.values():
        spine.set_visible(False)
    return image


def _finite(*numbers: float | None) -> bool:
    return all(each is not None and math.isfinite(each) for each in numbers)


def _ends(interval: Interval) -> tuple[float, float] | None:
    """Return both ends of an interval; None where one is not known."""
    ends = [each for each in interval if each is not None and math.isfinite(each)]
    return (ends[0], ends[1]) if len(ends) == 2 else None


def _label(text: str) -> str:
    """Make a label of any text: one of printable characters.

    Matplotlib fails on half a surrogate pair, XML on control characters; a label that begins with "_" stays out of
    legends.
    """
    printable = "".join(char if char.isprintable() or char == "\n" else "\N{REPLACEMENT CHARACTER}" for char in text)
    printable = in_words(printable)
    shown = printable if len(printable) <= _LONGEST else printable[: _LONGEST - 1] + "…"
    return f" {shown}" if not shown or shown.startswith("_") else shown


def _folded(text: str, width: int) -> str:
    """Break a label into lines of so many characters at most, so that it does not run into the next one."""
    return "\n".join(textwrap.wrap(_label(text), max(8, width))) or _label(text)


@contextmanager
def _style() -> Iterator[None]:
    import matplotlib  # takes a second

    with matplotlib.rc_context(_STYLE):
        yield


def _canvas(width: float, height: float) -> tuple[Figure, Axes]:
    """Return a figure of so many inches, with one pair of axes."""
    figure = _figure(width, height)
    return figure, figure.subplots()


def _figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _svg(figure: Figure) -> str:
    """Return the drawing without an XML declaration, so that it can be part of a page."""
    buffer = io.StringIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of missing glyphs: the reader's browser has other fonts
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]
