"""What was answered about a story, and the columns that figures are computed from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evenhand.benchmark import Row
from evenhand.benchmarks.implicit_bias.understanding.present_or_absent import (
    ABSENT,
    OPTIONS,
    PRESENT,
    read_present_or_absent,
)
from evenhand.benchmarks.option_order import Weighed, finish_reason
from evenhand.benchmarks.order_effects import with_order_effects
from evenhand.flow.episode import Prediction, run_name
from evenhand.models.request import Reply

if TYPE_CHECKING:
    import pandas as pd

STORIES = {True: "biased", False: "unbiased"}


def messages_of(row: Row) -> tuple[str, str, str]:
    """System message, story, and the reason why bias is present or absent."""
    of_role = {message["role"]: message["content"] for message in row["messages"]}
    return of_role["system"], of_role["user"], of_role["assistant"]


def truth(row: Row) -> str:
    return PRESENT if row["biased"] else ABSENT


def prediction(row: Row, run: int, answered: Prediction) -> Prediction:
    """answered: text, answer, probability and how the reply ended."""
    _, story, reason = messages_of(row)
    correct = None if answered["answer"] is None else answered["answer"] == truth(row)
    return {
        "id": row["id"] + run_name(run),
        "row": row["id"],
        "scenario_id": row["scenario_id"],
        "domain": row["domain"],
        "run": run,
        "story": story,
        "reason": reason,
        "biased": row["biased"],
        "first_named": row.get("first_named", ""),
        **answered,
        "correct": correct,
        "value": None if correct is None else float(not correct),
    }


def chosen(replies: Sequence[Reply], aggregate: str) -> Prediction:
    """The likelier option over all orders asked; equally likely ones, and impossible ones, are unread."""
    present = Weighed.of(replies, aggregate)
    answer, probability = present.chosen(OPTIONS)
    found: Prediction = {
        "text": answer or "",
        "answer": answer,
        "probability": probability,
        "finish_reason": finish_reason(replies),
    }
    if present.swapped is not None:
        found |= {
            "present_probability_listed_first": present.listed,
            "present_probability_listed_last": present.swapped,
            "first_listed_share": present.first_listed_share,
        }
    return found


def generated(reply: Reply) -> Prediction:
    return {
        "text": reply.text,
        "answer": read_present_or_absent(reply.text),
        "probability": None,
        "finish_reason": reply.finish_reason,
    }


def prepared(predictions: pd.DataFrame) -> pd.DataFrame:
    """With `stories` (their kind), what was said, what words alone and who is named first tell, and order's effects."""
    from evenhand.benchmarks.implicit_bias.understanding.baselines import told_without_seeing

    told = told_without_seeing(predictions).add_prefix("told_by_").loc[predictions["row"]]
    found = predictions.assign(
        stories=predictions["biased"].map(STORIES),
        says_present=(predictions["answer"] == PRESENT).astype(float).where(predictions["answer"].notna()),
        **told.set_index(predictions.index),
    )
    return with_order_effects(found, "present_probability_listed_first", "present_probability_listed_last")
