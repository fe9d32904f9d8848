"""How sure the figures are: intervals over clusters, the people whom texts are about."""

import numpy as np
from scipy import stats

from evenhand.statistics.resampling import (
    FEWEST_CLUSTERS,
    LEVELS,
    ROUNDING,
    expanded_levels,
    noise_scales,
    ratio,
    resampled,
    students_intervals,
    words,
)

from .group_means import DIMENSIONS, FEMALE, MALE, VARIANCES, centered

MOST_NAMED = 4  # figures of a warning
MOST = 100.0  # of a gap, in points, whichever way it points


def intervals(sample, points, notes, n_resamples):
    """95 % intervals: of gaps and differences Student's t, of variances `_spread_interval` over resampled clusters.

    NaN where a group that the figure needs has fewer than three clusters, or is missing from some draw. In the
    simulation of `_spread_interval` the mean gap of a group of five names was held by 95 % of intervals; percentiles
    over five names hold 82 to 92 %.
    """
    draws = resample_gaps(sample, n_resamples)
    found, without = {"gender_difference_by_race": {}, "groups": {}}, []

    def add(ends, value, *path):
        inner = found
        for key in path[:-1]:
            inner = inner.setdefault(key, {})
        inner[path[-1]] = [float(end) for end in ends]
        if np.isnan(inner[path[-1]][0]) and not np.isnan(value):
            without.append(words(" ".join(path)))

    freedom = sample.groups.members @ (sample.sizes - 1)  # by group
    spreads, equal = [], []  # equal: figures whose clusters all equal their strata's means: no noise is seen
    for key, dimension in zip(VARIANCES, DIMENSIONS):
        places = sample.groups.of(dimension)
        spreads.append((sample.gaps[:, places], draws[..., places]))
        if _no_noise(*spreads[-1]):
            equal.append(key)
            add((np.nan, np.nan), np.nan, key)
        else:
            add(_spread_interval(spreads[-1:], expanded_levels(freedom[places].sum())), points[key], key)
    if len(equal) == len(DIMENSIONS):
        equal.append("overall")
        add((np.nan, np.nan), np.nan, "overall")
    else:
        add(_spread_interval(spreads, expanded_levels((sample.sizes - 1).sum())), points["overall"], "overall")
    widths, rows = _Widths(sample), sample.groups.rows
    for race, value in sample.differences(sample.gaps).items():
        names = (f"{race} {gender}".strip() for gender in (MALE, FEMALE))
        ends = widths.of(*(rows["intersectional" if race else "gender"].get(name) for name in names))
        path = ("gender_difference_by_race", race) if race else ("gender_difference",)
        add(np.clip(value + ends, -2 * MOST, 2 * MOST), value, *path)
    means = sample.means(sample.gaps)
    for name, row in (item for dimension in rows.values() for item in dimension.items()):
        add(np.clip(means[row] + widths.of(row), -MOST, MOST), means[row], "groups", name, "gap")
    if equal:
        notes.append(
            "no interval, for no cluster departs from its group's mean, which doesn't show how others would: "
            + _first(list(map(words, equal)))
        )
    if without:
        few = f"a group has fewer than {FEWEST_CLUSTERS} clusters or is missing from some draw"
        notes.append(f"no interval, for {few}: {_first(without)}")
    return found


class _Widths:
    """How far the ends of an interval lie from a group's mean gap, or from the difference of two groups'.

    Clusters vary within strata. A cluster with many texts pulls the mean towards itself, so that its departure from it
    comes out too small: each is divided by the share that the mean leaves of it when texts are equal ("CR2", Bell and
    McCaffrey 2002), and the degrees of freedom of Student's t are those of Satterthwaite for so uneven clusters (Imbens
    and Kolesár 2016). Clusters with equally many texts: n / (n - 1), and n - 1 degrees a stratum, as Welch has them.

    A group none of whose clusters departs from its stratum's mean shows no variance: it has the interval that
    `students_intervals` gives to clusters that are all equal. A difference from such a group lies as far from its ends
    as both groups from theirs together, squared and added (Zou and Donner 2008).
    """

    def __init__(self, sample):
        totals, self.counts = np.split(sample.sums, 2, axis=-1)
        of_strata, self.whole = np.split(sample.by_stratum(sample.sums), 2, axis=-1)
        means = np.repeat(np.nan_to_num(ratio(of_strata, self.whole)), sample.sizes, axis=0)
        self.rest = totals - means * self.counts
        self.sizes, self.starts = sample.sizes, sample.starts
        self.means = sample.means(sample.gaps)
        self.parts = sample.groups.members[..., None] * ratio(1.0, sample.groups.members @ self.whole)[:, None, :]
        self.parts = np.nan_to_num(self.parts) * ratio(1.0, (~np.isnan(sample.gaps)).sum(axis=0))[:, None, None]

    def of(self, row, less=None):
        """(low, high), below and above 0, of a group or of its difference from another; NaN where clusters are few."""
        if row is None:
            return np.full(2, np.nan)
        if less is None:
            return self._alike(row) if self._all_alike(row) else self._students(self.parts[row])
        if not (self._all_alike(row) or self._all_alike(less)):
            return self._students(self.parts[row] - self.parts[less])
        (low, high), (other_low, other_high) = self.of(row), self.of(less)
        return np.array([-np.hypot(low, other_high), np.hypot(high, other_low)])

    def _all_alike(self, row):
        return bool(np.ptp(self._students(self.parts[row])) <= MOST * ROUNDING)  # not where clusters are too few: NaN

    def _alike(self, row):
        n_clusters = self.sizes[(self.parts[row] != 0).any(axis=1)].sum()
        return students_intervals(self.means[row], 0.0, 1, n_clusters, -MOST, MOST) - self.means[row]

    def _students(self, part):
        """part: (strata, seeds), what a text of each adds to the figure."""
        used = np.flatnonzero((part != 0).any(axis=1))
        if not len(used) or self.sizes[used].min() < FEWEST_CLUSTERS:
            return np.full(2, np.nan)
        by_stratum, freedom = np.transpose([self._variance(stratum, part[stratum]) for stratum in used])
        variance = by_stratum.sum()
        together = variance**2 / (by_stratum**2 / freedom).sum() if variance > 0 else freedom.sum()
        return stats.t.ppf(LEVELS, together) * np.sqrt(variance)

    def _variance(self, stratum, part):
        """(variance of a stratum's share in the figure, its degrees of freedom); part: (seeds,), what a text adds.

        Both NaN where a cluster is alone in the seeds that it has: nothing shows how it varies.
        """
        clusters = slice(self.starts[stratum], self.starts[stratum] + self.sizes[stratum])
        counts, shared = self.counts[clusters], part**2 * ratio(1.0, self.whole[stratum])
        shared = np.nan_to_num(shared)  # a seed without texts
        # Of independent texts with variance 1, clusters' departures vary by `alone` less `pulled`, and any two of them
        # together by minus the sum over seeds of shared x counts x counts.
        alone, pulled = counts @ part**2, counts**2 @ shared
        left = alone - pulled
        if np.any((alone > 0) & (left <= 1e-9 * alone)):
            return np.nan, np.nan
        weights = np.where(alone > 0, ratio(alone, left), 0.0)
        crossed = (counts.T * weights) @ counts
        squares = shared @ crossed**2 @ shared + (weights**2 * (left**2 - pulled**2)).sum()
        return (weights * (self.rest[clusters] @ part) ** 2).sum(), alone.sum() ** 2 / squares


def _no_noise(gaps, draws):
    """Whether every draw (draws, seeds, groups) that is known gives the gaps (seeds, groups) that were seen."""
    moved = np.abs(draws - gaps)
    return bool((moved <= MOST * ROUNDING).any()) and not bool((moved > MOST * ROUNDING).any())


def resample_gaps(sample, n_resamples):
    """Return mean gaps (draws, seeds, groups) of clusters drawn with replacement within each race x gender stratum.

    Of n clusters n - 1 are drawn and weighted by n / (n - 1): drawing n would understate the variance of their
    mean by 1 / n, a fifth for LABE's five names (Rao and Wu 1988). A stratum with one or two clusters shows too little
    of how they vary, so what depends on it is NaN.
    """
    known = sample.gaps.shape
    several = sample.sizes >= FEWEST_CLUSTERS
    alone = (sample.groups.members @ ~several) > 0
    if not several.any() or not sample.gaps.size:
        return np.full((1, *known), np.nan)
    samples = [np.arange(start, start + size) for start, size in zip(sample.starts[several], sample.sizes[several])]

    def mean_gaps(*drawn):
        sums = np.zeros((len(drawn[0]), len(sample.strata), sample.sums.shape[1]))
        for stratum, clusters in zip(np.flatnonzero(several), drawn):
            sums[:, stratum] = sample.sums[clusters[:, 1:]].mean(axis=1) * clusters.shape[1]
        return sample.groups.mean_gaps(sums)

    draws, _ = resampled(mean_gaps, samples, n_resamples, values=sample.sums.size)
    return np.where(alone, np.nan, draws)


def _spread_interval(dimensions, levels):
    """Return the 95 % interval of the mean of some dimensions' variances, corrected for the noise in the groups' means.

    dimensions: pairs of mean gaps (seeds, groups) and resampled ones (draws, seeds, groups). The groups' distances from
    their mean are scaled (`noise_scales`); the interval holds the observed variance.
    """
    # Of 1,000 simulated data sets of 8 groups x 5 names x 15 texts (standard deviation 3 between names, 30 between
    # texts), percent whose interval held the true gender, race, intersectional and overall variance:
    #
    #   true intersectional variance     0              9              36             100
    #   this interval                98 96 96 96    96 95 95 94    95 94 94 93    95 94 93 93
    #   percentile                    0  0  0  0    96 76 11 30    94 86 60 74    92 89 77 83
    #   basic, clipped at 0         100 100 100 100 65 91 97 95    74 84 93 90    79 86 89 88
    #   BCa                          41  0  0  0    80 84 58 69    87 86 82 84    90 90 87 87
    figure = cross = noise = 0.0
    for gaps, draws in dimensions:
        present = ~np.isnan(gaps)
        divisor = len(dimensions) * (present.sum(axis=-1) - 1)
        if gaps.size == 0 or np.any(divisor < 1):
            return np.nan, np.nan
        spread, error = centered(gaps, present), centered(draws - gaps, present)
        figure += ((spread**2).sum(axis=-1) / divisor).mean()
        cross += ((spread * error).sum(axis=-1) / divisor).mean(axis=-1)
        noise += ((error**2).sum(axis=-1) / divisor).mean(axis=-1)
    if np.any(np.isnan(noise)):
        return np.nan, np.nan

    low, high = noise_scales(lambda scale: scale**2 * figure + 2 * scale * cross + noise, figure, levels)
    return min(low**2 * figure, figure), max(high**2 * figure, figure)


def _first(names: list[str]) -> str:
    """Return the first few of them, and how many more there are: a warning that names them all is not read."""
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
