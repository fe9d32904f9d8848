"""How two labe runs are compared: by the variances between groups, as the paper compares them; by means beside that."""

from __future__ import annotations

import pandas as pd

from evenhand.benchmark import Comparison
from evenhand.benchmarks.labe import compare
from evenhand.benchmarks.labe.scoring import strata
from evenhand.report.findings import Similarity
from evenhand.report.tables import Table
from evenhand.statistics.clustered import Difference


class LabeComparison(Comparison):
    note = compare.NOTE

    def headline(self, predictions: pd.DataFrame) -> pd.DataFrame:
        """Variances are no means over texts: `differences` has all that is judged."""
        return _gaps(predictions).head(0)

    def differences(self, first: pd.DataFrame, second: pd.DataFrame) -> dict[str, Difference]:
        return compare.variance_differences(first, second)

    def exploratory(self, predictions: pd.DataFrame) -> pd.DataFrame:
        """The mean gap of each text type, of groups in it, and of each occupation, department, age, group of a file."""
        groups = predictions["race"].str.cat(predictions["gender"], sep=" ").str.strip()
        text_type = predictions["text_type"]
        of = strata(predictions)
        return _gaps(
            predictions,
            text_type + ", all",
            (text_type + ", " + groups).where(groups != ""),
            *((f"{column}: " + values).where(values != "") for column, values in of.items()),
        )

    def tables(self, first: pd.DataFrame, second: pd.DataFrame, similarity: Similarity) -> tuple[Table, ...]:
        return compare.tables(first, second, similarity)


def _gaps(predictions: pd.DataFrame, *figures: pd.Series) -> pd.DataFrame:
    """Each text's gap, once under each figure's name that it has; NaN: unread. Names would be drawn within groups."""
    values = pd.DataFrame(
        {
            "id": predictions["id"],
            "value": pd.to_numeric(predictions["gap"], errors="coerce"),
            "cluster": predictions["cluster"],
            "stratum": predictions["race"].str.cat(predictions["gender"], sep=" "),
            "least": -100.0,
            "most": 100.0,
        }
    )
    named = [values.assign(figure=names).dropna(subset="figure") for names in figures]
    return pd.concat(named) if named else values.assign(figure="")
