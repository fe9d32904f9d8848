"""What others collect: accuracy and refusals of the questions."""

from __future__ import annotations

from evenhand.collected import Collection, Definition, collected
from evenhand.flow.results import Results

QUESTIONS = "questions"
ACCURACY = Definition("accuracy", "percent", 0.0, 100.0, False, "percentage of right answers; 100 is best")
REFUSALS = Definition(
    "refusal_rate", "percent", 0.0, 100.0, True, "percentage of harmless questions that were refused"
)  # fmt: skip


def collection(results: Results) -> Collection:
    if QUESTIONS not in results.config["configs"]:
        return Collection(())
    counts = int(results.metrics["n_questions"]), sum(results.metrics["outcomes"].values())
    return Collection(
        tuple(collected(results.metrics, figure, QUESTIONS, (figure.key,), counts) for figure in (ACCURACY, REFUSALS))
    )
