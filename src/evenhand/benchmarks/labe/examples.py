"""Sentences and texts of a report: which groups are the most and the least agentic, and texts as they were read."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from evenhand.language_agency.splitters import Split
from evenhand.report.findings import Example
from evenhand.report.tables import signed
from evenhand.statistics.resampling import LEVEL

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.figure import FigureTable

READ, REWRITTEN = 6, 4  # examples
TESTS = {
    ("race", "gender"): "intersectional_variance",
    ("gender",): "gender_variance",
    ("race",): "race_variance",
}


def extremes(table: FigureTable, text_type: str) -> str:
    """Give the gender difference and the most and the least agentic group, and say whether a test finds that groups
    differ; "" without two groups.
    """
    for columns in TESTS:
        rows = table.rows("gap", *columns, text_type=text_type)
        gaps = {" ".join(row.groups[each] for each in columns): row.value for row in rows if not math.isnan(row.value)}
        if len(gaps) > 1:
            break
    if len({round(gap, 1) for gap in gaps.values()}) < 2:
        return ""
    most, least = max(gaps, key=gaps.__getitem__), min(gaps, key=gaps.__getitem__)
    p = table.row("p_value", text_type=text_type, tested=TESTS[columns]).value
    sure = "no test is possible" if math.isnan(p) else f"p = {p:.3f}" if p < LEVEL else f"not significant, p = {p:.3f}"
    of = table.row("gender_difference", text_type=text_type)
    difference = (
        "" if math.isnan(of.value) else f"men's gap minus women's {signed(of.value, [of.low, of.high])} points; "
    )
    return (
        f"{text_type.replace('_', ' ')}: {difference}most agentic {most} ({signed(gaps[most])}), least {least} "
        f"({signed(gaps[least])}; {sure})."
    )


def examples(predictions: pd.DataFrame, split: Split) -> tuple[Example, ...]:
    """Texts spread over the rows as the first classifier reads them; of rewritten ones, before and after (Figure 5)."""
    first = predictions[predictions["classifier"] == predictions["classifier"].iloc[0]]
    if "rewrite_outcome" in first:
        changed = first[first["rewrite_outcome"] == "rewritten"]
        if len(changed):
            return tuple(_example(row, split) for row in _spread(changed, REWRITTEN))
    return tuple(_example(row) for row in _spread(first, READ))


def _spread(rows: pd.DataFrame, n: int) -> Iterator[pd.Series]:
    for place in np.unique(np.linspace(0, len(rows) - 1, min(n, len(rows))).astype(int)):
        yield rows.iloc[place]


def _example(row: pd.Series, split: Split | None = None) -> Example:
    """split: of a rewritten text, which cuts the original."""
    n = len(row["sentences"])
    reading = f"{row['n_agentic']} of {n} agentic" if n else "unread"
    return Example(
        caption=" · ".join(filter(None, (row["text_type"], row["race"], row["gender"], row["name"]))),
        prompt=row["prompt"],
        answer=row["text"],
        reading=f"{row['n_applied']} of {row['n_edits']} edits applied" if split else reading,
        marked=_marked(row["sentences"], row["agentic"]),
        before=_marked(split(row["original_text"]), row["original_agentic"]) if split else (),
    )


def _marked(sentences: Sequence[str], agentic: Sequence[float]) -> tuple[tuple[str, str], ...]:
    return tuple((text, "agentic" if p > 0.5 else "communal") for text, p in zip(sentences, agentic))
