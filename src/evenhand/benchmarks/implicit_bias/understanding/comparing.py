"""What comparisons show besides differences of accuracies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.benchmark import Comparing
from evenhand.benchmarks.implicit_bias.understanding.figures import DIGITS, WITHOUT_SEEING
from evenhand.benchmarks.implicit_bias.understanding.reading import STORIES
from evenhand.report.tables import Cell, Table, count

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.report.findings import Similarity


class ComparingStories(Comparing):
    def tables(self, first: pd.DataFrame, second: pd.DataFrame, similarity: Similarity) -> tuple[Table, ...]:
        """What the stories that both runs were asked give away: an accuracy says little that is not above that."""
        from evenhand.benchmarks.implicit_bias.understanding.baselines import told_without_seeing

        both = first[first["id"].isin(second["id"])]
        told = told_without_seeing(both)
        stories = both.drop_duplicates("row").set_index("row")
        kinds = stories["biased"].map(STORIES) + " stories"
        groups = [("all stories", told), *told.groupby(kinds), *told.groupby("domain: " + stories["domain"])]
        rows = tuple(
            (Cell(str(name)), *(Cell(float(each), digits=DIGITS) for each in some.mean()), count(len(some)))
            for name, some in groups
        )
        columns = ("stories", "words alone", "first named", "n stories")
        return (Table("What the stories give away", columns, rows, WITHOUT_SEEING),)
