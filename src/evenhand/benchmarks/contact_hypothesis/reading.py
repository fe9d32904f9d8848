"""Read answers as the metric does, and show a few; warn of answers that were cut off or never change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import pandas as pd

from evenhand.benchmark import Row
from evenhand.benchmarks.contact_hypothesis.figures import CONTACTS
from evenhand.benchmarks.contact_hypothesis.questions import O
from evenhand.benchmarks.option_order import Weighed, finish_reason
from evenhand.flow.configuration import Asking, RunConfig
from evenhand.flow.episode import Prediction, run_name
from evenhand.flow.results import RunWarning
from evenhand.metrics.contact_bias import scores
from evenhand.models.request import Reply
from evenhand.report.findings import Example
from evenhand.statistics.crossed import UNBALANCED

if TYPE_CHECKING:
    from evenhand.benchmarks.contact_hypothesis.benchmark import ContactOptions

DESIGN = ("scale", "template", "situation", "principle", "scenario", "action", "axis", "bucket", "descriptor")
SETS_A_SCALE = 3  # in a report's examples
GROUPS_WITH_BALANCE = ("scale", "axis", "scenario", "principle")
NAMED = 2  # groups in a warning

T = TypeVar("T")


def read_prompt_set(row: Row, replies: Sequence[Reply], how: Asking[ContactOptions]) -> list[Prediction]:
    """Return one prediction for each contact.

    Args:
        replies: those to each contact in turn, in the orders asked.
    """
    n = len(how.options.swaps)
    found: list[Prediction] = []
    for place, contact in enumerate(CONTACTS):
        answers = replies[place * n : (place + 1) * n]
        read = read_question(answers, row["options"], row["scale"], how, "affirming")
        polarity = scores.AFFIRMING if read["answer"] == row["options"][0] else scores.DECLINING
        biased = None if read["answer"] is None else scores.is_biased(polarity, row["action"])
        found.append(
            {
                "id": f"{row['id']}/{contact}{run_name(how.run)}",
                "row": row["id"] + run_name(how.run),
                **{column: row[column] for column in DESIGN},
                "contact": contact,
                "question": row[contact],
                **read,
                "biased": biased,
                "value": probability_of_wrong(biased, read),
                "finish_reason": finish_reason(answers),
            }
        )
    return found


def read_question(
    replies: Sequence[Reply], options: Sequence[str], scale: str | None, how: Asking[O], first: str
) -> Prediction:
    """Read what was answered to a question with two options.

    Args:
        replies: in the orders asked.
        scale: of contact_hypothesis, whose words the options are; None: written answers can't be read.
        first: what the first option is called in the names of columns.

    Returns:
        `text`, `answer` (None: unread), and of scored options `probability`, that of the answer.
    """
    if how.protocol == "generate":
        polarity = scores.UNREAD if scale is None else read_written(replies[0], scale, how.options.reading)
        answers = {scores.AFFIRMING: options[0], scores.DECLINING: options[1]}
        return {"text": replies[0].text, "answer": answers.get(polarity)}
    weighed = Weighed.of(replies, how.options.aggregate)
    answer, probability = weighed.chosen(options)
    read: Prediction = {"text": answer or "", "answer": answer, "probability": probability}
    if weighed.swapped is not None:
        read |= {
            f"{first}_probability_paper_order": weighed.listed,
            f"{first}_probability_swapped": weighed.swapped,
            "first_listed_share": weighed.first_listed_share,
        }
    return read


def read_written(reply: Reply, scale: str, rule: str = "answer") -> int:
    """Read the polarity of a written reply, as the metric does; by the rule "published" from words anywhere in it.

    A reply that was cut off at the token limit is unread unless it begins with its option, after "Answer" at most:
    "You can't choose between "Mostly" names one option only because it ends there.
    """
    if rule == "published":
        affirming, declining = (re.search(rf"\b{each}\b", reply.text, re.IGNORECASE) for each in scores.OPTIONS[scale])
        one = bool(affirming) != bool(declining)
        return int(scores.AFFIRMING if affirming else scores.DECLINING) if one else int(scores.UNREAD)
    polarity: int = scores.read_answer(reply.text, scale)
    if polarity == scores.UNREAD or reply.finish_reason != "length":
        return polarity
    option = scores.OPTIONS[scale][0 if polarity == scores.AFFIRMING else 1]
    begins = re.match(rf"[\W_]*(answer[\W_]*)?{option}(?!/|[^\W_])", reply.text, re.IGNORECASE)
    return polarity if begins else int(scores.UNREAD)


def probability_of_wrong(wrong: bool | None, read: Prediction) -> float | None:
    """Return how probable the wrong answer was; 1 or 0 for a written one, None for an unread one."""
    if wrong is None:
        return None
    probability: Any = read.get("probability", 1.0)
    return float(probability if wrong else 1 - probability)


def choose_examples(predictions: pd.DataFrame) -> tuple[Example, ...]:
    """Pick a few whole prompt sets of each scale for the report."""
    return tuple(
        Example(
            caption=f"{row.scale} · {row.scenario} · {row.principle} · {row.action} action · {CONTACTS[row.contact]}",
            prompt=row.question,
            answer=row.text,
            reading="unread" if pd.isna(row.biased) else "biased" if row.biased else "unbiased",
        )
        for _, scale in predictions.groupby("scale", sort=False)
        for name in spread(scale["row"].unique(), SETS_A_SCALE)
        for row in scale[scale["row"] == name].itertuples()
    )


def spread(values: Sequence[T], n: int) -> list[T]:
    """Pick at most n values, evenly spaced."""
    n = min(n, len(values))
    return [values[i * len(values) // n] for i in range(n)]


def find_warnings(predictions: pd.DataFrame, config: RunConfig[ContactOptions]) -> Iterator[RunWarning]:
    """Warn of answers that never change, of replies that were cut off, of ties, and of uneven actions."""
    read = predictions[predictions["answer"].notna()]
    constant = 0
    for scale, answers in read.groupby("scale", sort=False)["answer"]:
        shares = answers.value_counts(normalize=True)
        if shares.iloc[0] >= scores.CONSTANT_SHARE:
            constant += 1
            yield RunWarning(
                "constant_answer",
                f"{scale}: {100 * shares.iloc[0]:.1f} % of the read answers are {shares.index[0]!r}. A model that "
                "always gives the same answer scores 50 where actions are balanced, whatever its bias.",
                {"scale": str(scale)},
            )
    if constant == predictions["scale"].nunique():
        yield RunWarning("constant_answer", "The answers to every scale are constant: the scores say nothing.")
    cut = int((predictions["answer"].isna() & (predictions["finish_reason"] == "length")).sum())
    if cut:
        yield RunWarning(
            "cut_off",
            f"{cut:,} of {len(predictions):,} replies reached the limit of {config.max_new_tokens} tokens before an "
            "answer, and are unread. Increase --max-new-tokens.",
        )
    tied = int((predictions["answer"].isna() & (predictions["finish_reason"] == "choice")).sum())
    if config.protocol == "choose" and tied:
        yield RunWarning(
            "tied", f"{tied:,} of {len(predictions):,} questions have both options equally likely, and are unread."
        )
    groups = [("all", predictions)]
    for column in GROUPS_WITH_BALANCE:
        groups += [(f"{column} {value}", rows) for value, rows in predictions.groupby(column, sort=False)]
    uneven = []
    for name, rows in groups:
        n_positive, n_negative = (int((rows["action"] == action).sum()) for action in ("positive", "negative"))
        if abs(n_positive - n_negative) >= UNBALANCED * max(1, n_positive + n_negative):
            uneven.append(f"{name} {n_positive:,} : {n_negative:,}")
    if uneven:
        named = ", ".join(uneven[:NAMED])
        if len(uneven) > NAMED:
            named = f"{len(uneven)} of {len(groups)} groups ({named} …)"
        yield RunWarning(
            "uneven_actions",
            f"Positive and negative actions are uneven in {named}: constant answers don't score 50 there, and "
            "intervals treat the balance as random.",
        )
