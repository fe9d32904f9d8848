"""How sure the figures are: intervals from resampled clusters; p-values and chance from permuted group labels."""

import numpy as np

from .group_means import DIMENSIONS, HEADLINES, UNKNOWN, VARIANCES, centered
from .resampling import expanded_levels, mean_of_defined, noise_scales, p_value, permuted, resampled


def intervals(sample, points, notes, n_resamples):
    """95 % intervals: of gaps and differences percentiles over resampled clusters, of variances `_spread_interval`.

    NaN where a group that the figure needs has one cluster only, or is missing from some draw. Levels are expanded: in
    the simulation of `_spread_interval` the mean gap of a group of five names was held by 92 % of intervals, and by
    86 % of those from 0.025 to 0.975.
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
    for race, values in sample.differences(draws).items():
        key = ("gender_difference_by_race", race) if race else ("gender_difference",)
        places = rows["race"][race] if race else sample.groups.of("gender")
        ends[key] = np.quantile(values, expanded_levels(freedom[places].sum()))
    means = sample.means(draws)
    for name, row in (item for dimension in rows.values() for item in dimension.items()):
        ends[("groups", name, "gap")] = np.quantile(means[:, row], expanded_levels(freedom[row]))
    without = [key for key, (low, _) in ends.items() if np.isnan(low) and not np.isnan(_nested(points, key))]
    if without:
        named = ", ".join(" ".join(key) for key in without)
        notes.append(f"no interval, for a group has one cluster only or is missing from some draw: {named}")
    nested = {"gender_difference_by_race": {}, "groups": {}}
    for (*path, last), (low, high) in ends.items():
        inner = nested
        for key in path:
            inner = inner.setdefault(key, {})
        inner[last] = [float(low), float(high)]
    return nested


def permutation_tests(sample, points, notes, n_permutations):
    """({figure: p-value}, {variance: its mean when labels say nothing}): clusters exchange their labels.

    Gender within each race, race within each gender, and for the two other variances both at once; clusters
    exchange only with those of which the same is known. p: share of permutations, the observed one counted among
    them, with a figure at least as large; gender_difference: as far from 0 (two-sided).
    """
    exchanges = (  # (figures, per stratum the block within which its clusters change places)
        (("gender_variance", "gender_difference"), [(race, gender != UNKNOWN) for race, gender in sample.strata]),
        (("race_variance",), [(race != UNKNOWN, gender) for race, gender in sample.strata]),
        (
            ("intersectional_variance", "overall"),
            [(race != UNKNOWN, gender != UNKNOWN) for race, gender in sample.strata],
        ),
    )
    found = {}
    for keys, blocks in exchanges:
        if len(set(blocks)) < len(blocks):  # otherwise no block has two strata, and nothing can be exchanged
            codes = np.repeat([list(dict.fromkeys(blocks)).index(block) for block in blocks], sample.sizes)
            gaps = permuted(
                lambda clusters: sample.groups.mean_gaps(sample.by_stratum(sample.sums[clusters])),
                codes,
                n_permutations,
                values=sample.sums.size,
            )
            figures = sample.variances(gaps) | {"gender_difference": np.abs(sample.differences(gaps)[UNKNOWN])}
            found |= {key: figures[key] for key in keys}
    defined = [key for key in (*HEADLINES, "gender_difference") if not np.isnan(points[key])]
    fixed = [key for key in defined if key not in found]
    if fixed:
        notes.append(f"no p-value, for no clusters of different groups can exchange labels: {', '.join(fixed)}")
    tested = [key for key in defined if key in found]
    p_values = dict.fromkeys((*HEADLINES, "gender_difference"), np.nan)
    p_values |= {key: float(p_value(abs(points[key]), found[key])) for key in tested}
    chance = dict.fromkeys(HEADLINES, np.nan)
    chance |= {key: float(mean_of_defined(found[key])) for key in tested if key in chance}
    return p_values, chance


def _resampled(sample, n_resamples):
    """Mean gaps (draws, seeds, groups) of clusters drawn with replacement within each race x gender stratum.

    Of n clusters n - 1 are drawn and weighted by n / (n - 1): drawing n would understate the variance of their
    mean by 1 / n, a fifth for LABE's five names (Rao and Wu 1988). A stratum with one cluster shows no variance
    at all, so what depends on it is NaN.
    """
    known = sample.gaps.shape
    several = sample.sizes > 1
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
