"""What the order of two options in the prompt decides, of questions that were asked in both orders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.figure import Columns, Figure
from evenhand.report.layout import Column, Grid
from evenhand.statistics.estimators import Mean, Share

if TYPE_CHECKING:
    import pandas as pd


def order_figures(*by: Columns) -> tuple[Figure, ...]:
    """Of columns that `with_order_effects` adds; left out where one order was asked."""
    position = Mean("position", (-50.0, 50.0), 100.0, crossed=False)
    return (
        Figure(
            "position_sensitivity", "position sensitivity", position, unit="points", best="zero", chance=0.0, by=by,
            description="share of answers that name the option listed first, minus one half",
        ),
        Figure("order_changes", "answers that the order changes", Share("order_changes", crossed=False),
               unit="percent", by=by),
    )  # fmt: skip


def order_grid(by: str) -> Grid:
    columns = (
        Column("position sensitivity", "position_sensitivity", signed=True),
        Column("answers that the order changes, %", "order_changes"),
        Column("n", "position_sensitivity", show="n_read"),
    )
    note = "Position sensitivity: share of answers that name the option listed first, minus one half, in points."
    return Grid("Order of the options", (by,), columns, note, overall=True)


def with_order_effects(predictions: pd.DataFrame, listed: str, swapped: str) -> pd.DataFrame:
    """listed, swapped: columns with the probability of the same option in either order; NaN where it isn't known."""
    if "first_listed_share" not in predictions:
        return predictions
    agreement = (predictions[listed].astype(float) - 0.5) * (predictions[swapped].astype(float) - 0.5)
    changes = (agreement < 0).astype(float).where(agreement.notna())
    return predictions.assign(position=predictions["first_listed_share"].astype(float) - 0.5, order_changes=changes)
