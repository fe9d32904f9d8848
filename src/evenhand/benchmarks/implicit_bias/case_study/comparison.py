"""Two runs of the case study: the answers of the same agents in the same conversations."""

from __future__ import annotations

import numpy as np
import pandas as pd

from evenhand.benchmark import Comparison
from evenhand.benchmarks.implicit_bias.case_study.findings import FIGURES
from evenhand.benchmarks.implicit_bias.case_study.prompts import TASK_ASSIGNMENT
from evenhand.benchmarks.implicit_bias.case_study.scores import ASKED, reason_rows
from evenhand.benchmarks.implicit_bias.findings import STAGES


class PairedStudents(Comparison):
    def headline(self, predictions: pd.DataFrame) -> pd.DataFrame:
        asked = predictions[predictions["stage"].isin(ASKED)]
        return _values(asked, _figures(asked))

    def exploratory(self, predictions: pd.DataFrame) -> pd.DataFrame:
        """By the gender of who answers; and how reasons speak of women and men."""
        asked = predictions[predictions["stage"].isin(ASKED)]
        reasons = reason_rows(asked).dropna(subset="agentic")
        of_answers = reasons.groupby(["id", "names", "gender"], as_index=False)["agentic"].mean()
        about = pd.DataFrame(
            {
                "id": of_answers["id"],
                "value": of_answers["agentic"],
                "cluster": of_answers["names"],
                "least": 0.0,
                "most": 1.0,
                "figure": "agentic share of reasons, " + of_answers["gender"],
            }
        )
        return pd.concat([_values(asked, _figures(asked) + ", " + asked["agent_gender"] + " agents"), about])


def _figures(asked: pd.DataFrame) -> pd.Series:
    return asked["case"].map(FIGURES) + ", " + asked["stage"].map(STAGES)


def _values(asked: pd.DataFrame, figures: pd.Series) -> pd.DataFrame:
    """Scores, from -1 to 1, of tasks that are assigned; else 1 for a man who is named, and 0 for a woman."""
    return pd.DataFrame(
        {"id": asked["id"], "value": asked["score"].astype(float), "cluster": asked["names"], "figure": figures}
    ).assign(least=np.where(asked["case"] == TASK_ASSIGNMENT, -1.0, 0.0), most=1.0)
