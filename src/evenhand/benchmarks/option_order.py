"""Two options, listed in one order or in both: how they are asked about, and which is likelier."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from evenhand.errors import UsageError
from evenhand.flow.configuration import RunConfig
from evenhand.models.request import FinishReason, Reply
from evenhand.options import option


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
        raise UsageError(f"{config.benchmark} scores or generates answers: --protocol choose or generate is accepted")
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
