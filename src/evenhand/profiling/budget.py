"""How many rows of each benchmark fit into a budget of time, by what a plan measured."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

FULL = "full"
_TIME = re.compile(r"(\d+)(s|m|h)")
_SECONDS = {"s": 1, "m": 60, "h": 3600}


def budget(text: str) -> float:
    """Seconds for one model; infinite for "full". Raises ValueError."""
    if text == FULL:
        return math.inf
    found = _TIME.fullmatch(text)
    if not found or not int(found[1]):
        raise ValueError(f"{text!r} came; a time like 10m or 1h is accepted, or {FULL}")
    return float(int(found[1]) * _SECONDS[found[2]])


@dataclass(frozen=True)
class Cost:
    """What a whole run would take: its rows, how often each is asked, and seconds in all."""

    rows: int
    runs: int
    seconds: float

    def limit(self, seconds: float) -> int | None:
        """Rows that fit into so many seconds, asked once each, one in any case; None: all, as often as by default."""
        if self.seconds <= seconds:
            return None
        a_row = self.seconds / (self.rows * self.runs)
        return min(self.rows, max(1, math.floor(seconds / a_row)))


def dearer(one: Cost, other: Cost) -> Cost:
    """Of two models asked the same rows, the slower one's."""
    return max(one, other, key=lambda cost: cost.seconds)


def limits(costs: Mapping[str, Cost], seconds: float) -> dict[str, int | None]:
    """{benchmark: rows, None for all}: each has an equal share of the time; what one leaves over, the others have."""
    found: dict[str, int | None] = {}
    left = seconds
    for place, name in enumerate(sorted(costs, key=lambda name: costs[name].seconds)):
        share = left / (len(costs) - place)
        found[name] = costs[name].limit(share)
        left -= min(share, costs[name].seconds)
    return {name: found[name] for name in costs}
