"""Tests by permutation: differences between groups' mean gaps, measured in the noise of those means.

A test that permutes labels and compares the differences themselves takes noise for a difference where a small group is
noisier than a large one: of data like RateMyProfessor's (447 reviews of women, 2,069 of men) with women's twice as
noisy it rejects up to 20 percent without any effect. Divided by its own noise, computed anew in each permutation, a
difference of two groups keeps the level (Janssen 1997; Pauly, Brunner and Konietschke 2015). Of more groups of few
names it rejected 7 to 8 percent where one or half of them were noisier, and so it did of two genders of few names, one
group of which was four times as noisy. So draws of a parametric bootstrap with equal means have a say, too: p is
the larger of both.
"""

import numpy as np

from evenhand.statistics.resampling import (
    SEED,
    VALUES_AT_ONCE,
    mean_of_defined,
    p_value,
    permuted,
    ratio,
    words,
)

from .group_means import DIMENSIONS, FEMALE, HEADLINES, MALE, UNKNOWN, inter_group_variance, seed_mean

N_MOMENTS = 6
LEAST_SHARE = 1e-3  # of the variance without groups: a group whose few texts happen to be equal is not that certain
ROUNDING = 1e-9  # squared points
OF_TWO_GROUPS = ("gender_variance", "gender_difference")


def permutation_tests(sample, points, notes, n_permutations):
    """Return ({figure: p-value}, {variance: its mean when labels say nothing}): clusters exchange their labels.

    Gender within each race, race within each gender, and for the two other variances both together; clusters
    exchange only with those of which the same is known. p: share of permutations, the observed one counted among
    them, in which groups differ at least as much, measured in the noise of their means; `overall`: on average over the
    dimensions. p is the share of draws of groups of one mean, if that is larger.
    """
    exchanges = (  # (figures, per stratum the block within which its clusters change places)
        (OF_TWO_GROUPS, [(race, gender != UNKNOWN) for race, gender in sample.strata]),
        (("race_variance",), [(race != UNKNOWN, gender) for race, gender in sample.strata]),
        (
            ("intersectional_variance", "overall"),
            [(race != UNKNOWN, gender != UNKNOWN) for race, gender in sample.strata],
        ),
    )
    found, chances = {}, {}
    totals, counts = np.split(sample.sums.sum(axis=0), 2)
    mean = np.nan_to_num(ratio(totals, counts))
    clusters = moments(sample.sums, mean)
    for keys, blocks in exchanges:
        if len(set(blocks)) < len(blocks):  # otherwise no block has two strata, and nothing can be exchanged
            test = _Test(sample, clusters, mean, keys)
            codes = np.repeat([list(dict.fromkeys(blocks)).index(block) for block in blocks], sample.sizes)
            drawn = permuted(test.moved, codes, n_permutations, values=clusters.size)
            figures, variances = np.split(drawn, 2, axis=-1)
            observed = test.figures(clusters)[: len(keys)]
            p = p_value(observed, figures)
            same = under_equal_means(test.drawn, sample, codes, n_permutations)
            p = np.fmax(p, p_value(observed, same[:, : len(keys)]))
            for i, key in enumerate(keys):
                found[key], chances[key] = float(p[i]), variances[:, i]
    defined = [key for key in (*HEADLINES, "gender_difference") if not np.isnan(points[key])]
    fixed = [key for key in defined if key not in found]
    if fixed:
        notes.append(
            f"no p-value, for no clusters of different groups can exchange labels: {', '.join(map(words, fixed))}"
        )
    tested = [key for key in defined if key in found]
    alone = [key for key in tested if np.isnan(found[key])]
    if alone:
        named = ", ".join(map(words, alone))
        notes.append(f"no p-value, for a group has one cluster only in some seed, which shows no noise: {named}")
    p_values = dict.fromkeys((*HEADLINES, "gender_difference"), np.nan)
    p_values |= {key: found[key] for key in tested}
    chance = dict.fromkeys(HEADLINES, np.nan)
    chance |= {key: float(mean_of_defined(chances[key])) for key in tested if key in chance}
    return p_values, chance


class _Test:
    """What is compared with its permutations, and the variances whose mean is chance."""

    def __init__(self, sample, clusters, mean, keys):
        self.sample, self.clusters, self.mean, self.keys = sample, clusters, mean, keys
        wanted = [dimension for dimension in DIMENSIONS if f"{dimension}_variance" in keys or "overall" in keys]
        places = {dimension: sample.groups.of(dimension) for dimension in wanted}
        rows = [row for dimension in wanted for row in places[dimension]]
        self.members = sample.groups.members[rows]
        self.places = {name: [rows.index(row) for row in of] for name, of in places.items()}

    def moved(self, places):
        """Return figures of clusters (…, clusters) where they have got to."""
        return self.figures(self.clusters[places])

    def drawn(self, sums):
        """Return figures of clusters' sums (…, clusters, 2 x seeds)."""
        return self.figures(moments(sums, self.mean))

    def figures(self, clusters):
        """Of moments (…, clusters, 6 x seeds): (…, 2 x keys), the tests' figures, then the variances."""
        gaps, noise = gaps_and_noise(self.sample.by_stratum(clusters), self.members, self.mean)
        tests, variances = {}, {}
        for name, of in self.places.items():
            tests[f"{name}_variance"] = seed_mean(welch(gaps[..., of], noise[..., of]))
            variances[f"{name}_variance"] = seed_mean(inter_group_variance(gaps[..., of]))
        for each in (tests, variances):
            each["overall"] = sum(each.values()) / len(each)
        men, women = (self.sample.groups.rows["gender"].get(gender) for gender in (MALE, FEMALE))
        if "gender_difference" in self.keys:
            variances["gender_difference"] = tests["gender_difference"] = np.full(gaps.shape[:-2], np.nan)
            if men is not None and women is not None:
                men, women = (self.places["gender"][self.sample.groups.of("gender").index(row)] for row in (men, women))
                difference = seed_mean(gaps[..., men] - gaps[..., women])
                tests["gender_difference"] = difference**2 / seed_mean(noise[..., men] + noise[..., women])
        return np.stack([each[key] for each in (tests, variances) for key in self.keys], axis=-1)


def moments(sums, mean):
    """Return what a stratum's noise is computed from, by cluster: (…, clusters, 2 x seeds) to (…, clusters, 6 x seeds).

    Totals and counts as they are, then, with totals counted from `mean` (seeds,): squares, products, squared counts,
    and 1 where the cluster has texts.
    """
    totals, counts = np.split(sums, 2, axis=-1)
    rest = totals - counts * mean
    return np.concatenate([totals, counts, rest**2, rest * counts, counts**2, counts > 0], axis=-1)


def gaps_and_noise(sums, members, mean):
    """Groups' mean gaps and their error variances, both (…, seeds, groups), from sums of moments.

    sums: (…, strata, 6 x seeds). members: (groups, strata). mean: that of `moments`. Clusters vary within strata;
    where a stratum has one, within the whole group. A group with one cluster has no variance, NaN.
    """
    totals, counts, squares, products, squared_counts, n = np.split(sums, N_MOMENTS, axis=-1)

    def around(square, product, count, own):
        return square - 2 * own * product + own**2 * count

    within = around(squares, products, squared_counts, np.nan_to_num(ratio(totals, counts) - mean))
    within *= np.where(n > 1, n / np.maximum(n - 1, 1), 0.0)
    whole, size, together = members @ counts, members @ n, members @ squares
    gaps = ratio(members @ totals, whole)
    pooled = around(together, members @ products, members @ squared_counts, np.nan_to_num(gaps - mean))
    alone = members @ (n == 1) > 0
    spread = np.where(alone, pooled * ratio(size, size - 1), members @ within)
    noise = np.maximum(ratio(np.fmax(spread, LEAST_SHARE * together) + 0 * spread, whole**2), ROUNDING)
    return np.swapaxes(gaps, -1, -2), np.swapaxes(noise, -1, -2)


def welch(gaps, noise):
    """Welch's statistic (…) of groups' mean gaps (…, groups): squared distances from their weighted mean, over noise.

    Divided by the degrees of freedom: about 1 where nothing but noise is there. Groups without a mean are left out;
    NaN where fewer than two have one, or one has no noise to measure it by.
    """
    present = ~np.isnan(gaps)
    weights = np.where(present, 1 / noise, 0.0)
    mean = ratio((weights * np.where(present, gaps, 0.0)).sum(axis=-1), weights.sum(axis=-1))
    distances = np.where(present, weights * (np.nan_to_num(gaps) - mean[..., None]) ** 2, 0.0)
    figure = ratio(distances.sum(axis=-1), present.sum(axis=-1) - 1)
    return np.where(np.isnan(weights).any(axis=-1), np.nan, figure)


def under_equal_means(statistic, sample, blocks, n_draws):
    """Figures (draws, …) of clusters whose groups have one mean in a block, each its own noise, normally distributed.

    Krishnamoorthy, Lu and Mathew 2007, "A parametric bootstrap approach for ANOVA with unequal variances". Labels that
    change places carry no noise along, so that permuted groups are all as noisy as one another; these are not.
    statistic: figures of sums (draws, clusters, 2 x seeds) as `sample` has them. blocks: (clusters,) codes, of clusters
    that have one mean: where races are compared, men have theirs and women theirs. Texts of a stratum vary equally, so
    that the sum of a cluster with more of them varies more; seeds vary together.
    """
    totals, counts = np.split(sample.sums, 2, axis=-1)
    same = blocks == np.unique(blocks)[:, None]  # (blocks, clusters)
    mean = np.nan_to_num(ratio(same @ totals, same @ counts))[np.unique(blocks, return_inverse=True)[1]]
    roots = [
        _root(totals[start : start + size], counts[start : start + size])
        for start, size in zip(sample.starts, sample.sizes)
    ]
    roots = np.repeat(roots, sample.sizes, axis=0)  # (clusters, seeds, components)
    rng = np.random.default_rng(SEED)
    figures, at_once = [], max(1, VALUES_AT_ONCE // max(1, 3 * sample.sums.size))
    for start in range(0, n_draws, at_once):
        n = min(at_once, n_draws - start)
        normal = rng.standard_normal(
            (totals.shape[1], n, len(totals))
        )  # a component more leaves the others as they are
        noise = np.sqrt(counts) * np.einsum("sdc,cts->dct", normal, roots)
        sums = np.concatenate([counts * mean + noise, np.broadcast_to(counts, noise.shape)], axis=-1)
        figures.append(statistic(sums))
    return np.concatenate(figures)


def _root(totals, counts):
    """Root (seeds, components) of the covariance of texts' gaps in a stratum, from its clusters' sums and counts.

    Components: the largest first, each pointing up, so that seeds that are copies of one another give what one gives.
    """
    own = np.nan_to_num(ratio(totals.sum(axis=0), counts.sum(axis=0)))
    rest = (totals - own * counts) * np.sqrt(np.nan_to_num(ratio(1.0, counts)))
    values, vectors = np.linalg.eigh(rest.T @ rest / max(1, len(rest) - 1))
    upwards = np.where(vectors.sum(axis=0) < 0, -1.0, 1.0)
    return (vectors * upwards * np.sqrt(np.fmax(values, 0.0)))[:, ::-1]
