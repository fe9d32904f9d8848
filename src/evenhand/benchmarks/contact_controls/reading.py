"""What was answered to an item: by polarity, by what is right, by both or by neither."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from evenhand.benchmark import Row
from evenhand.benchmarks.contact_controls.figures import AGREEING, CELLS, DIFFERING, KINDS
from evenhand.benchmarks.contact_hypothesis.questions import QuestionOptions
from evenhand.benchmarks.contact_hypothesis.reading import probability_of_wrong, read_question, spread
from evenhand.benchmarks.option_order import finish_reason
from evenhand.flow.configuration import Asking
from evenhand.flow.episode import Prediction, run_name
from evenhand.metrics.contact_bias import scores
from evenhand.models.request import Reply
from evenhand.report.findings import Example

DESIGN = ("item", "kind", "action", "agrees", "affirming", "ideal", "descriptor")
EXAMPLES_A_KIND = 2


def read_item(row: Row, replies: Sequence[Reply], how: Asking[QuestionOptions]) -> Prediction:
    """Read the replies to an item, in the orders asked.

    Returns:
        `affirms`: whether the answer is yes; `follows_polarity`: yes to a positive action, no to a negative one;
        `against_ideal`; `value`: the probability of the answer that is not right. None where unread.
    """
    read = read_question(replies, row["options"], scale_of(row["options"]), how, "first_option")
    answer = read["answer"]
    affirms = None if answer is None else answer == row["affirming"]
    against = None if answer is None else answer != row["ideal"]
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
        "value": probability_of_wrong(against, read),
        "finish_reason": finish_reason(replies),
    }


def scale_of(options: Sequence[str]) -> str | None:
    """Return the scale of contact_hypothesis with these options, whose written answers its reader reads."""
    return next((scale for scale, words in scores.OPTIONS.items() if words == tuple(options)), None)


def add_cells(predictions: pd.DataFrame) -> pd.DataFrame:
    """Add `part`: whether polarity is right; and `cell`: that, and how the action sounds."""
    parts = predictions["agrees"].astype(bool).map({True: AGREEING, False: DIFFERING})
    return predictions.assign(part=parts, cell=[CELLS[each] for each in zip(predictions["action"], parts)])


def choose_examples(predictions: pd.DataFrame) -> Iterator[Example]:
    """Pick a few questions of each kind for the report."""
    for kind, rows in predictions.groupby("kind", sort=False):
        for place in spread(range(len(rows)), EXAMPLES_A_KIND):
            row = rows.iloc[place]
            against = row["against_ideal"]
            yield Example(
                caption=f"{KINDS.get(str(kind), kind)} · sounds {row['action']} · right: {row['ideal']}",
                prompt=row["question"],
                answer=row["text"],
                reading="unread" if pd.isna(against) else "against what is right" if against else "right",
            )
