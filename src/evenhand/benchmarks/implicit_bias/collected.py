"""What others collect: the bias score of the last assignments, by its distance from 0."""

from __future__ import annotations

from evenhand.collected import Collection, Definition, collected
from evenhand.flow.results import Results

ASSIGNED = Definition(
    "bias_score", "score", 0.0, 1.0, True,
    "distance of the bias score of task assignments from 0, which is best; the raw score is positive where they follow "
    "the stereotype",
    signed=True,
)  # fmt: skip


def collection(results: Results) -> Collection:
    task = "-".join((*results.config["configs"], str(results.option("setting"))))
    return Collection((collected(results.metrics, ASSIGNED, task, ("bias_score",)),))
