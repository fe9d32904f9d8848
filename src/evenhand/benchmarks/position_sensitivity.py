"""What the order of two options in the prompt decides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from evenhand.report.tables import Cell, Table, figure
from evenhand.statistics.clustered import clustered_mean


def order_figures(
    first_listed_share: pd.Series, listed: pd.Series, swapped: pd.Series, clusters: pd.Series
) -> dict[str, Any]:
    """Of columns (n,) of prompts that were asked in both orders; NaN: not known, and left out.

    position_sensitivity: share of answers that name the option listed first, minus one half; 0 is best. changed: the
    share of prompts whose answer the order changes. listed, swapped: probability of the same option in either order.
    """
    mean = clustered_mean(first_listed_share - 0.5, clusters, (-0.5, 0.5))
    agreement = ((listed - 0.5) * (swapped - 0.5)).dropna()
    return {
        "position_sensitivity": mean.estimate,
        "interval": [mean.low, mean.high],
        "n": mean.n,
        "changed": float((agreement < 0).mean()),
    }


def order_table(order: Mapping[str, Any], by: str) -> Table:
    """A row for each name in {name: order_figures(…)}; by: what the names are values of."""
    rows = tuple(
        tuple(map(Cell, (name, figure(*_in_points(each)), figure(_percent(each["changed"])), f"{each['n']:,}")))
        for name, each in order.items()
    )
    note = "Position sensitivity: share of answers that name the option listed first, minus one half, in points; 0 is "
    note += "best. Brackets: 95 % interval. The other figures average both orders."
    columns = (by, "position sensitivity", "answers that the order changes, %", "n")
    return Table("Order of the options", columns, rows, note)


def _in_points(of: Mapping[str, Any]) -> tuple[float | None, list[float | None]]:
    return _percent(of["position_sensitivity"]), [_percent(end) for end in of["interval"]]


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share
