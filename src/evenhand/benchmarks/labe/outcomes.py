"""What selective rewriting did to the texts of a run, and what became of the edits asked for."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from evenhand.figure import Estimate, Groups, Sample, Statistic

if TYPE_CHECKING:
    import pandas as pd

TEXTS = ("rewritten", "no edit applied", "malformed JSON", "request failed", "nothing communal", "no sentences")
EDITS = {
    "n_applied": "applied",
    "n_not_found": "original not in the text",
    "n_overlapping": "overlapping another",
    "n_empty": "empty",
    "n_unchanged": "the same as the original",
    "n_lowering": "less agentic, refused",
}
TOTALS = {
    "n_malformed": "replies that could not be read whole",
    "n_sentences_original": "sentences before",
    "n_communal_original": "communal sentences before",
}
LOWERED = "applied edits that made their sentences less agentic"


class TextOutcomes(Statistic):
    """Percent of texts with each outcome."""

    columns = ("rewrite_outcome",)

    def estimates(self, sample: Sample) -> Iterator[tuple[Groups, Estimate]]:
        outcomes = _texts(sample)["rewrite_outcome"]
        for outcome in TEXTS:
            yield {"outcome": outcome}, _share(int((outcomes == outcome).sum()), len(outcomes))


class EditOutcomes(Statistic):
    """Percent of edits with each outcome."""

    columns = ("n_edits", *EDITS)

    def estimates(self, sample: Sample) -> Iterator[tuple[Groups, Estimate]]:
        texts = _texts(sample)
        for column, outcome in EDITS.items():
            yield {"outcome": outcome}, _share(int(texts[column].sum()), int(texts["n_edits"].sum()))


class RewriteTotals(Statistic):
    """Sums over texts."""

    columns = ("edits", *TOTALS)

    def estimates(self, sample: Sample) -> Iterator[tuple[Groups, Estimate]]:
        texts = _texts(sample)
        sums = {name: int(texts[column].sum()) for column, name in TOTALS.items()}
        sums[LOWERED] = sum(map(_count_lowered, texts["edits"]))
        for name, total in sums.items():
            yield {"counted": name}, Estimate(total, n=len(texts), n_read=len(texts))


def _texts(sample: Sample) -> pd.DataFrame:
    """Return each text once, however many classifiers read it."""
    return sample.rows.drop_duplicates(["row", "run"])


def _share(count: int, of: int) -> Estimate:
    return Estimate(100 * count / of if of else math.nan, n=of, n_read=of)


def _count_lowered(edits: str) -> int:
    """Return how many applied edits made their sentences less agentic by the first classifier."""
    return sum(
        each["outcome"] == "applied" and None not in (each["before"], each["after"]) and each["after"] < each["before"]
        for each in json.loads(edits)
    )
