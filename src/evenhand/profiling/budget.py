"""How many rows of each benchmark fit into a budget of time, by what a plan measured."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

FULL = "full"
FEWEST_ROWS = 6  # of fewer clusters no test can reject anything
_TIME = re.compile(r"(\d+)(s|m|h)")
_SECONDS = {"s": 1, "m": 60, "h": 3600}


def budget(text: str) -> float:
    """Seconds for one model; infinite for "full". Raises ValueError."""
    if text == FULL:
        return math.inf
    found = _TIME.fullmatch(text)
    if not found or not int(found[1]):
        raise ValueError(f"expected a time like 10m or 1h, or {FULL}; got {text!r}")
    return float(int(found[1]) * _SECONDS[found[2]])


@dataclass(frozen=True)
class Cost:
    """What a whole run would take: its rows, how often each is asked, and seconds in all."""

    rows: int
    runs: int
    seconds: float

    @property
    def a_row(self) -> float:
        """Seconds of one, asked once."""
        return self.seconds / (self.rows * self.runs)

    def limit(self, seconds: float) -> int | None:
        """Rows that fit into so many seconds, asked once each; None: all, as often as by default."""
        return None if self.seconds <= seconds else min(self.rows, math.floor(seconds / self.a_row))


def limits(costs: Mapping[str, Cost], seconds: float) -> dict[str, int | None]:
    """{benchmark: rows, None for all}: each has an equal share of the time; what one leaves over, the others have.

    0: so few rows fit that they would say nothing, and the time is the others'. Those with the dearest rows go first.
    """
    found = _shared(costs, seconds)
    few = [name for name, rows in found.items() if rows is not None and rows < FEWEST_ROWS]
    if not few:
        return found
    dearest = max(few, key=lambda name: costs[name].a_row)
    return limits({name: cost for name, cost in costs.items() if name != dearest}, seconds) | {dearest: 0}


def _shared(costs: Mapping[str, Cost], seconds: float) -> dict[str, int | None]:
    found: dict[str, int | None] = {}
    left = seconds
    for place, name in enumerate(sorted(costs, key=lambda name: costs[name].seconds)):
        share = left / (len(costs) - place)
        found[name] = costs[name].limit(share)
        left -= min(share, costs[name].seconds)
    return found
