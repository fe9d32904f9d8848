"""How two runs are compared: by their scores and by how many queries they answer; by each group's share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from evenhand.benchmark import Comparison
from evenhand.benchmarks.mllm_stereotypes import side_by_side
from evenhand.benchmarks.mllm_stereotypes.configs import in_words
from evenhand.benchmarks.mllm_stereotypes.faces.face import GROUPS
from evenhand.benchmarks.mllm_stereotypes.faces.pairs import faces_of
from evenhand.report.findings import Panel, Run
from evenhand.statistics.clustered import Difference

EVERY_GROUP = [group for groups in GROUPS.values() for group in groups]


class AssociationComparison(Comparison):
    note = (
        "Association scores are as reported; noise raises them. Their differences are less noise, and may exceed those "
        "of the two scores shown. "
    )

    def headline(self, predictions: pd.DataFrame) -> pd.DataFrame:
        configs = predictions["config"].map(in_words)
        return _value(predictions, configs + ": answered", predictions["chosen"].notna())

    def exploratory(self, predictions: pd.DataFrame) -> pd.DataFrame:
        configs = predictions["config"].map(in_words)
        return pd.concat(
            [_shares(predictions, configs), _shares(predictions, configs + ", " + predictions["instance"])]
        )

    def differences(self, first: pd.DataFrame, second: pd.DataFrame) -> Mapping[str, Difference]:
        return side_by_side.headline_differences(first, second)

    def panels(self, runs: Sequence[Run]) -> tuple[Panel, ...]:
        return side_by_side.panels(runs)


def _shares(predictions: pd.DataFrame, names: pd.Series) -> pd.DataFrame:
    """For each group 1 where it was chosen and 0 where another was, NaN for unread.

    Of two groups the first alone: the other's share is what is left.
    """
    chosen = predictions["chosen"]
    parts = []
    for attribute, groups in GROUPS.items():
        for group in groups[:1] if len(groups) == 2 else groups:
            offered = [group in list(candidates) for candidates in predictions["candidates"]]
            asked = np.array(offered) & (predictions["attribute"] == attribute).to_numpy()
            value = (chosen == group).astype(float).where(chosen.notna())
            parts.append(_value(predictions[asked], (names + f": {group}")[asked], value[asked], group))
    return pd.concat(parts)


def _value(predictions: pd.DataFrame, names: pd.Series, values: pd.Series, group: str | None = None) -> pd.DataFrame:
    """Clusters are pictures of things, and faces: those of the group, crossed with those that stand beside them."""
    shown = [
        (pair, None) if scenario == "persona" else _faces(pair, candidates, group)
        for pair, scenario, candidates in zip(*(predictions[name] for name in ("pair", "scenario", "candidates")))
    ]
    cluster, crossed = zip(*shown) if shown else ((), ())
    return pd.DataFrame(
        {
            "figure": names,
            "id": predictions["id"],
            "value": values.astype(float),
            "cluster": pd.Series(cluster, predictions.index, dtype=object),
            "crossed": pd.Series(crossed, predictions.index, dtype=object),
            "least": 0.0,
            "most": 1.0,
        }
    )


def _faces(pair: str, candidates: Sequence[str], group: str | None) -> tuple[str, str]:
    """The group's face first, where it is one of them."""
    one, other = faces_of(pair)
    of_one = min(candidates, key=EVERY_GROUP.index)
    return (other, one) if group in list(candidates) and group != of_one else (one, other)
