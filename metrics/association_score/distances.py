"""Scores had the shares been closer to even, or further from it, than they are seen through noise."""

import numpy as np

from evenhand.statistics.resampling import mean_of_defined, ratio


class Distances:
    """How far each instance's shares are from even, without what noise alone spreads.

    Noise makes some instances look more uneven than others where all are alike, and turns some around. So the sizes
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
        towards[[0, -1]] = 0.5, -0.5  # where all are chosen alike, one direction is as good as another
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
