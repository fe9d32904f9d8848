"""The difference of two runs' association scores on the same queries, with a paired interval over clusters."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from evenhand.benchmarks.mllm_stereotypes.faces.face import GROUPS
from evenhand.metrics.association_score.instance_scores import instance_score
from evenhand.statistics.clustered import Difference
from evenhand.statistics.resampling import (
    N_RESAMPLES,
    FloatArray,
    exchanges,
    how_often,
    mean_of_defined,
    moved_interval,
    p_value,
    ratio,
    resampled,
)

RUNS = ("first", "second")
OF_BOTH = "of_both_answered"
NONE = Difference(*(math.nan,) * 6, n=0, n_clusters=0)


def score_differences(both: pd.DataFrame) -> dict[str, Difference]:
    """Of the paired rows of one configuration: both scores, and OF_BOTH, which is the fair one without unread answers.

    both: columns pair (clusters), attribute (one value), instance, chosen_first, chosen_second ("" for unread).

    Noise raises scores, most those near 0 and those of few answers: of two random answerers the one that answers
    seldom has the higher association_score_answered. OF_BOTH is that score over the queries that both answered, whose
    noise is alike. NaN where a score is not defined.

    The interval is the percentile interval of the difference over draws of clusters, moved so that the mean of the
    draws lies at the difference seen: resampling adds noise to the shares that each score is made of, and so to each
    score, but to both runs' alike. p: two-sided, over exchanges of the runs for whole clusters.
    """
    answered = both[(both["chosen_first"] != "") & (both["chosen_second"] != "")]
    fair = _differences(answered)["association_score_answered"] if len(answered) else NONE
    return _differences(both) | {OF_BOTH: fair}


def _differences(both: pd.DataFrame) -> dict[str, Difference]:
    groups = GROUPS[both["attribute"].iloc[0]]
    counts = np.stack([_counts(both, f"chosen_{run}", groups) for run in RUNS], axis=1)
    n_clusters = len(counts)
    observed = _scores(counts.sum(axis=0))
    draws = _difference(_drawn(counts)) if n_clusters > 1 else {}
    exchanged = _difference(_exchanged(counts)) if n_clusters > 1 else {}
    differences = {}
    for key, (first, second) in observed.items():
        low = high = p = math.nan
        estimate = float(second - first)
        if n_clusters > 1 and not math.isnan(estimate):
            low, high = moved_interval(_defined(draws[key]), estimate).tolist()
            p = float(p_value(abs(estimate), np.abs(_defined(exchanged[key]))))
        differences[key] = Difference(float(first), float(second), estimate, low, high, p, len(both), n_clusters)
    return differences


def _defined(figures: FloatArray) -> FloatArray:
    return figures[~np.isnan(figures)]


def _counts(both: pd.DataFrame, column: str, groups: tuple[str, ...]) -> FloatArray:
    """How often each group was chosen, and none, in each cluster: (clusters, instances, groups + 1)."""
    cluster, instance = (pd.factorize(both[name], sort=True)[0] for name in ("pair", "instance"))
    answer = both[column].map({group: code for code, group in enumerate(groups)}).fillna(len(groups)).to_numpy(int)
    shape = (cluster.max() + 1, instance.max() + 1, len(groups) + 1)
    cells = np.ravel_multi_index((cluster, instance, answer), shape)
    return np.bincount(cells, minlength=np.prod(shape)).reshape(shape).astype(float)


def _scores(counts: FloatArray) -> dict[str, FloatArray]:
    """Scores (…) of counts (…, instances, groups + 1)."""
    chosen = counts[..., :-1]
    answered = mean_of_defined(instance_score(chosen))
    share = ratio(chosen.sum(axis=(-2, -1)), counts.sum(axis=(-2, -1)))
    return {"association_score": answered * share, "association_score_answered": answered}


def _difference(counts: FloatArray) -> dict[str, FloatArray]:
    """Second minus first (draws,) of counts (draws, 2, instances, groups + 1)."""
    return {key: of[:, 1] - of[:, 0] for key, of in _scores(counts).items()}


def _drawn(counts: FloatArray) -> FloatArray:
    """Sums over clusters drawn with replacement: (draws, 2, instances, groups + 1)."""
    n = len(counts)
    flat = counts.reshape(n, -1)
    values = 3 * n + flat.shape[1]
    draws, _ = resampled(lambda drawn: how_often(drawn, n) @ flat, [np.arange(n)], N_RESAMPLES, values)
    return draws.reshape(-1, *counts.shape[1:])


def _exchanged(counts: FloatArray) -> FloatArray:
    """Sums in which each cluster's runs are exchanged or not, at random: (permutations, 2, instances, groups + 1)."""
    n = len(counts)
    swapped = exchanges(n, N_RESAMPLES)
    first, second = (counts[:, run].reshape(n, -1) for run in range(2))
    kept = 1 - swapped
    sums = np.stack([kept @ first + swapped @ second, kept @ second + swapped @ first], axis=1)
    return sums.reshape(-1, *counts.shape[1:])
