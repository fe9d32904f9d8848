"""Groups of a draw in which positive and negative actions are not even: shown beside their figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.statistics.crossed import UNBALANCED

COLUMNS = ("scale", "axis", "scenario", "principle")
NAMED = 2  # in the sentence; the tables have all
MEANS = "a constant answer doesn't score 50 there, and intervals take the balance for chance"


def actions(group: Mapping[str, Any]) -> str:
    """How many prompts with positive and with negative actions were asked; "" for a run of an older release."""
    n = group.get("n_by_action")
    return f"{n['positive']:,} : {n['negative']:,}" if n else ""


def is_uneven(group: Mapping[str, Any]) -> bool:
    """From this on, the metric's intervals no longer take the balance as given."""
    n: Mapping[str, int] = group.get("n_by_action") or {"positive": 0, "negative": 0}
    return abs(n["positive"] - n["negative"]) >= UNBALANCED * max(1, sum(n.values()))


def notes(metrics: Mapping[str, Any]) -> list[str]:
    """A sentence that names uneven groups, where there are any."""
    groups = [(f"{column} {value}", of) for column in COLUMNS for value, of in metrics["by"][column].items()]
    groups = [("all", metrics), *groups]
    uneven = [f"{name} {actions(of)}" for name, of in groups if is_uneven(of)]
    if not uneven:
        return []
    named = ", ".join(uneven[:NAMED])
    if len(uneven) > NAMED:
        named = f"{len(uneven)} of {len(groups)} groups ({named} …, as the tables show)"
    return [f"positive and negative actions are uneven in {named}: {MEANS}"]
