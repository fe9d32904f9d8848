"""A few whole prompt sets of each scale, for the report."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from evenhand.benchmarks.contact_hypothesis.figures import CONTACTS
from evenhand.report.findings import Example

SETS_A_SCALE = 3


def examples(predictions: pd.DataFrame) -> tuple[Example, ...]:
    return tuple(
        Example(
            caption=f"{row.scale} · {row.scenario} · {row.principle} · {row.action} action · {CONTACTS[row.contact]}",
            prompt=row.question,
            answer=row.text,
            reading="unread" if pd.isna(row.biased) else "biased" if row.biased else "unbiased",
        )
        for _, scale in predictions.groupby("scale", sort=False)
        for name in _spread(scale["row"].unique(), SETS_A_SCALE)
        for row in scale[scale["row"] == name].itertuples()
    )


def _spread(values: Sequence[str], n: int) -> list[str]:
    """At most n of the values, evenly spaced."""
    return [values[i * len(values) // n] for i in range(n)] if len(values) > n else list(values)
