"""Scores had the shares been closer to even, or further from it, than they are seen through noise."""

import numpy as np

from .resampling import ratio


class Distances:
    """How far each instance's shares are from even, without what noise alone spreads.

    Noise makes some instances look more uneven than others where all are alike, and turns some around. So the sizes
    seen are drawn towards their mean until they spread as much as was seen less the noise (Louis 1984, "Estimating a
    population of parameter values using Bayes and empirical Bayes methods"); each keeps its direction.
    """

    def __init__(self, tally, draws):
        """draws (draws, columns): counts around tally.flat."""
        self._tally = tally
        rates = _rates(tally, tally.flat)
        self._seen = np.nan_to_num(rates - 1 / len(tally.groups))
        size = np.abs(self._seen).sum(axis=-1)
        towards = np.zeros(len(tally.groups))
        towards[[0, -1]] = 0.5, -0.5  # where all are chosen alike, one direction is as good as another
        direction = np.where(size[:, None] > 0, ratio(self._seen, size[:, None]), towards)
        answered = ~np.isnan(rates).any(axis=-1)
        if not answered.any():
            self._without_noise = self._seen
            return
        noise = ((_rates(tally, draws) - rates) * np.sign(direction)).sum(axis=-1)[:, answered].var(axis=0).mean()
        mean, spread = size[answered].mean(), size[answered].var(ddof=1) if answered.sum() > 1 else 0.0
        kept = np.sqrt(max(0.0, 1 - noise / spread)) if spread > 0 else 0.0
        sizes = mean + kept * (size - mean) if mean > 0 else np.full_like(size, np.sqrt(noise))
        self._without_noise = np.where(answered[:, None], direction * sizes[:, None], 0)

    def score(self, key, scale, counts):
        """The score (…) of counts (…, columns) that lie as far around shares `scale` times as uneven as around ours."""
        chosen, unread, _ = self._tally.parts(counts)
        chosen = chosen + (scale * self._without_noise - self._seen) * chosen.sum(axis=-1, keepdims=True)
        return self._tally.score(key, chosen, unread)


def _rates(tally, flat):
    chosen = tally.parts(flat)[0]
    return ratio(chosen, chosen.sum(axis=-1, keepdims=True))
