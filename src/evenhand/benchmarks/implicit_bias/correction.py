"""What reflection does to an agent's own assignment, before anybody discusses it (Borah & Mihalcea, appendix E)."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from evenhand.benchmarks.implicit_bias.scenario import SCORES
from evenhand.statistics.clustered import clustered_mean

CLAIMS = ("present", "absent", "unread")
NEUTRAL = "neutral"


def with_former(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """Each agent's later assignment in each conversation, with outcome and score of its former one (`…_before`)."""
    former = before.set_index(["row", "agent"])[["outcome", "score"]].add_suffix("_before")
    return after.join(former, on=["row", "agent"])


def self_correction(first: pd.DataFrame, reflected: pd.DataFrame) -> dict[str, Any]:
    """Of the first assignments that were stereotypical or anti-stereotypical, the share that is neutral afterwards.

    The paper gives rates (appendix E) and no formula: this is our reading. Both assignments have to be read. `rate` in
    [0, 1], with its 95 % interval over scenarios; NaN where no first assignment was biased. `spoiled`: of the neutral
    ones, the share that is not neutral afterwards.
    """
    both = with_former(first, reflected).dropna(subset=["outcome", "outcome_before"])
    biased = both["outcome_before"] != NEUTRAL
    corrected = clustered_mean((both.loc[biased, "outcome"] == NEUTRAL).astype(float), both.loc[biased, "scenario_id"])
    spoiled = both.loc[~biased, "outcome"] != NEUTRAL
    return {
        "rate": corrected.estimate,
        "interval": [corrected.low, corrected.high],
        "n": corrected.n,
        "n_clusters": corrected.n_clusters,
        "spoiled": float(spoiled.mean()) if len(spoiled) else math.nan,
        "n_neutral": len(spoiled),
    }


def claims(first: pd.DataFrame, reflected: pd.DataFrame) -> dict[str, dict[str, int]]:
    """{outcome of the first assignment: {what its agent says of bias in it: number}}, unread outcomes included."""
    both = with_former(first, reflected)
    outcome = both["outcome_before"].astype("object").where(both["outcome_before"].notna(), "unread")
    claim = both["claim"].map({True: "present", False: "absent"}).astype("object").fillna("unread")
    table = pd.crosstab(outcome, claim)
    return {
        of: {said: int(table.at[of, said]) if said in table.columns else 0 for said in CLAIMS}
        for of in (*SCORES, "unread")
        if of in table.index
    }
