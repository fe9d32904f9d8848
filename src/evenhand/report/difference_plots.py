"""The headline differences of a comparison, drawn: those of one scale on one axis."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from evenhand.report.findings import Plot
from evenhand.report.plots import differences as drawn
from evenhand.statistics.clustered import Difference

if TYPE_CHECKING:
    from evenhand.benchmark import Comparison

MOST = 40  # figures in a drawing; the table has all


def difference_plots(
    headline: Mapping[str, Difference], prefixes: Sequence[str], compared: Comparison
) -> tuple[Plot, ...]:
    """prefixes: before figures' names, such as "B minus A: ". Figures of which nothing is known are left out."""
    by_scale: dict[float, dict[str, Difference]] = {}
    for name, each in headline.items():
        if math.isfinite(each.estimate):
            by_scale.setdefault(_scale(name, each, prefixes, compared), {})[name] = each
    return tuple(_plot(figures, len(by_scale) > 1) for figures in by_scale.values())


def _scale(name: str, each: Difference, prefixes: Sequence[str], compared: Comparison) -> float:
    """The figure's span, where it is known; else its order of magnitude, negative so that the two don't meet."""
    prefix = next((prefix for prefix in prefixes if prefix and name.startswith(prefix)), "")
    judged = compared.judged(name.removeprefix(prefix))
    if judged and judged.span is not None and not judged.logarithm:
        return judged.span
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
