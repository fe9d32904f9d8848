"""The difference of two runs' association scores on the same queries, less what noise adds, with a paired interval."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import special

from evenhand.benchmarks.mllm_stereotypes.options import GROUPS, OF_BOTH
from evenhand.metrics.association_score.intervals import Distances
from evenhand.metrics.association_score.noise import count_by_cluster, faces_of_clusters, noise
from evenhand.metrics.association_score.tally import ROUNDING, Tally
from evenhand.statistics.clustered import Difference
from evenhand.statistics.resampling import LEVELS, N_RESAMPLES, FloatArray, IntArray, students_intervals

RUNS = ("first", "second")
KEYS = ("association_score", "association_score_answered")
NONE = Difference(*(math.nan,) * 6, n=0, n_clusters=0)
SCALES = np.concatenate([np.linspace(0, 1, 11), np.linspace(1.1, 2, 7), [2.5, 3, 4, 6, 10, 20]])
STEPS = 60  # tried of the first run's true score, for each difference
LESS_NOISE = "less noise"
REACH = 8  # standard errors from the difference seen, beyond which no end is looked for


def score_differences(both: pd.DataFrame) -> dict[str, Difference]:
    """Of the paired rows of one configuration: both scores, and OF_BOTH, which is the fair one without unread answers.

    both: columns pair (clusters), attribute (one value), instance, chosen_first, chosen_second ("" for unread); where
    there are any, candidates, and faces (of two ids, or None).

    Noise raises scores, most those near 0 and those of few answers: of two random answerers the one that answers
    seldom has the higher association_score_answered. OF_BOTH is that score over the queries that both answered, whose
    noise is equal. `first` and `second` are the scores as they are reported, by the paper's formula. The difference is
    of the true scores: less noise (`_Scores`), so that it may exceed that of the two. NaN where a score is not defined.
    With fewer than three pairs, or pairs without a face in common, noise is unknown: the difference is the plain one,
    without an interval.
    """
    found = _differences(both)
    answered = (both["chosen_first"] != "") & (both["chosen_second"] != "")
    of_both = found if answered.all() else _differences(both[answered]) if answered.any() else {KEYS[1]: NONE}
    return found | {OF_BOTH: of_both[KEYS[1]]}


def _differences(both: pd.DataFrame) -> dict[str, Difference]:
    tallies, draws, freedom = _drawn(both)
    n_clusters = both["pair"].nunique()
    differences = {}
    for key in KEYS[:1] if all(not tally.parts(tally.flat)[1].any() for tally in tallies) else KEYS:
        first, second = (float(tally.score_of(key, tally.flat)) for tally in tallies)
        estimate, low, high, p = second - first, math.nan, math.nan, math.nan
        correction = ""
        if len(draws[0]) and not math.isnan(estimate):
            one, other = (_Scores.of(key, tally, drawn) for tally, drawn in zip(tallies, draws))
            most = max(tally.most_possible for tally in tallies)  # noise taken out may lead beyond what can be
            *found, p = _corrected(one, other, freedom, most)
            estimate, low, high = (float(np.clip(each, -most, most)) for each in found)
            correction = LESS_NOISE
        smallest = 0.5**freedom if len(draws[0]) else 0.0
        differences[key] = Difference(
            first, second, estimate, low, high, p, len(both), n_clusters, smallest, correction
        )
    return {key: differences.get(key, differences[KEYS[0]]) for key in KEYS}  # where all is answered, they are one


def _drawn(both: pd.DataFrame) -> tuple[list[Tally], list[FloatArray], float]:
    """(counts of each run; draws around them, paired, (draws, columns) each; degrees of freedom)."""
    groups = GROUPS[both["attribute"].iloc[0]]
    instance, instances = pd.factorize(both["instance"], sort=True)
    offer, offered = _offers(both, groups)
    shape = (len(instances), len(offered), len(groups) + 1)
    cells = [np.ravel_multi_index((instance, offer, _answers(both[f"chosen_{run}"], groups)), shape) for run in RUNS]
    size = math.prod(shape)
    counts = [np.bincount(cell, minlength=size).reshape(shape) for cell in cells]
    tallies = [Tally(list(instances), groups, offered, each) for each in counts]
    faces = _faces(both)
    drawn = pd.factorize(both["pair"])[0] if faces is None else faces @ [faces.max() + 1, 1]
    clusters, cluster = count_by_cluster(
        drawn, np.stack([cells[0], size + cells[1]]), 2 * size, cells[0] * size + cells[1]
    )
    blocks = np.concatenate([run * size + tally.blocks for run, tally in enumerate(tallies)])
    instances = np.concatenate([run * len(tally.instances) + tally.of_instances for run, tally in enumerate(tallies)])
    found = noise(clusters, blocks, None if faces is None else faces_of_clusters(cluster, faces), instances)
    draws = found.draws(np.concatenate([tally.flat for tally in tallies]), N_RESAMPLES)
    return tallies, [draws[:, :size], draws[:, size:]], found.independent - 1


def _answers(chosen: pd.Series, groups: tuple[str, ...]) -> IntArray:
    """Codes (rows,) of the groups chosen, one more for unread."""
    places = pd.Index(groups).get_indexer(pd.Index(chosen)).astype(np.int64)
    return np.asarray(np.where(places < 0, len(groups), places))


def _offers(both: pd.DataFrame, groups: tuple[str, ...]) -> tuple[IntArray, npt.NDArray[np.bool_]]:
    """(codes of queries, which groups each offered: bool (sets, groups)); without candidates all offer all."""
    if "candidates" not in both:
        return np.zeros(len(both), dtype=np.int64), np.ones((1, len(groups)), dtype=bool)
    members = [tuple(group in candidates for group in groups) for candidates in map(list, both["candidates"])]
    codes, sets = pd.factorize(pd.Series(members), sort=True)
    return codes, np.array(list(sets), dtype=bool).reshape(len(sets), len(groups))


def _faces(both: pd.DataFrame) -> IntArray | None:
    """Codes (rows, 2), the smaller first, where every row shows two faces."""
    if "faces" not in both or both["faces"].isna().any():
        return None
    codes, _ = pd.factorize(np.array(both["faces"].tolist(), dtype=object).ravel())
    return np.sort(np.asarray(codes, dtype=np.int64).reshape(-1, 2))


class _Scores(NamedTuple):
    """What one run would show, had its shares been SCALES times as far from even as they are."""

    observed: float
    of_scale_one: float  # the true score at scale 1; at others in proportion
    means: FloatArray  # (scales,) of what it would show
    deviations: FloatArray  # (scales, draws) from these

    @classmethod
    def of(cls, key: str, tally: Tally, draws: FloatArray) -> _Scores:
        distances = Distances(tally, draws)
        shown = np.stack([distances.shown(key, scale) for scale in SCALES])
        means = shown.mean(axis=1)
        observed, one = float(tally.score_of(key, tally.flat)), distances.score(key, 1.0)
        return cls(observed, one, means, shown - means[:, None])

    @property
    def largest_error(self) -> float:
        return float(self.deviations.std(axis=1).max())

    def at(self, scores: FloatArray) -> FloatArray:
        """Weights (scores, scales) of the scales at which the true scores (scores,) are those."""
        scales = scores / self.of_scale_one if self.of_scale_one > ROUNDING else np.zeros_like(scores)
        place = np.interp(scales, SCALES, np.arange(len(SCALES)))
        return np.asarray(np.fmax(0, 1 - np.abs(place[:, None] - np.arange(len(SCALES)))))

    def misses(self, scores: FloatArray, weights: FloatArray) -> FloatArray:
        """How much more was observed than is shown on average where the true scores (scores,) are those."""
        exactly_even = self.of_scale_one <= ROUNDING  # without noise: then what is shown is true
        return self.observed - (scores if exactly_even else weights @ self.means)


def _corrected(first: _Scores, second: _Scores, freedom: float, most: float) -> tuple[float, float, float, float]:
    """(difference of the true scores, ends of its interval, p); most: that a score can be.

    For each difference of true scores, those two that explain the scores seen best are looked for; the interval holds
    the differences under which the difference seen would lie where 95 % do, by Student's t. The levels' intervals scale
    distances equally.
    """
    seen = second.observed - first.observed
    from scipy import optimize

    nearest_p = 0.5**freedom  # that so few clusters allow when all of them say the same
    if np.ptp(first.deviations - second.deviations) < ROUNDING:  # the runs' noise is one and the same, or none
        low, high = students_intervals(seen, 0.0, 1, freedom + 1, -most, most)  # others might have another
        return seen, float(low), float(high), 1.0 if abs(seen) < ROUNDING else nearest_p
    surprise = _surprise(first, second)
    reach = REACH * math.hypot(first.largest_error, second.largest_error)

    def where(level: float) -> float:
        ends = seen - reach, seen + reach
        if math.isnan(surprise(ends[0]) + surprise(ends[1])):  # a run with too few answers to tell its noise
            return math.nan
        if surprise(ends[0]) <= level or surprise(ends[1]) >= level:
            return ends[0] if surprise(ends[0]) <= level else ends[1]
        return float(optimize.brentq(lambda difference: surprise(difference) - level, *ends, xtol=1e-5))

    if math.isnan(estimate := where(0.0)):
        return seen, math.nan, math.nan, math.nan
    high, low = (where(float(level)) for level in special.stdtrit(freedom, LEVELS))
    p = float(2 * special.stdtr(freedom, -abs(surprise(0.0))))
    return estimate, min(low, estimate), max(high, estimate), max(p, nearest_p)


def _surprise(first: _Scores, second: _Scores) -> Callable[[float], float]:
    """By a difference of true scores, how many standard errors the difference seen lies above what it leads to."""
    draws = first.deviations.shape[1]
    of_first, of_second, of_both = (
        one.deviations @ other.deviations.T / draws
        for one, other in ((first, first), (second, second), (first, second))
    )
    beyond = REACH * math.hypot(first.largest_error, second.largest_error) + first.observed + second.observed

    def surprise(difference: float) -> float:
        least = max(0.0, -difference)
        seen = [first.of_scale_one, second.of_scale_one - difference]
        scores = np.fmax(least, np.concatenate([np.linspace(least, least + beyond, STEPS), seen]))
        one, other = first.at(scores), second.at(scores + difference)
        miss, other_miss = first.misses(scores, one), second.misses(scores + difference, other)
        variance, other_variance, together = (
            ((left @ covariance) * right).sum(axis=1)
            for left, covariance, right in ((one, of_first, one), (other, of_second, other), (one, of_both, other))
        )
        unlikely = other_variance * miss**2 - 2 * together * miss * other_miss + variance * other_miss**2
        determinant = variance * other_variance - together**2
        best = int((unlikely / np.fmax(determinant, ROUNDING * variance * other_variance + ROUNDING**2)).argmin())
        error = math.sqrt(max(float(variance[best] + other_variance[best] - 2 * together[best]), ROUNDING**2))
        return float(other_miss[best] - miss[best]) / error

    return surprise
