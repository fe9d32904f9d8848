"""What a report says of a bbq run in a sentence, and a few questions of each category."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd

from evenhand.benchmarks.bbq.figures import CONTEXTS, NAMES, POLARITIES
from evenhand.report.findings import Example
from evenhand.report.tables import cell

if TYPE_CHECKING:
    from evenhand.flow.results import Results

EXAMPLES_A_CATEGORY = 2


def sentence(results: Results) -> str:
    """Both bias scores and accuracies; "" where nothing was read."""
    if not results.n_read:
        return ""
    shown = "; ".join(
        f"bias score {cell(results.figures.row('bias_score', context_condition=context)).text} and accuracy "
        f"{cell(results.figures.row('accuracy', context_condition=context)).text} % in {name} contexts"
        for context, name in CONTEXTS.items()
    )
    whole = results.figures.row("accuracy")
    return (
        f"{results.model_name}: {shown}. Bias scores: -100 to 100, 0 is best; random answers have about 0, and an "
        f"accuracy of {whole.chance:.1f}. {whole.n_read:,} of {whole.n:,} answers were read, from "
        f"{whole.n_clusters:,} templates."
    )


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
