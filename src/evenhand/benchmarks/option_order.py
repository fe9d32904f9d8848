"""Two options, listed in one order or in both: how they are asked about, and which is likelier."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

from evenhand.errors import UsageError
from evenhand.figure import Columns, Figure
from evenhand.flow.configuration import RunConfig
from evenhand.models.request import FinishReason, Reply
from evenhand.options import option
from evenhand.report.layout import Column, Grid
from evenhand.statistics.estimators import Mean, Share

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class OptionOrder:
    """Of benchmarks whose questions name two options."""

    order: Literal["paper", "balanced"] = option("paper", "of the options; balanced: asked in both, averaged")
    aggregate: Literal["mean", "sum"] = option("mean", "of the log-probabilities of an option's tokens")

    @property
    def swaps(self) -> tuple[bool, ...]:
        """Whether the options are listed swapped, for each request about one question."""
        return (False, True) if self.order == "balanced" else (False,)


O = TypeVar("O", bound=OptionOrder)  # noqa: E741


def check_option_order(config: RunConfig[O]) -> None:
    """Raises UsageError for a filled configuration whose protocol is none, or does not fit its options or runs."""
    if config.protocol not in ("choose", "generate"):
        raise UsageError(f"{config.benchmark} scores or generates answers: expected --protocol choose or generate")
    if config.n_runs > 1 and not (config.protocol == "generate" and config.temperature):
        raise UsageError("--runs above 1 needs answers that differ: --protocol generate with a --temperature above 0")
    if config.options.order == "balanced" and config.protocol == "generate":
        raise UsageError("--order balanced averages probabilities, so it needs --protocol choose; generate has none")
    if config.options.aggregate != "mean" and config.protocol == "generate":
        raise UsageError(
            f"--aggregate {config.options.aggregate} is of the options' log-probabilities, so it needs --protocol "
            "choose; generate has none"
        )


def unlike_in_options(options: OptionOrder) -> tuple[str, ...]:
    """In which of these options a run is not as the papers, in words."""
    return (
        *([] if options.order == "paper" else [f"option order {options.order}"]),
        *([] if options.aggregate == "mean" else ["log-probabilities summed, not averaged"]),
    )


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
        """Over all orders asked; NaN where one is not known."""
        return self.listed if self.swapped is None else (self.listed + self.swapped) / 2

    def chosen(self, options: Sequence[str]) -> tuple[str | None, float | None]:
        """The likelier option and its probability; None for both where they are equally likely, or not known."""
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


def finish_reason(replies: Sequence[Reply]) -> FinishReason:
    """Of replies about one question: why the first of them failed, else how it ended."""
    return next((reply for reply in replies if reply.failed), replies[0]).finish_reason


def _first_probability(reply: Reply, aggregate: str) -> float:
    """From each option's mean (or summed) log-probability a token; NaN where neither has any, or the request failed."""
    if reply.failed:
        return math.nan
    first, second = (sum(tokens) / (len(tokens) if aggregate == "mean" else 1) for tokens in reply.choice_log_probs)
    difference = second - first
    return 0.0 if difference >= 700 else 1 / (1 + math.exp(difference))  # NaN stays NaN


def _share_above_half(probability: float) -> float:
    """1 when an option was preferred, 0 when the other was, a half for neither, NaN where it isn't known."""
    return probability if math.isnan(probability) else 0.5 if probability == 0.5 else float(probability > 0.5)


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
