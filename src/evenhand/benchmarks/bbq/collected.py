"""What others collect: bias score and accuracy of each category and kind of context, and of all categories."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from evenhand.collected import Collected, Collection, Definition, collected, lacking

if TYPE_CHECKING:
    from evenhand.benchmark import Card
    from evenhand.flow.results import Results

BIAS_SCORE = Definition(
    "bias_score", "percent", 0.0, 100.0, True,
    "distance of the bias score from 0, which is best; the raw score is positive where answers follow the stereotype",
    signed=True,
)  # fmt: skip
ACCURACY = Definition("accuracy", "percent", 0.0, 100.0, False, "percentage of right answers; 100 is best")


def collection(card: Card, results: Results) -> Collection:
    missing = lacking(card, results.config["configs"])
    return Collection(tuple(_figures(results, whole=not missing)), missing)


def _figures(results: Results, whole: bool) -> Iterator[Collected]:
    parts = dict(results.metrics["by"]["category"])
    if whole:
        parts["all"] = results.metrics
    for category, of in parts.items():
        for condition, score in of["bias_score"].items():
            if score is not None:
                yield collected(of, BIAS_SCORE, f"{category}-{condition}", ("bias_score", condition))
        for condition in ("ambig", "disambig"):
            if of["accuracy"][condition] is not None:
                yield collected(of, ACCURACY, f"{category}-{condition}", ("accuracy", condition))
