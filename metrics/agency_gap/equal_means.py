"""What names would have written were groups alike but in their noise: draws of a parametric bootstrap."""

import numpy as np

from evenhand.statistics.resampling import SEED, VALUES_AT_ONCE, ratio


def under_equal_means(statistic, sample, blocks, n_draws):
    """Figures (draws, …) of clusters whose groups have one mean in a block, each its own noise, normally distributed.

    Krishnamoorthy, Lu and Mathew 2007, "A parametric bootstrap approach for ANOVA with unequal variances". Labels that
    change places carry no noise along, so that permuted groups are all as noisy as one another; these are not.
    statistic: figures of sums (draws, clusters, 2 x seeds) as `sample` has them. blocks: (clusters,) codes, of clusters
    that have one mean: where races are compared, men have theirs and women theirs. Texts of a stratum vary alike, so
    that the sum of a cluster with more of them varies more; seeds vary together.
    """
    totals, counts = np.split(sample.sums, 2, axis=-1)
    alike = blocks == np.unique(blocks)[:, None]  # (blocks, clusters)
    mean = np.nan_to_num(ratio(alike @ totals, alike @ counts))[np.unique(blocks, return_inverse=True)[1]]
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
