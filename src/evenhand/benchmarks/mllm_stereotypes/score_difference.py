"""The difference of two runs' association scores on the same queries, with a paired interval over clusters."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from evenhand.benchmarks.mllm_stereotypes.faces.face import GROUPS
from evenhand.metrics.association_score.instance_scores import instance_score, mean_of_defined, ratio
from evenhand.statistics.clustered import Difference

RESAMPLES = PERMUTATIONS = 1000
SEED = 0
RUNS = ("first", "second")
OF_BOTH = "of_both_answered"
NONE = Difference(*(math.nan,) * 6, n=0, n_clusters=0)

FloatArray = npt.NDArray[np.float64]


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
        low = high = p_value = math.nan
        estimate = float(second - first)
        if n_clusters > 1 and not math.isnan(estimate):
            moved = draws[key] - np.nanmean(draws[key]) + estimate
            low, high = (float(end) for end in np.nanquantile(moved, (0.025, 0.975)))
            as_far = np.abs(exchanged[key]) >= abs(estimate) - 1e-12
            p_value = float((as_far.sum() + 1) / (np.isfinite(exchanged[key]).sum() + 1))
        differences[key] = Difference(float(first), float(second), estimate, low, high, p_value, len(both), n_clusters)
    return differences


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

    def sums(drawn: npt.NDArray[np.int64], axis: int) -> FloatArray:
        rows = drawn.reshape(-1, n)
        times = np.stack([np.bincount(row, minlength=n) for row in rows]).astype(float)
        return np.asarray((times @ flat).T.reshape(-1, *drawn.shape[:-1]))

    drawn = stats.bootstrap(
        (np.arange(n),),
        sums,
        n_resamples=RESAMPLES,
        batch=max(1, 2_000_000 // n),
        vectorized=True,
        method="percentile",
        rng=np.random.default_rng(SEED),
    ).bootstrap_distribution.T
    return np.asarray(drawn.reshape(-1, *counts.shape[1:]))


def _exchanged(counts: FloatArray) -> FloatArray:
    """Sums in which each cluster's runs are exchanged or not, at random: (permutations, 2, instances, groups + 1)."""
    n = len(counts)
    kept = np.random.default_rng(SEED).integers(0, 2, (PERMUTATIONS, n)).astype(float)
    first, second = (counts[:, run].reshape(n, -1) for run in range(2))
    swapped = 1 - kept
    sums = np.stack([kept @ first + swapped @ second, kept @ second + swapped @ first], axis=1)
    return np.asarray(sums.reshape(PERMUTATIONS, *counts.shape[1:]))
