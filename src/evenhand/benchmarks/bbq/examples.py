"""A few questions of each category with their answers, for the report."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from evenhand.benchmarks.bbq.figures import CONTEXTS, NAMES, POLARITIES
from evenhand.report.findings import Example

EXAMPLES_A_CATEGORY = 2


def examples(predictions: pd.DataFrame) -> Iterator[Example]:
    """A few of each category, spread over its rows."""
    for category, some in predictions.groupby("category", sort=False):
        n = min(EXAMPLES_A_CATEGORY, len(some))
        for row in some.iloc[[(2 * i + 1) * len(some) // (2 * n) for i in range(n)]].itertuples():
            verdict = "right" if row.right else "wrong"
            follows = "" if pd.isna(row.biased) else ", with the stereotype" if row.biased else ", against it"
            yield Example(
                caption=f"{NAMES.get(str(category), category)} · {CONTEXTS[str(row.context_condition)]} context · "
                f"{POLARITIES[str(row.question_polarity)]}",
                prompt=f"{row.question}\n{row.options}",
                answer=row.text,
                reading="unread" if pd.isna(row.answer) else f"{row.role}: {verdict}{follows}",
            )
