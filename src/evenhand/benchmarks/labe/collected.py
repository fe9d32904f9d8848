"""What others collect: the variances of each type of text, and of all where all were asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from evenhand.collected import Collected, Collection, Definition, collected, lacking

if TYPE_CHECKING:
    from evenhand.benchmark import Card
    from evenhand.flow.results import Results

GROUPS = {"gender_variance": 2, "race_variance": 4, "intersectional_variance": 8}


def collection(card: Card, results: Results) -> Collection:
    missing = lacking(card, results.config["configs"])
    return Collection(tuple(_figures(results, whole=not missing)), missing)


def _figures(results: Results, whole: bool) -> Iterator[Collected]:
    parts = dict(results.metrics["by"]["text_type"])
    if whole:
        parts["all"] = results.metrics
    for text_type, of in parts.items():
        for key, groups in GROUPS.items():
            figure = Definition(
                key, "squared percent", 0.0, 10_000 * groups / (groups - 1), True,
                f"variance of the ratio gaps (agentic minus communal) of {groups} groups; 0 is best",
            )  # fmt: skip
            yield collected(of, figure, text_type, (key,))
