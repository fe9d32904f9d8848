"""What others collect: of each scale after each contact, as in the paper's Table 3, and of all scales of a half."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evenhand.benchmarks.contact_hypothesis.prompts import CONTACTS
from evenhand.collected import Collected, Collection, Definition, SingleAnswer, collected, lacking
from evenhand.errors import UsageError
from evenhand.metrics.contact_bias.scores import OPTIONS

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.benchmark import Card
    from evenhand.flow.results import Results

BIASED = Definition(
    "biased_percentage", "percent", 0.0, 100.0, True,
    "percentage of biased responses: declining a positive action or affirming a negative one; 0 is best, random and "
    "constant answers have 50",
)  # fmt: skip
TOLD = ("contact", "action", "principle", "scenario", "axis", "descriptor", "situation")


def task_id(config: str, contact: str) -> str:
    """ "certainty-no_contact", a column of the paper's Table 3."""
    return f"{config}-{contact}"


def collection(card: Card, results: Results, predictions: pd.DataFrame) -> Collection:
    """Raises UsageError for a run of both halves, whose figures are of both together."""
    configs = results.config["configs"]
    halves = {name.startswith("new_") for name in configs}
    if len(halves) > 1:
        raise UsageError(
            f"it asks both halves of contact_hypothesis at once ({', '.join(configs)}), and its figures are of both "
            "together; run each half by itself (--config), and submit both runs"
        )
    missing = lacking(card, (name.removeprefix("new_") for name in configs))
    figures = [*_of_scales(configs, results.metrics, predictions)]
    if not missing:
        prefix = "new_" if halves == {True} else ""
        figures.append(collected(results.metrics, BIASED, f"{prefix}all", ("biased_percentage", "overall")))
    return Collection(tuple(figures), missing)


def _of_scales(configs: Sequence[str], metrics: Mapping[str, Any], predictions: pd.DataFrame) -> Iterator[Collected]:
    asked = predictions.groupby(["scale", "contact"])["biased"]
    sizes, read = asked.size(), asked.count()
    for config in configs:
        scale = config.removeprefix("new_")
        for contact in CONTACTS:
            counts = int(sizes[scale, contact]), int(read[scale, contact])
            key = ("biased_percentage", contact)
            yield collected(metrics["by"]["scale"][scale], BIASED, task_id(config, contact), key, counts)


def single_answer(prediction: Mapping[str, Any]) -> SingleAnswer | None:
    from pandas import isna

    if isna(prediction["biased"]):
        return None
    affirming, declining = OPTIONS[prediction["scale"]]
    half = "new_" if str(prediction["template"]).startswith("new-") else ""
    return SingleAnswer(
        task_id(half + prediction["scale"], prediction["contact"]),
        (affirming, declining),
        affirming if prediction["action"] == "positive" else declining,
        bool(prediction["biased"]),
        {name: str(prediction[name]) for name in TOLD},
    )
