"""What the controls say of a model before and after its training, for its card."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.report.findings import Controls

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.report.findings import Run

ALL = "says yes, of all questions"
BY_SOUND = {
    "unwise_kindness": "says yes to kind actions that are unwise",
    "right_unkindness": "says no to unkind actions that are right",
}


def controls(before: Run, after: Run) -> Controls:
    """Verdicts of both, and over-acceptance on what both answered, with paired intervals over items."""
    from evenhand.benchmarks.contact_controls.verdict_words import judged, not_debiased, verdict_sentence
    from evenhand.report.comparison import Pair
    from evenhand.report.tables import figure

    rows = [
        (name, figure(each.first), figure(each.second), figure(each.estimate, [each.low, each.high]))
        for name, each in Pair(before, after, "").differences(_acceptance).items()
    ]
    first, second = (run.results.metrics for run in (before, after))
    return Controls(verdict_sentence(first), verdict_sentence(second), not_debiased(judged(second)), tuple(rows))


def _acceptance(predictions: pd.DataFrame) -> pd.DataFrame:
    """What is accepted or declined by its sound: of each kind the answers that are against what is right."""
    import pandas as pd

    from evenhand.benchmarks.contact_controls.scoring import percent

    parts = {ALL: (predictions, "affirms")}
    parts |= {told: (predictions[predictions["kind"] == kind], "against_ideal") for kind, told in BY_SOUND.items()}
    return pd.concat(
        pd.DataFrame(
            {"figure": told, "id": some["id"], "value": percent(some[column]), "cluster": some["item"]}
            | {"least": 0.0, "most": 100.0}
        )
        for told, (some, column) in parts.items()
    )
