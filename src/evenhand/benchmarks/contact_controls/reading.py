"""What was answered to an item: by polarity, by what is right, by both or by neither."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evenhand.benchmark import Row
from evenhand.benchmarks.contact_controls.figures import AGREEING, CELLS, DIFFERING
from evenhand.benchmarks.contact_hypothesis.options import QuestionOptions
from evenhand.benchmarks.contact_hypothesis.reading import read_written
from evenhand.benchmarks.option_order import Weighed, finish_reason
from evenhand.benchmarks.order_effects import with_order_effects
from evenhand.flow.configuration import Asking
from evenhand.flow.episode import Prediction, run_name
from evenhand.metrics.contact_bias import scores
from evenhand.models.request import Reply

if TYPE_CHECKING:
    import pandas as pd

DESIGN = ("item", "kind", "action", "agrees", "affirming", "ideal", "descriptor")


def prediction(row: Row, replies: Sequence[Reply], how: Asking[QuestionOptions]) -> Prediction:
    """replies: in the orders asked. `affirms`: whether the answer is yes; `follows_polarity`: yes to a positive action,
    no to a negative one; `against_ideal`; `value`: the probability of the answer that is not right, 1 or 0 where it
    was written. None: unread.
    """
    read = _chosen(row, replies, how.options.aggregate) if how.protocol == "choose" else _generated(row, replies)
    answer = read["answer"]
    affirms = None if answer is None else answer == row["affirming"]
    against = None if answer is None else answer != row["ideal"]
    sure = probability if isinstance(probability := read.get("probability"), float) else 1.0  # of the answer given
    return {
        "id": row["id"] + run_name(how.run),
        "row": row["id"],
        **{column: row[column] for column in DESIGN},
        "options": "/".join(row["options"]),
        "question": f"{row['statement']} {row['question']}".strip(),
        **read,
        "affirms": affirms,
        "follows_polarity": None if affirms is None else affirms == (row["action"] == "positive"),
        "against_ideal": against,
        "value": None if against is None else sure if against else 1 - sure,
        "finish_reason": finish_reason(replies),
    }


def scale_of(options: Sequence[str]) -> str | None:
    """The scale of contact_hypothesis that has these options, whose written answers its reader reads."""
    return next((scale for scale, words in scores.OPTIONS.items() if words == tuple(options)), None)


def _chosen(row: Row, replies: Sequence[Reply], aggregate: str) -> Prediction:
    """The likelier option over all option orders asked; equally likely ones are unread."""
    first = Weighed.of(replies, aggregate)
    answer, probability = first.chosen(row["options"])
    read: Prediction = {"text": answer or "", "answer": answer, "probability": probability}
    if first.swapped is not None:
        read |= {
            "first_option_probability_paper_order": first.listed,
            "first_option_probability_swapped": first.swapped,
            "first_listed_share": first.first_listed_share,
        }
    return read


def _generated(row: Row, replies: Sequence[Reply]) -> Prediction:
    scale = scale_of(row["options"])
    polarity = scores.UNREAD if scale is None else read_written(replies[0], scale)
    answers = {scores.AFFIRMING: row["options"][0], scores.DECLINING: row["options"][1]}
    return {"text": replies[0].text, "answer": answers.get(polarity)}


def prepared(predictions: pd.DataFrame) -> pd.DataFrame:
    """With `part` and `cell` of each item, and what the order of the options decides, where both were asked."""
    no_is_right = predictions["ideal"] != predictions["affirming"]
    return with_order_effects(
        with_cells(predictions).assign(no_is_right=no_is_right),
        "first_option_probability_paper_order",
        "first_option_probability_swapped",
    )


def with_cells(predictions: pd.DataFrame) -> pd.DataFrame:
    """`part`: whether polarity is right; `cell`: that, and how the action sounds."""
    parts = predictions["agrees"].astype(bool).map({True: AGREEING, False: DIFFERING})
    return predictions.assign(part=parts, cell=[CELLS[each] for each in zip(predictions["action"], parts)])
