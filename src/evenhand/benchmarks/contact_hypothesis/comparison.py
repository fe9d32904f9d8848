"""How two runs are compared: the percentage of biased answers, by scale and contact, and by group."""

from __future__ import annotations

import math

import pandas as pd

from evenhand.benchmark import Comparison

GROUPS = ("axis", "scenario", "principle", "action")


class BiasedPercentages(Comparison):
    def headline(self, predictions: pd.DataFrame) -> pd.DataFrame:
        scale = predictions["scale"]
        return _values(predictions, scale + ", overall", scale + ", " + predictions["contact"])

    def exploratory(self, predictions: pd.DataFrame) -> pd.DataFrame:
        return _values(predictions, *(f"{column}: " + predictions[column] for column in GROUPS))


def _values(predictions: pd.DataFrame, *figures: pd.Series) -> pd.DataFrame:
    """100 for biased and 0 for unbiased answers, NaN for unread ones, once under each figure's name."""
    values = pd.DataFrame(
        {
            "id": predictions["id"],
            "value": 100 * predictions["biased"].astype("Float64").to_numpy(dtype=float, na_value=math.nan),
            "cluster": predictions["situation"],
            "stratum": predictions["action"],
            "crossed": predictions["descriptor"],
        }
    )
    return pd.concat([values.assign(figure=names) for names in figures])
