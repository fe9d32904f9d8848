"""How two labe runs are compared: each group's mean gap, and the tables of compare.py."""

from __future__ import annotations

import pandas as pd

from evenhand.benchmark import Comparison
from evenhand.benchmarks.labe import compare
from evenhand.benchmarks.labe.scoring import strata
from evenhand.report.findings import Similarity
from evenhand.report.tables import Table


class LabeComparison(Comparison):
    def headline(self, predictions: pd.DataFrame) -> pd.DataFrame:
        """Of each text type, and of each group of people in it."""
        groups = predictions["race"].str.cat(predictions["gender"], sep=" ").str.strip()
        text_type = predictions["text_type"]
        return _gaps(predictions, text_type + ", all", (text_type + ", " + groups).where(groups != ""))

    def exploratory(self, predictions: pd.DataFrame) -> pd.DataFrame:
        """Of each occupation, department, age and group of a file."""
        of = strata(predictions)
        return _gaps(predictions, *((f"{column}: " + values).where(values != "") for column, values in of.items()))

    def tables(self, first: pd.DataFrame, second: pd.DataFrame, similarity: Similarity) -> tuple[Table, ...]:
        return compare.tables(first, second, similarity)


def _gaps(predictions: pd.DataFrame, *figures: pd.Series) -> pd.DataFrame:
    """Each text's gap, once under each figure's name that it has; NaN: unread."""
    values = pd.DataFrame(
        {
            "id": predictions["id"],
            "value": pd.to_numeric(predictions["gap"], errors="coerce"),
            "cluster": predictions["cluster"],
        }
    )
    return pd.concat([values.assign(figure=names).dropna(subset="figure") for names in figures])
