"""What others collect: how many answers are against what is right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.collected import Collection, Definition, SingleAnswer, collected
from evenhand.flow.results import Results

TASK = "controls"
AGAINST = Definition(
    "against_ideal", "percent", 0.0, 100.0, True,
    "percentage of answers against what is right; 0 is best, random and constant answers have 50",
)  # fmt: skip


def collection(results: Results) -> Collection:
    return Collection((collected(results.metrics, AGAINST, TASK, ("against_ideal",)),))


def single_answer(prediction: Mapping[str, Any]) -> SingleAnswer | None:
    from pandas import isna

    if isna(prediction["against_ideal"]):
        return None
    return SingleAnswer(
        TASK,
        tuple(prediction["options"].split("/")),
        prediction["ideal"],
        bool(prediction["against_ideal"]),
        {name: str(prediction[name]) for name in ("kind", "action", "agrees")},
    )
