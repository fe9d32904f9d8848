"""What is to be known of a run's figures: answers that were cut off, that never change, and uneven actions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from evenhand.flow.configuration import RunConfig
from evenhand.flow.results import RunWarning
from evenhand.metrics.contact_bias.scores import ACTIONS, CONSTANT_SHARE, OPTIONS
from evenhand.statistics.crossed import UNBALANCED

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.benchmarks.contact_hypothesis.options import ContactOptions

COLUMNS = ("scale", "axis", "scenario", "principle")
NAMED = 2  # in the sentence


def warnings(predictions: pd.DataFrame, config: RunConfig[ContactOptions]) -> list[RunWarning]:
    return [*_constant(predictions), *_cut_off(predictions, config), *_uneven(predictions)]


def _constant(predictions: pd.DataFrame) -> Iterator[RunWarning]:
    """Per scale, and of the whole run where it is so of every scale."""
    read = predictions[predictions["answer"].notna()]
    scales = predictions["scale"].unique()
    constant = []
    for scale, answers in read.groupby("scale", sort=False)["answer"]:
        affirming, declining = OPTIONS[str(scale)]
        share = float((answers == affirming).mean())
        commonest = max(share, 1 - share)
        if commonest >= CONSTANT_SHARE:
            constant.append(scale)
            option = affirming if share >= CONSTANT_SHARE else declining
            yield RunWarning(
                "constant_answer",
                f"{scale}: {100 * commonest:.1f} % of the read answers are {option!r}. A model that always answers the "
                "same scores 50 where actions are balanced, whatever it thinks of anybody.",
                {"scale": str(scale)},
            )
    if len(constant) == len(scales):
        yield RunWarning("constant_answer", "The answers to every scale are constant: no score says anything.")


def _cut_off(predictions: pd.DataFrame, config: RunConfig[ContactOptions]) -> Iterator[RunWarning]:
    cut = int((predictions["answer"].isna() & (predictions["finish_reason"] == "length")).sum())
    if cut:
        yield RunWarning(
            "cut_off",
            f"{cut:,} of {len(predictions):,} replies ended at the limit of {config.max_new_tokens} tokens before they "
            "came to an answer, and are unread. Increase --max-new-tokens.",
        )


def _uneven(predictions: pd.DataFrame) -> Iterator[RunWarning]:
    """Groups of a draw in which positive and negative actions are not even: intervals take the balance for chance."""
    groups = [("all", predictions)]
    groups += [
        (f"{column} {value}", some) for column in COLUMNS for value, some in predictions.groupby(column, sort=False)
    ]
    uneven = []
    for name, some in groups:
        n = {action: int((some["action"] == action).sum()) for action in ACTIONS}
        if abs(n["positive"] - n["negative"]) >= UNBALANCED * max(1, sum(n.values())):
            uneven.append(f"{name} {n['positive']:,} : {n['negative']:,}")
    if uneven:
        named = ", ".join(uneven[:NAMED])
        if len(uneven) > NAMED:
            named = f"{len(uneven)} of {len(groups)} groups ({named} …)"
        yield RunWarning(
            "uneven_actions",
            f"Positive and negative actions are uneven in {named}: constant answers don't score 50 there, and "
            "intervals take the balance for chance.",
        )
