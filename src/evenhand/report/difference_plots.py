"""The headline differences of a comparison, drawn: those of one scale on one axis."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from evenhand.figure import Figure
from evenhand.report.findings import Plot
from evenhand.report.plots import differences as drawn
from evenhand.statistics.clustered import Difference

if TYPE_CHECKING:
    from evenhand.benchmark import Benchmark
    from evenhand.report.comparison import Pair
    from evenhand.report.differences import FigureKey

MOST = 40  # figures in a drawing; the table has all


def difference_plots(
    benchmark: Benchmark[Any], headline: Mapping[tuple[Pair, FigureKey], Difference]
) -> tuple[Plot, ...]:
    """Figures of which nothing is known are left out."""
    by_scale: dict[float, dict[str, Difference]] = {}
    for (pair, key), each in headline.items():
        if math.isfinite(each.estimate):
            scale = _scale(each, benchmark.figure(key.figure))
            by_scale.setdefault(scale, {})[f"{pair.name}{key.label}"] = each
    return tuple(_plot(figures, len(by_scale) > 1) for figures in by_scale.values())


def _scale(each: Difference, figure: Figure) -> float:
    """The figure's span, where it is known; else its order of magnitude, negative so that the two don't meet."""
    if figure.span is not None and not figure.logarithm:
        return figure.span
    largest = max((abs(end) for end in (each.estimate, each.low, each.high) if math.isfinite(end)), default=0)
    return -(10.0 ** math.ceil(math.log10(largest))) if largest else 0.0


def _plot(figures: Mapping[str, Difference], several: bool) -> Plot:
    shown = dict(list(figures.items())[:MOST])
    title = "Headline differences" + (f": {next(iter(shown))}" if several else "")
    title += f" and {len(figures) - 1} more" if several and len(figures) > 1 else ""
    note = "Lines: 95 % intervals, paired. Filled: different by itself; hollow: tied, or unclear."
    if len(shown) < len(figures):
        note += f" The first {MOST} of {len(figures)}; the table has all."
    values = {name: (each.estimate, (each.low, each.high), each.differs) for name, each in shown.items()}
    return Plot(title, partial(drawn, values, "difference, in the figure's own unit"), note)
