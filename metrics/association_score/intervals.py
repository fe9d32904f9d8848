"""95 % intervals of the figures, from draws of the counts that other pairs, and other faces, would have given."""

import numpy as np
from scipy import sparse

from evenhand.statistics.resampling import (
    FEWEST_CLUSTERS,
    expanded_levels,
    mean_of_defined,
    noise_scales,
    ratio,
    students_intervals,
)

from .tally import POSITION, ROUNDING, SCORES

LARGEST_SCALE = 64  # where a score, as a best case of 0, does not grow with the distances


def intervals(tally, clusters, noise, n_resamples):
    """{path: [low, high]} of the figures of a tally; clusters: counts as tally.flat (columns, clusters)."""
    draws = noise.draws(tally.flat, n_resamples)
    if not len(draws):
        return {path: [np.nan, np.nan] for path in tally.figures()}
    return _score_intervals(tally, draws, noise) | _share_intervals(tally, clusters, noise)


def _share_intervals(tally, clusters, noise):
    """Student's t in log-odds of what each share can be.

    Their errors are those of the counts, so that shares of one instance and of all pairs are treated in the same way.
    """
    paths, parts, wholes, largest = tally.shares()
    n, whole = np.diff((sparse.csr_array(wholes) @ clusters).tocsr().indptr), wholes @ tally.flat
    share, most = ratio(parts @ tally.flat, whole), ratio(largest @ tally.flat, whole)
    moved = ratio(parts - np.nan_to_num(share)[:, None] * wholes, whole[:, None])
    errors = np.linalg.norm(moved @ noise.root(), axis=1)
    n = np.where(n < FEWEST_CLUSTERS, np.nan, np.fmin(n, noise.independent))
    ends = students_intervals(share, errors, n - 1, n, 0, np.where(most > 0, most, 1))
    ends[most == 0] = 0  # the group was never offered
    return {path: (each - 0.5 * (path == POSITION)).tolist() for path, each in zip(paths, ends)}


def _score_intervals(tally, draws, noise):
    """Intervals of the scores, corrected for the noise in the shares that they are made of (`noise_scales`).

    A score adds up distances from an even share. All distances are scaled; the interval holds the observed score. It
    begins no higher than Student's t in log-odds of what the score can be: near the most, noise is not symmetric.
    Clusters that are all equal have the interval that `students_intervals` gives.
    """
    root, n = noise.root(), noise.independent
    levels, distances = expanded_levels(n - 1), Distances(tally, draws)
    step = 1e-3 * np.eye(len(tally.flat))

    def interval(key):
        observed, drawn = tally.score_of(key, tally.flat), tally.score_of(key, draws)
        if np.isnan(drawn).any():
            return [np.nan, np.nan]
        if len(drawn) > 1 and np.ptp(drawn) <= ROUNDING:  # one draw can't show that no cluster departs from the others
            return students_intervals(observed, 0.0, 1, n, 0, tally.most_possible).tolist()
        slopes = (tally.score_of(key, tally.flat + step) - tally.score_of(key, tally.flat - step)) / (2 * 1e-3)
        error = np.linalg.norm(slopes @ root)
        students_low = students_intervals(observed, error, n - 1, n, 0, tally.most_possible)[0]
        smallest, largest = noise_scales(
            lambda scale: distances.shown(key, scale), observed, levels, LARGEST_SCALE, tolerance=1e-4
        )
        low = distances.score(key, smallest)
        # Less than noise alone gives, as when exactly half chose each: there is nothing to scale.
        high = distances.score(key, largest) if largest else np.quantile(drawn, levels[1])
        low = min(low if low > ROUNDING else 0.0, observed, students_low)
        return [float(low), float(min(max(high, observed), tally.most_possible))]

    computed = SCORES if tally.parts(tally.flat)[1].any() else SCORES[:2]
    ends = {key: interval(key) for key in computed}
    return {(key,): ends.get(key, ends["association_score"]) for key in SCORES}


class Distances:
    """How far each instance's shares are from even, without what noise alone spreads.

    Noise makes some instances look more uneven than others where all are equal, and turns some around. So the sizes
    seen are drawn towards their mean until they spread as much as was seen less the noise (Louis 1984, "Estimating a
    population of parameter values using Bayes and empirical Bayes methods"); each keeps its direction.
    """

    def __init__(self, tally, draws):
        """draws (draws, columns): counts around tally.flat."""
        self._tally, self._draws = tally, draws
        chosen, self._unread, _ = tally.parts(draws)
        self._answered = chosen.sum(axis=-1, keepdims=True)
        rates, drawn = _rates(tally.parts(tally.flat)[0]), _rates(chosen)
        self._seen = np.nan_to_num(rates - 1 / len(tally.groups))
        self._noise = drawn - 1 / len(tally.groups) - self._seen
        self._share = ratio(chosen.sum(axis=(-2, -1)), chosen.sum(axis=(-2, -1)) + self._unread.sum(axis=(-2, -1)))
        self._without_noise = self._smoothed(~np.isnan(rates).any(axis=-1))

    def _smoothed(self, answered):
        """Distances (instances, groups) of instances of which any was answered."""
        if not answered.any():
            return self._seen
        size = np.abs(self._seen).sum(axis=-1)
        towards = np.zeros(self._seen.shape[-1])
        towards[[0, -1]] = 0.5, -0.5  # where all are chosen equally often, one direction is as good as another
        direction = np.where(size[:, None] > 0, ratio(self._seen, size[:, None]), towards)
        noise = (self._noise * np.sign(direction)).sum(axis=-1)[:, answered].var(axis=0).mean()
        mean, spread = size[answered].mean(), size[answered].var(ddof=1) if answered.sum() > 1 else 0.0
        kept = np.sqrt(max(0.0, 1 - noise / spread)) if spread > 0 else 0.0
        sizes = mean + kept * (size - mean) if mean > 0 else np.full_like(size, np.sqrt(noise))
        return np.where(answered[:, None], direction * sizes[:, None], 0)

    def score(self, key, scale):
        """The true score, were shares `scale` times as far from even."""
        chosen, unread, _ = self._tally.parts(self._tally.flat)
        moved = scale * self._without_noise - self._seen
        return float(self._tally.score(key, chosen + moved * chosen.sum(axis=-1, keepdims=True), unread))

    def shown(self, key, scale):
        """The scores (draws,) that would be seen then, through noise like that of the draws."""
        distance = self._noise + scale * self._without_noise
        if key not in ("association_score", "association_score_answered"):
            chosen = (distance + 1 / distance.shape[-1]) * self._answered
            return self._tally.score(key, np.where(self._answered > 0, chosen, 0), self._unread)
        shown = mean_of_defined(np.abs(distance).sum(axis=-1) / distance.shape[-1])
        return shown * self._share if key == "association_score" else shown


def _rates(chosen):
    return ratio(chosen, chosen.sum(axis=-1, keepdims=True))
