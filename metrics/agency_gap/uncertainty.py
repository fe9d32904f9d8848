"""How sure the figures are: intervals over clusters, the people whom texts are about."""

import numpy as np
from scipy import stats

from .group_means import DIMENSIONS, FEMALE, MALE, VARIANCES, centered
from .resampling import FEWEST_CLUSTERS, LEVELS, expanded_levels, noise_scales, ratio, resampled


def intervals(sample, points, notes, n_resamples):
    """95 % intervals: of gaps and differences Student's t, of variances `_spread_interval` over resampled clusters.

    NaN where a group that the figure needs has fewer than three clusters, or is missing from some draw. In the
    simulation of `_spread_interval` the mean gap of a group of five names was held by 95 % of intervals; percentiles
    over five names hold 82 to 92 %.
    """
    draws = _resampled(sample, n_resamples)
    freedom = sample.groups.members @ (sample.sizes - 1)  # by group
    rows = sample.groups.rows
    ends, spreads = {}, []
    for key, dimension in zip(VARIANCES, DIMENSIONS):
        places = sample.groups.of(dimension)
        spreads.append((sample.gaps[:, places], draws[..., places]))
        ends[(key,)] = _spread_interval(spreads[-1:], expanded_levels(freedom[places].sum()))
    ends[("overall",)] = _spread_interval(spreads, expanded_levels((sample.sizes - 1).sum()))
    widths = _Widths(sample)
    for race, value in sample.differences(sample.gaps).items():
        key = ("gender_difference_by_race", race) if race else ("gender_difference",)
        pair = [
            rows["intersectional" if race else "gender"].get(f"{race} {gender}".strip()) for gender in (MALE, FEMALE)
        ]
        ends[key] = value + widths.of(*pair)
    means = sample.means(sample.gaps)
    for name, row in (item for dimension in rows.values() for item in dimension.items()):
        ends[("groups", name, "gap")] = means[row] + widths.of(row)
    without = [key for key, (low, _) in ends.items() if np.isnan(low) and not np.isnan(_nested(points, key))]
    if without:
        named = ", ".join(" ".join(key) for key in without)
        few = f"a group has fewer than {FEWEST_CLUSTERS} clusters or is missing from some draw"
        notes.append(f"no interval, for {few}: {named}")
    nested = {"gender_difference_by_race": {}, "groups": {}}
    for (*path, last), (low, high) in ends.items():
        inner = nested
        for key in path:
            inner = inner.setdefault(key, {})
        inner[last] = [float(low), float(high)]
    return nested


class _Widths:
    """How far the ends of an interval lie from a group's mean gap, or from the difference of two groups'.

    Clusters vary within strata; Student's t with the degrees of freedom of Welch and Satterthwaite.
    """

    def __init__(self, sample):
        totals, counts = np.split(sample.sums, 2, axis=-1)
        of_strata = np.split(sample.by_stratum(sample.sums), 2, axis=-1)
        means = np.repeat(np.nan_to_num(ratio(*of_strata)), sample.sizes, axis=0)
        rest = totals - means * counts
        self.products = sample.by_stratum((rest[:, :, None] * rest[:, None, :]).reshape(len(rest), rest.shape[1] ** 2))
        self.products = self.products.reshape(len(sample.sizes), rest.shape[1], rest.shape[1])
        self.sizes = sample.sizes
        self.parts = sample.groups.members[..., None] * ratio(1.0, sample.groups.members @ of_strata[1])[:, None, :]
        self.parts = np.nan_to_num(self.parts) * ratio(1.0, (~np.isnan(sample.gaps)).sum(axis=0))[:, None, None]

    def of(self, row, less=None):
        """(low, high), below and above 0, of a group or of its difference from another; NaN where clusters are few."""
        if row is None:
            return np.full(2, np.nan)
        part = self.parts[row] - (0.0 if less is None else self.parts[less])  # (strata, seeds)
        used = np.flatnonzero((part != 0).any(axis=1))
        if not len(used) or self.sizes[used].min() < FEWEST_CLUSTERS:
            return np.full(2, np.nan)
        free = self.sizes[used] - 1
        by_stratum = np.einsum("hs,hst,ht->h", part[used], self.products[used], part[used]) * self.sizes[used] / free
        variance = by_stratum.sum()
        freedom = variance**2 / (by_stratum**2 / free).sum() if variance > 0 else free.sum()
        return stats.t.ppf(LEVELS, freedom) * np.sqrt(max(variance, 0.0))


def _resampled(sample, n_resamples):
    """Mean gaps (draws, seeds, groups) of clusters drawn with replacement within each race x gender stratum.

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
    """95 % interval of the mean of some dimensions' variances, corrected for the noise in the groups' means.

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


def _nested(result, path):
    for key in path:
        result = result[key]
    return result
