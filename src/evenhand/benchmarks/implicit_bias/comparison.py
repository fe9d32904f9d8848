"""Two runs, or several: the scores of the same agents in the same conversations, stage by stage."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from evenhand.benchmark import Comparison
from evenhand.benchmarks.implicit_bias.findings import STAGES
from evenhand.benchmarks.implicit_bias.interaction import ASSIGNMENTS
from evenhand.benchmarks.implicit_bias.side_by_side import panels
from evenhand.report.findings import Panel, Run


class PairedAgents(Comparison):
    def headline(self, predictions: pd.DataFrame) -> pd.DataFrame:
        assigned = _assigned(predictions)
        return _values(assigned, assigned["stage"].map(STAGES.__getitem__))

    def exploratory(self, predictions: pd.DataFrame) -> pd.DataFrame:
        assigned = _assigned(predictions)
        return _values(
            assigned, *(f"{column}: " + assigned[column] + ", " + assigned["stage"] for column in ("domain", "shape"))
        )

    def panels(self, runs: Sequence[Run]) -> tuple[Panel, ...]:
        """One for each setting, in which models and mitigations differ."""
        return panels(runs)


def _assigned(predictions: pd.DataFrame) -> pd.DataFrame:
    return predictions[predictions["stage"].isin(ASSIGNMENTS)]


def _values(assigned: pd.DataFrame, *figures: pd.Series) -> pd.DataFrame:
    values = pd.DataFrame(
        {"id": assigned["id"], "value": assigned["score"].astype(float), "cluster": assigned["scenario_id"]}
    ).assign(least=-1.0, most=1.0)
    return pd.concat([values.assign(figure=names) for names in figures])
