"""How two runs are compared: accuracy over all stories, over either kind, and by domain."""

from __future__ import annotations

import pandas as pd

from evenhand.benchmark import Comparison
from evenhand.benchmarks.implicit_bias.understanding.baselines import (
    BESIDE,
    WITHOUT_SEEING,
    accuracies,
    beside,
    told_without_seeing,
)
from evenhand.benchmarks.implicit_bias.understanding.scoring import STORIES, numbers
from evenhand.report.findings import Similarity
from evenhand.report.tables import Cell, Table


class Accuracies(Comparison):
    def headline(self, predictions: pd.DataFrame) -> pd.DataFrame:
        everything = pd.Series("accuracy", index=predictions.index)
        return _values(predictions, everything, "accuracy, " + predictions["biased"].map(STORIES) + " stories")

    def tables(self, first: pd.DataFrame, second: pd.DataFrame, similarity: Similarity) -> tuple[Table, ...]:
        """What the stories that both were asked give away: an accuracy says little that is not above that."""
        both = first[first["id"].isin(second["id"])]
        told = told_without_seeing(both)
        stories = both.drop_duplicates("row").set_index("row")
        kinds = stories["biased"].map(STORIES) + " stories"
        groups = [("all stories", told), *told.groupby(kinds), *told.groupby("domain: " + stories["domain"])]
        rows = tuple(
            tuple(map(Cell, (str(name), *beside(accuracies(some)), f"{len(some):,}"))) for name, some in groups
        )
        return (Table("What the stories give away", ("stories", *BESIDE.values(), "n stories"), rows, WITHOUT_SEEING),)

    def exploratory(self, predictions: pd.DataFrame) -> pd.DataFrame:
        return _values(predictions, "domain: " + predictions["domain"])


def _values(predictions: pd.DataFrame, *figures: pd.Series) -> pd.DataFrame:
    """1 for right, 0 for wrong and NaN for unread answers, once under each figure's name."""
    values = pd.DataFrame(
        {"id": predictions["id"], "value": numbers(predictions["correct"]), "cluster": predictions["scenario_id"]}
    ).assign(least=0.0, most=1.0)
    return pd.concat([values.assign(figure=names) for names in figures])
