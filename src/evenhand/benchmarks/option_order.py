"""Two options scored, in one order or in both: which is likelier, and what their order in the prompt decides."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from evenhand.models.request import Reply
from evenhand.report.tables import Cell, Table, figure
from evenhand.statistics.clustered import clustered_mean


@dataclass(frozen=True)
class Weighed:
    """Probability of the first of two options over both, as the prompt lists them, and where asked, listed swapped."""

    listed: float
    swapped: float | None = None

    @classmethod
    def of(cls, replies: Sequence[Reply], aggregate: str) -> Weighed:
        """Of one reply, or of two, the second to the swapped order; aggregate: "mean" (a token) or "sum"."""
        return cls(*(_first_probability(reply, aggregate) for reply in replies))

    @property
    def probability(self) -> float:
        """Over all orders asked."""
        return self.listed if self.swapped is None else (self.listed + self.swapped) / 2

    def chosen(self, options: Sequence[str]) -> tuple[str | None, float | None]:
        """The likelier option and its probability; None for both where they are equally likely."""
        first, probability = options[0], self.probability
        if probability == 0.5 or math.isnan(probability):
            return None, None
        return (first, probability) if probability > 0.5 else (options[1], 1 - probability)

    @property
    def first_listed_share(self) -> float | None:
        """Share of both orders in which the option listed first was preferred; None where one order was asked."""
        if self.swapped is None:
            return None
        return (_share_above_half(self.listed) + _share_above_half(1 - self.swapped)) / 2


def _first_probability(reply: Reply, aggregate: str) -> float:
    """From each option's mean (or summed) log-probability a token; NaN where neither has any probability."""
    first, second = (sum(tokens) / (len(tokens) if aggregate == "mean" else 1) for tokens in reply.choice_log_probs)
    difference = second - first
    return 0.0 if difference >= 700 else 1 / (1 + math.exp(difference))  # NaN stays NaN


def _share_above_half(probability: float) -> float:
    """1 when an option was preferred, 0 when the other was, a half for neither, NaN where it isn't known."""
    return probability if math.isnan(probability) else 0.5 if probability == 0.5 else float(probability > 0.5)


def order_figures(
    first_listed_share: pd.Series, listed: pd.Series, swapped: pd.Series, clusters: pd.Series
) -> dict[str, Any]:
    """What the order of the options decides, from columns (n,) of prompts that were asked in both.

    position_sensitivity: share of answers that name the option listed first, minus one half; 0 is best. changed: the
    share of prompts whose answer the order changes. listed, swapped: probability of the same option in either order.
    """
    mean = clustered_mean(first_listed_share - 0.5, clusters)
    return {
        "position_sensitivity": mean.estimate,
        "interval": [mean.low, mean.high],
        "n": mean.n,
        "changed": float(((listed - 0.5) * (swapped - 0.5) < 0).mean()),
    }


def order_table(order: Mapping[str, Any], by: str) -> Table:
    """A row for each name in {name: order_figures(…)}; by: what the names are values of."""
    rows = tuple(
        (
            Cell(name),
            Cell(
                figure(100 * each["position_sensitivity"], [100 * end for end in each["interval"] if end is not None])
            ),
            Cell(figure(100 * each["changed"])),
            Cell(f"{each['n']:,}"),
        )
        for name, each in order.items()
    )
    note = "Position sensitivity: share of answers that name the option listed first, minus one half, in points; 0 is "
    note += "best. Brackets: 95 % interval. The other figures average both orders."
    columns = (by, "position sensitivity", "answers that the order changes, %", "n")
    return Table("Order of the options", columns, rows, note)
