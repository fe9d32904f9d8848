"""Figures outside their own interval, and more answers read than came: nothing that evenhand measured is like that.

Every interval that a metric gives holds its figure (also where noise is taken out), so such results were changed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

_ROUNDING = 1e-6


def contradictions(metrics: Any, name: str = "metrics") -> Iterator[str]:
    """ "metrics.biased_percentage.overall is 1.0, and its own interval [39.7, 54.9]", of results.json's metrics."""
    if isinstance(metrics, list):
        for place, each in enumerate(metrics):
            yield from contradictions(each, f"{name}[{place}]")
    if not isinstance(metrics, Mapping):
        return
    counts: list[Any] = [metrics.get("n"), metrics.get("n_read")]
    if all(map(_is_number, counts)) and counts[1] > counts[0]:
        yield f"{name}.n_read is {counts[1]}, of {counts[0]} answers"
    yield from _outside(metrics.get("intervals"), metrics, name)
    for key, each in metrics.items():
        if key != "intervals":
            yield from contradictions(each, f"{name}.{key}")


def _outside(intervals: Any, figures: Any, name: str) -> Iterator[str]:
    """Intervals are nested as their figures are."""
    if isinstance(intervals, Mapping):
        for key, each in intervals.items():
            yield from _outside(each, figures.get(key) if isinstance(figures, Mapping) else None, f"{name}.{key}")
    elif isinstance(intervals, list) and len(intervals) == 2 and all(map(_is_number, (*intervals, figures))):
        low, high = intervals
        least = _ROUNDING * max(1.0, abs(figures))
        if not low - least <= figures <= high + least:
            yield f"{name} is {figures}, and its own interval [{low}, {high}]"


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
