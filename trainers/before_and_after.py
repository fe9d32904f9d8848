"""What was measured before the first step of a training and after the last, from its record; light to import."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def before_and_after(measured: Sequence[Mapping[str, float]]) -> list[tuple[str, str, str]]:
    """Of a record's `measured`: name, before the first step, after the last; percentages to one digit."""
    if len(measured) < 2:
        return []
    first, last = measured[0], measured[-1]
    return [
        (name, f"{first[name]:.{digits}f}", f"{last[name]:.{digits}f}")
        for name in first
        if name != "step" and name in last
        for digits in [1 if name.endswith("%") else 2]
    ]
