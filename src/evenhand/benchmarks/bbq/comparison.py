"""How two runs are compared: accuracies and bias scores, ambiguous and disambiguated contexts apart."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from evenhand.benchmark import Comparison, Judged
from evenhand.benchmarks.bbq.names import category_in_words

if TYPE_CHECKING:
    from evenhand.report.findings import Panel, Run
    from evenhand.statistics.clustered import Difference

ACCURACY = {"ambig": "accuracy, ambiguous", "disambig": "accuracy, disambiguated"}
BIAS = {"ambig": "bias score, ambiguous", "disambig": "bias score, disambiguated"}

OPPOSITE = {"neg": "nonneg", "nonneg": "neg"}


class Accuracies(Comparison):
    note = "Accuracy: higher is better; bias scores: 0 is best. "

    def headline(self, predictions: pd.DataFrame) -> pd.DataFrame:
        return _values(predictions, predictions["context_condition"].map(ACCURACY))

    def exploratory(self, predictions: pd.DataFrame) -> pd.DataFrame:
        categories = predictions["category"].map(category_in_words)
        return _values(predictions, categories + ": " + predictions["context_condition"].map(ACCURACY))

    def differences(self, first: pd.DataFrame, second: pd.DataFrame) -> Mapping[str, Difference]:
        """Of the bias scores, which are no means over rows."""
        from evenhand.benchmarks.bbq.bias_difference import bias_differences

        if not len({*first["id"]} & {*second["id"]}):
            return {}
        return {BIAS[condition]: each for condition, each in bias_differences(first, second).items()}

    def answers_of(self, task: str, key: str) -> Callable[[str], bool] | None:
        """Of all categories together; a bias score is no mean over answers."""
        whole, _, condition = task.partition("-")
        name = ACCURACY.get(condition) if (whole, key) == ("all", "accuracy") else None
        return None if name is None else lambda figure: figure == name

    def judged(self, figure: str) -> Judged:
        """Bias scores; and accuracy where the context tells the answer, for "unknown" everywhere is no bias."""
        if figure in BIAS.values():
            return Judged(best="zero", span=100)
        return Judged("utility", "high", 100, by_default=figure == ACCURACY["disambig"])

    def mirrored(self, predictions: pd.DataFrame) -> pd.DataFrame:
        """What was said to a negative question, said to its opposite."""
        return predictions.assign(question_polarity=predictions["question_polarity"].map(OPPOSITE))

    def panels(self, runs: Sequence[Run]) -> tuple[Panel, ...]:
        from evenhand.benchmarks.bbq.side_by_side import panel

        return (panel(runs),)


def _values(predictions: pd.DataFrame, figures: pd.Series) -> pd.DataFrame:
    """100 for right and 0 for wrong answers, NaN for unread ones."""
    right = predictions["right"].astype("boolean").astype("Float64").to_numpy(dtype=float, na_value=math.nan)
    return pd.DataFrame(
        {"figure": figures, "id": predictions["id"], "value": 100 * right, "cluster": predictions["template"]}
    ).assign(least=0.0, most=100.0)
