"""Drawings for reports: SVG text, the same bytes for the same numbers."""

from __future__ import annotations

import io
import math
import textwrap
import warnings
from collections.abc import Iterable, Mapping, Sequence

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from evenhand.words import in_words

_COLORS = ("#8a8f98", "#2a9d8f", "#c8553d", "#3d5a80", "#b08900", "#7b4b94")
_MARKS = "osD^vP"
_STYLE = {
    "svg.hashsalt": "evenhand",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.parse_math": False,  # a "$" in a name is a "$"
}
MOST_UPRIGHT = 3  # groups of bars side by side
LETTERS_AN_INCH = 10.4  # of 9 points
WIDE, WIDEST = 5.4, 7.6  # inches: what a phone shows at two thirds is still read
_LONGEST = 80  # characters of a label
_ON_COLOR = "#010101"  # text within coloured cells: unlike black text, a page's dark theme leaves it as it is
Interval = Sequence[float | None]


def grouped_bars(
    values: Mapping[str, Mapping[str, tuple[float, Interval]]],
    unit: str,
    reference: tuple[float, str],
    limits: tuple[float, float] = (0, 100),
    marks: Mapping[str, Mapping[str, float]] | None = None,
) -> str:
    """{group: {bar: (value, interval)}} as bars with error bars, and a dashed line at (value, label).

    Few groups stand side by side, more lie one under another: a phone is narrow. marks: {group: {bar: value}}, a black
    line across a bar.
    """
    with matplotlib.rc_context(_STYLE):
        groups, bars = list(values), list(dict.fromkeys(bar for group in values.values() for bar in group))
        upright = len(groups) <= MOST_UPRIGHT
        names = [_folded(group, 16 if upright else 24) for group in groups]
        folds = sum(max(0.16 * len(bars) + 0.16, 0.17 * (1 + name.count("\n"))) for name in names)
        width, height = (1.4 + 1.3 * len(groups), 3.2) if upright else (WIDE, 1.1 + folds)
        columns = _legend_columns(bars, width)
        size = (width, height + 0.2 * math.ceil(len(bars) / columns))
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots()
        thick = 0.8 / len(bars)
        for k, bar in enumerate(bars):
            color = _COLORS[k % len(_COLORS)]
            places, heights = [], []
            for g, group in enumerate(groups):
                place = g + (k - (len(bars) - 1) / 2) * thick
                value, interval = values[group].get(bar, (math.nan, ()))
                if value is not None and not math.isnan(value):
                    places.append(place)
                    heights.append(value)
                    _whisker(axes, place, interval, upright)
                mark = (marks or {}).get(group, {}).get(bar)
                if mark is not None:
                    across = axes.hlines if upright else axes.vlines
                    across(mark, place - thick / 2, place + thick / 2, color="black", linewidth=2.5)
            draw = axes.bar if upright else axes.barh
            draw(places, heights, thick * 0.92, label=_label(bar), color=color)
        _reference(axes, reference, upright)
        if upright:
            axes.set_xticks(range(len(groups)), names)
            axes.set_ylabel(_label(unit))
            axes.set_ylim(*limits)
        else:
            axes.set_yticks(range(len(groups)), names)
            axes.set_ylim(len(groups) - 0.5, -0.5)  # the first on top
            axes.tick_params(axis="y", length=0)
            axes.set_xlabel(_label(unit))
            axes.set_xlim(*limits)
        if len(bars) > 1:
            figure.legend(frameon=False, fontsize=9, loc="outside lower center", ncols=columns)
        return _svg(figure)


def _legend_columns(names: Sequence[str], width: float) -> int:
    """Of a legend that is no wider than so many inches."""
    longest = max((len(_label(name)) for name in names), default=0)
    return max(1, min(len(names), int(width * LETTERS_AN_INCH) // (longest + 6)))


def _whisker(axes: Axes, place: float, interval: Interval, upright: bool) -> None:
    """Without an interval no cap, which would look like certainty."""
    ends = [end for end in interval if end is not None and not math.isnan(end)]
    if len(ends) == 2:
        middle, half = sum(ends) / 2, (ends[1] - ends[0]) / 2
        across, up = (place, middle) if upright else (middle, place)
        axes.errorbar(
            across, up, half if upright else None, None if upright else half, fmt="none", ecolor="#222", elinewidth=1,
            capsize=3,
        )  # fmt: skip


def _reference(axes: Axes, reference: tuple[float, str], upright: bool) -> None:
    """A dashed line, and its name at its end, outside of what is drawn."""
    value, name = reference[0], _label(reference[1])
    if upright:
        axes.axhline(value, linestyle="--", linewidth=1, color="#444")
        axes.annotate(name, (1, value), (3, 0), ("axes fraction", "data"), "offset points", va="center", fontsize=9)
    else:
        axes.axvline(value, linestyle="--", linewidth=1, color="#444")
        axes.annotate(name, (value, 1), (0, 3), ("data", "axes fraction"), "offset points", ha="center", fontsize=9)


def lines(panels: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]], x: str) -> str:
    """{panel: {line: [(x, y)]}}, panels one under another over one x axis; a line of few points shows them."""
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(WIDE, 0.6 + 2.0 * len(panels)), layout="constrained")
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
    """{group: [(x, y, interval of y)]}, a colour and a mark for each group; what has no number is left out."""
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(WIDE, 3.8), layout="constrained")
        axes = figure.subplots()
        for k, (name, some) in enumerate(values.items()):
            color, known = _COLORS[k % len(_COLORS)], [each for each in some if _finite(*each[:2])]
            if not known:
                continue
            where, heights = [each[0] for each in known], [each[1] for each in known]
            mark = _MARKS[k % len(_MARKS)]
            axes.plot(where, heights, mark, color=color, markersize=6, label=_label(name))
            for at, _, interval in known:
                ends = [end for end in interval if end is not None and _finite(end)]
                if len(ends) == 2:
                    axes.vlines(at, *ends, color=color, linewidth=1)
        axes.set_xlabel(_label(x))
        axes.set_ylabel(_label(y))
        axes.legend(frameon=False, fontsize=8)
        return _svg(figure)


def differences(values: Mapping[str, tuple[float, Interval, bool]], unit: str) -> str:
    """{figure: (difference, its interval, whether it differs from 0)}, one under another; a line stands at 0.

    What differs is coloured and filled, what is tied is grey and hollow.
    """
    with matplotlib.rc_context(_STYLE):
        names = [_folded(name, 26) for name in values]
        folds = sum(0.14 + 0.16 * (1 + name.count("\n")) for name in names)
        figure = Figure(figsize=(WIDE, 0.9 + folds), layout="constrained")
        axes = figure.subplots()
        for place, (value, interval, differs) in enumerate(values.values()):
            color = _COLORS[3] if differs else _COLORS[0]
            ends = [end for end in interval if end is not None and _finite(end)]
            if len(ends) == 2:
                axes.hlines(place, *ends, color=color, linewidth=2)
            if _finite(value):
                axes.plot(value, place, "o", color=color, markersize=6, markerfacecolor=color if differs else "white")
        axes.axvline(0, linestyle="--", linewidth=1, color="#444")
        axes.set_yticks(range(len(values)), names)
        axes.set_ylim(len(values) - 0.5, -0.5)  # the first on top
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel(_label(unit))
        return _svg(figure)


def _finite(*numbers: float | None) -> bool:
    return all(each is not None and math.isfinite(each) for each in numbers)


def heatmap(values: Mapping[str, Mapping[str, float]], unit: str) -> str:
    """{row: {column: percent}} as a colored grid with its numbers; cells without data stay empty."""
    with matplotlib.rc_context(_STYLE):
        rows, columns = list(values), list(dict.fromkeys(column for row in values.values() for column in row))
        grid = [[_number(values[row].get(column)) for column in columns] for row in rows]
        figure = Figure(figsize=(1.9 + 0.7 * max(3, len(columns)), 1.6 + 0.28 * len(rows)), layout="constrained")
        axes = figure.subplots()
        image = _grid(axes, grid)
        axes.set_xticks(range(len(columns)), [_folded(column, 11) for column in columns], fontsize=9)
        axes.set_yticks(range(len(rows)), _labels(rows))
        _scale(figure, image, axes, unit)
        return _svg(figure)


def heatmaps(matrices: Mapping[str, Mapping[str, Mapping[str, float]]], unit: str, x: str = "", y: str = "") -> str:
    """{name: {row: {column: percent}}} as small grids beside one another, each with its numbers. x, y: of the axes.

    Grids of the same rows name them once a line.
    """
    with matplotlib.rc_context(_STYLE):
        longest = max(len(each) for each in matrices.values())
        labels = 0.075 * max(len(in_words(row)) for each in matrices.values() for row in each)
        columns_of = [column for each in matrices.values() for row in each.values() for column in row]
        once = len({tuple(each) for each in matrices.values()}) == 1
        wide = 0.6 * len(dict.fromkeys(columns_of)) + 0.3 + (0 if once else labels)  # inches of a grid
        a_row = max(1, min(4, len(matrices), int((WIDEST - once * labels) / wide)))
        n_rows = -(-len(matrices) // a_row)
        size = (wide * a_row + once * labels, max(2.2, 0.9 + 0.2 * longest) * n_rows + 0.6)
        figure = Figure(figsize=size, layout="constrained")
        places = figure.subplots(n_rows, a_row, squeeze=False).ravel()
        for axes in places[len(matrices) :]:
            axes.set_axis_off()
        for k, (axes, (name, values)) in enumerate(zip(places, matrices.items())):
            rows, columns = list(values), list(dict.fromkeys(column for row in values.values() for column in row))
            image = _grid(axes, [[_number(values[row].get(column)) for column in columns] for row in rows])
            first = k % a_row == 0 or not once
            axes.set_title(_folded(name, int(wide / 0.085)), fontsize=10)
            axes.set_xticks(range(len(columns)), [_folded(column, 11) for column in columns], fontsize=8)
            axes.set_yticks(range(len(rows)), _labels(rows) if first else [""] * len(rows), fontsize=8)
            axes.set_xlabel(x, fontsize=8)
            axes.set_ylabel(y if first else "", fontsize=8)
        _scale(figure, image, list(places), unit)
        return _svg(figure)


def _scale(figure: Figure, image: AxesImage, axes: Axes | list[Axes], unit: str) -> None:
    """Of the colours, below: beside the grid it would make a drawing wider than a phone."""
    figure.colorbar(image, ax=axes, label=_label(unit), location="bottom", shrink=0.7, aspect=30)


def _grid(axes: Axes, grid: Sequence[Sequence[float]]) -> AxesImage:
    """Colored cells with their numbers; those without data stay empty."""
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


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _label(text: str) -> str:
    """What stands for anybody's text in a drawing: some lines of printable characters.

    Matplotlib fails on half a surrogate pair, XML on control characters; a label that begins with "_" stays out of
    legends.
    """
    printable = "".join(char if char.isprintable() or char == "\n" else "\N{REPLACEMENT CHARACTER}" for char in text)
    printable = in_words(printable)
    shown = printable if len(printable) <= _LONGEST else printable[: _LONGEST - 1] + "…"
    return f" {shown}" if not shown or shown.startswith("_") else shown


def _folded(text: str, width: int) -> str:
    """A label in lines of so many characters at most, so that it does not run into the next one's."""
    return "\n".join(textwrap.wrap(_label(text), max(8, width))) or _label(text)


def _labels(texts: Iterable[str]) -> list[str]:
    return [_label(text) for text in texts]


def _svg(figure: Figure) -> str:
    """The drawing itself, without the XML declaration, so that it can stand in a page."""
    buffer = io.StringIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of glyphs: whoever shows the page has other fonts
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]
