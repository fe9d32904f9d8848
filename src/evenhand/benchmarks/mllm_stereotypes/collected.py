"""What others collect: the association score of each configuration."""

from __future__ import annotations

from evenhand.collected import Collection, Definition, collected
from evenhand.flow.results import Results

TOLD = "association bias score: the mean distance of selection rates from even ones; 0 is best"


def collection(results: Results) -> Collection:
    return Collection(
        tuple(
            collected(
                of,
                Definition("association_score", "score", 0.0, float(of["maximum_score"]), True, TOLD),
                config,
                ("association_score",),
            )
            for config, of in results.metrics["configs"].items()
        )
    )
