"""What was measured before the first step of a training and after the last, from its record; light to import."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence


def before_and_after(measured: Sequence[Mapping[str, float]]) -> list[tuple[str, str, str]]:
    """Of a record's `measured`: name, before the first step, after the last; percentages to one digit.

    "no data" of what is no number.
    """
    if len(measured) < 2:
        return []
    first, last = measured[0], measured[-1]
    return [
        (name, _shown(first[name], digits), _shown(last[name], digits))
        for name in first
        if name != "step" and name in last
        for digits in [1 if name.endswith("%") else 2]
    ]


def _shown(value: float | None, digits: int) -> str:
    return "no data" if value is None or not math.isfinite(value) else f"{value:.{digits}f}"
