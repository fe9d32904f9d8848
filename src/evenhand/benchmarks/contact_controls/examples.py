"""A few questions of each kind with their answers, for the report."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from evenhand.benchmarks.contact_controls.figures import KINDS
from evenhand.report.findings import Example

EXAMPLES_A_KIND = 2


def examples(predictions: pd.DataFrame) -> Iterator[Example]:
    """Spread over each kind's items."""
    for kind, some in predictions.groupby("kind", sort=False):
        n = min(EXAMPLES_A_KIND, len(some))
        for row in some.iloc[[i * len(some) // n for i in range(n)]].itertuples():
            unread = pd.isna(row.against_ideal)
            yield Example(
                caption=f"{KINDS.get(str(kind), kind)} · sounds {row.action} · right: {row.ideal}",
                prompt=row.question,
                answer=row.text,
                reading="unread" if unread else "against what is right" if row.against_ideal else "right",
            )
