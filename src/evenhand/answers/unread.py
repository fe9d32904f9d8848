"""Written answers that can't be read: how many refuse, which of them a report shows, and what to try."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from evenhand.answers.refusals import refuses
from evenhand.figure import Figure
from evenhand.report.findings import Example
from evenhand.statistics.estimators import Share

if TYPE_CHECKING:
    import pandas as pd

MANY = 0.1  # share of unread answers above which a report shows some of them
SHOWN = 5
ANSWERS = ("chosen", "answer", "value")  # the first of these columns says what was read
ASSIGNING = ("first", "last")  # stages of a conversation; what is said between them answers nothing
REFUSED = Figure(
    "refused", "refused answers", Share("refused"), unit="percent", best=None, headline=(), judged=(), submitted=(),
    by=((),), description="percentage of written answers that refuse; a part of those that are unread",
)  # fmt: skip


def add_refusals(predictions: pd.DataFrame) -> pd.DataFrame:
    """Add `refused`, whether an answer refuses, where answers were written; NaN: what asks for none."""
    if "refused" in predictions:  # the benchmark's own
        return predictions
    written = "text" in predictions and any(name in predictions for name in ANSWERS)
    if not written or ("finish_reason" in predictions and (predictions["finish_reason"] == "choice").any()):
        return predictions
    unread = find_unread(predictions)
    refused = (unread & predictions["text"].where(unread, "").map(refuses)).astype(float)
    if "stage" in predictions:
        refused = refused.where(predictions["stage"].isin(ASSIGNING))
    return predictions.assign(refused=refused)


def find_unread(predictions: pd.DataFrame) -> pd.Series:
    """Return which rows hold an answer that was not read."""
    read = predictions[next(name for name in ANSWERS if name in predictions)]
    unread = read.isna() | read.map(lambda each: isinstance(each, str) and not each)
    return unread & predictions["stage"].isin(ASSIGNING) if "stage" in predictions else unread


def describe_unread(predictions: pd.DataFrame, ways: Collection[str]) -> str:
    """Say how many answers are unread or refused, and what to try; "" where few are unread.

    Args:
        ways: of making answers readable, "--protocol choose" say.
    """
    if "refused" not in predictions:
        return ""
    predictions = predictions[predictions["refused"].notna()]
    n, unread, refused = len(predictions), find_unread(predictions), predictions["refused"].sum()
    if not n or unread.sum() <= MANY * n:
        return ""
    cut = (predictions["finish_reason"] == "length") & unread if "finish_reason" in predictions else unread & False
    ways = [*ways, *(["a larger --max-new-tokens"] if cut.any() else [])]
    return (
        f"{unread.sum():,} of {n:,} answers are unread, {refused:,.0f} of them refusals: scores are of the others, "
        "which may differ. The report shows some." + (f" Try {' or '.join(ways)}." if ways else "")
    )


def unread_examples(predictions: pd.DataFrame) -> Iterator[Example]:
    """Yield a few unread answers, spread over the rows, where many are unread."""
    if "refused" not in predictions:
        return
    predictions = predictions[predictions["refused"].notna()]
    rows = predictions[find_unread(predictions)]
    if len(rows) > MANY * len(predictions):
        for place in sorted({k * len(rows) // SHOWN for k in range(SHOWN)}):
            row = rows.iloc[place]
            prompt = next((str(row[name]) for name in ("prompt", "question", "story") if row.get(name)), "")
            yield Example(f"{row['id']} · unread", prompt, str(row["text"]), "refused" if row["refused"] else "unread")
