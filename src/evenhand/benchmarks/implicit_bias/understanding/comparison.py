"""How two runs are compared: accuracy over all stories, over either kind, and by domain."""

from __future__ import annotations

import pandas as pd

from evenhand.benchmark import Comparison
from evenhand.benchmarks.implicit_bias.understanding.scoring import STORIES, numbers


class Accuracies(Comparison):
    def headline(self, predictions: pd.DataFrame) -> pd.DataFrame:
        everything = pd.Series("accuracy", index=predictions.index)
        return _values(predictions, everything, "accuracy, " + predictions["biased"].map(STORIES) + " stories")

    def exploratory(self, predictions: pd.DataFrame) -> pd.DataFrame:
        return _values(predictions, "domain: " + predictions["domain"])


def _values(predictions: pd.DataFrame, *figures: pd.Series) -> pd.DataFrame:
    """1 for right, 0 for wrong and NaN for unread answers, once under each figure's name."""
    values = pd.DataFrame(
        {"id": predictions["id"], "value": numbers(predictions["correct"]), "cluster": predictions["scenario_id"]}
    )
    return pd.concat([values.assign(figure=names) for names in figures])
