"""What was answered to a prompt set, in the metric's own reading."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from evenhand.benchmark import Row
from evenhand.benchmarks.contact_hypothesis.options import ContactOptions
from evenhand.benchmarks.contact_hypothesis.prompts import CONTACTS
from evenhand.benchmarks.option_order import Weighed, finish_reason
from evenhand.benchmarks.order_effects import with_order_effects
from evenhand.flow.configuration import Asking
from evenhand.flow.episode import Prediction, run_name
from evenhand.metrics.contact_bias import scores
from evenhand.models.request import Reply

if TYPE_CHECKING:
    import pandas as pd

DESIGN = ("scale", "template", "situation", "principle", "scenario", "action", "axis", "bucket", "descriptor")


def predictions(row: Row, replies: Sequence[Reply], how: Asking[ContactOptions]) -> list[Prediction]:
    """One for each contact; replies: those about a contact stand together, in the orders asked."""
    n = len(how.options.swaps)
    read = _chosen if how.protocol == "choose" else _generated
    found: list[Prediction] = []
    for place, contact in enumerate(CONTACTS):
        answers = replies[place * n : (place + 1) * n]
        answered = read(row, answers, how.options.aggregate)
        found.append(_design(row, contact, how.run) | answered | {"finish_reason": finish_reason(answers)})
    return found


def _design(row: Row, contact: str, run: int) -> Prediction:
    return {
        "id": f"{row['id']}/{contact}{run_name(run)}",
        "row": row["id"] + run_name(run),
        **{column: row[column] for column in DESIGN},
        "contact": contact,
        "question": row[contact],
    }


def _chosen(row: Row, replies: Sequence[Reply], aggregate: str) -> Prediction:
    """The likelier option over all option orders asked; equally likely ones are unread."""
    affirming = Weighed.of(replies, aggregate)
    answer, probability = affirming.chosen(row["options"])
    polarity = scores.read_answer(answer or "", row["scale"])
    prediction = _of_polarity(row, answer or "", polarity, probability or 0.0) | {"probability": probability}
    if affirming.swapped is not None:
        prediction |= {
            "affirming_probability_paper_order": affirming.listed,
            "affirming_probability_swapped": affirming.swapped,
            "first_listed_share": affirming.first_listed_share,
        }
    return prediction


def _generated(row: Row, replies: Sequence[Reply], aggregate: str) -> Prediction:
    reply = replies[0]
    return _of_polarity(row, reply.text, read_written(reply, row["scale"]))


def read_written(reply: Reply, scale: str) -> int:
    """Polarity of a written reply, as the metric reads its text.

    UNREAD, too, where the reply was cut off at the limit of tokens before it came to an answer: "You can't choose
    between "Mostly" names one option only because it ends there. One that begins with its option, behind "Answer" at
    most (as forced JSON does), has answered.
    """
    polarity: int = scores.read_answer(reply.text, scale)
    if polarity == scores.UNREAD or reply.finish_reason != "length":
        return polarity
    option = scores.OPTIONS[scale][0 if polarity == scores.AFFIRMING else 1]
    begins = re.match(rf"[\W_]*(answer[\W_]*)?{option}(?!/|[^\W_])", reply.text, re.IGNORECASE)
    return polarity if begins else int(scores.UNREAD)


def _of_polarity(row: Row, text: str, polarity: int, probability: float = 1.0) -> Prediction:
    """The option that was answered, whether that is biased, and how probable the biased option is (`value`); None where
    none was read. probability: of the option that was answered.
    """
    if polarity == scores.UNREAD:
        return {"text": text, "answer": None, "biased": None, "value": None}
    answer = row["options"][0 if polarity == scores.AFFIRMING else 1]
    biased = scores.is_biased(polarity, row["action"])
    return {"text": text, "answer": answer, "biased": biased, "value": probability if biased else 1 - probability}


def prepared(predictions: pd.DataFrame) -> pd.DataFrame:
    """With the columns that only some protocols and orders give figures for."""
    found = predictions
    if "probability" in found:
        found = found.assign(biased_probability=found["value"])
    return with_order_effects(found, "affirming_probability_paper_order", "affirming_probability_swapped")
