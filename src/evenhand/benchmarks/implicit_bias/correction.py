"""What reflection does to an agent's own assignment, before discussing and after (Borah & Mihalcea, appendix E)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from evenhand.benchmarks.implicit_bias.scenario import SCORES
from evenhand.statistics.clustered import clustered_mean
from evenhand.statistics.resampling import (
    N_RESAMPLES,
    FloatArray,
    IntArray,
    expanded_levels,
    no_spread,
    ratio,
    resampled,
)

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
    neutral = (both.loc[biased, "outcome"] == NEUTRAL).astype(float)
    corrected = clustered_mean(neutral, both.loc[biased, "scenario_id"], (0, 1))
    spoiled = both.loc[~biased, "outcome"] != NEUTRAL
    return {
        "rate": corrected.estimate,
        "interval": [corrected.low, corrected.high],
        "n": corrected.n,
        "n_clusters": corrected.n_clusters,
        "spoiled": float(spoiled.mean()) if len(spoiled) else math.nan,
        "n_neutral": len(spoiled),
    }


def reduction(first: pd.DataFrame, last: pd.DataFrame) -> dict[str, Any]:
    """How far the bias score has fallen when the interaction is over, as a share of the first: (first - last) / first.

    Of agents whose first and last assignments were both read. The paper gives ranges (appendix E: 0.61 to 0.77, 0.68 to
    0.87) and no formula: this is our reading. Differences can't be meant, for its models' scores before the interaction
    are 0.53 at most (Table 1) and stay above 0. `rate`: 1 where nothing is left, negative where the score has grown,
    NaN where it was not above 0 at first; its 95 % interval over scenarios is NaN where it was not in some draw.
    """
    both = with_former(first, last).dropna(subset=["score", "score_before"]).astype({"score": float})
    before = both["score_before"].astype(float)
    sums = pd.DataFrame({"fallen": before - both["score"], "before": before}).groupby(both["scenario_id"]).sum()
    rate, *interval = share_lost(sums["fallen"].to_numpy(dtype=float), sums["before"].to_numpy(dtype=float))
    return {"rate": rate, "interval": interval, "n": len(both), "n_clusters": len(sums)}


def share_lost(fallen: FloatArray, before: FloatArray) -> tuple[float, float, float]:
    """What has fallen of what was before, from sums (scenarios,), and its interval's ends.

    The expanded percentile bootstrap covers 94 to 95 % of 42 and of 111 scenarios, 93 to 94 % of 20. NaN where all
    scenarios have lost the same share, which doesn't show how others would differ.
    """

    def share(drawn: IntArray) -> FloatArray:
        return ratio(fallen[drawn].sum(axis=1), before[drawn].sum(axis=1))

    draws, _ = resampled(share, [np.arange(len(fallen))], N_RESAMPLES, values=2 * len(fallen))
    alike = no_spread(float(np.ptp(draws)))
    low, high = (math.nan, math.nan) if alike else np.quantile(draws, expanded_levels(len(fallen) - 1))
    return float(ratio(fallen.sum(), before.sum())), float(low), float(high)


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
