"""95 % intervals of the figures, by resampling clusters."""

import numpy as np
from scipy import sparse

from .resampling import LEVELS, how_often, noise_scales, ratio, resampled
from .tally import ROUNDING

LARGEST_SCALE = 64  # where a score, as a best case of 0, does not grow with the distances


def count_by_cluster(cluster, column, columns, kind):
    """How often each of the columns occurs in each cluster: sparse (columns, clusters).

    cluster, column, kind: of each row (n,); column may be (lists, n) with -1 for none. Clusters come in the order of
    the kinds of rows that they hold, so that the seeded draws depend neither on their names nor on the rows' order.
    """
    cluster = np.unique(cluster, return_inverse=True)[1]
    n_clusters = int(cluster.max()) + 1 if len(cluster) else 0
    if n_clusters:
        order = np.lexsort((kind, cluster))
        starts = np.flatnonzero(np.diff(cluster[order])) + 1
        contents = [kinds.tobytes() for kinds in np.split(kind[order], starts)]
        rank = np.empty(n_clusters, dtype=np.int64)
        rank[sorted(range(n_clusters), key=contents.__getitem__)] = np.arange(n_clusters)
        cluster = rank[cluster]
    column = np.atleast_2d(column)
    there = column >= 0
    where = (column[there], np.broadcast_to(cluster, column.shape)[there])
    return sparse.csr_array((np.ones(there.sum()), where), shape=(columns, n_clusters))  # what occurs twice is added up


def intervals(tally, clusters, n_resamples):
    """{key: [low, high] of each value (values, 2)}; clusters: counts as tally.flat has them (columns, clusters)."""
    columns, n = clusters.shape
    if n < 2:
        return {key: np.full((values.shape[-1], 2), np.nan) for key, values in tally.figures(tally.flat).items()}

    def counts(drawn):
        return (clusters @ how_often(drawn, n).T).T

    draws, _ = resampled(counts, [np.arange(n)], n_resamples, values=3 * n + columns)
    ends = {key: np.quantile(values, LEVELS, axis=0).T for key, values in tally.figures(draws).items()}
    return ends | _score_intervals(tally, draws) if draws.size else ends


def _score_intervals(tally, draws):
    """95 % intervals of the scores, corrected for the noise in the shares that they are made of (`noise_scales`).

    A score adds up distances from an even share. All distances are scaled; the interval holds the observed score.
    """
    chosen, unread, _ = tally.parts(tally.flat)
    distance = np.nan_to_num(ratio(chosen, chosen.sum(axis=-1, keepdims=True)) - 1 / len(tally.groups))
    keys = ["association_score", "association_score_answered"]
    if unread.any():
        keys += ["worst_case", "best_case"]

    def scaled(key, scale, counts):
        chosen, unread, _ = tally.parts(counts)
        chosen = chosen + (scale - 1) * distance * chosen.sum(axis=-1, keepdims=True)
        return tally.score(key, chosen, unread)

    def interval(key):
        observed, drawn = (scaled(key, 1, counts) for counts in (tally.flat, draws))
        if np.isnan(drawn).any():
            return [np.nan, np.nan]
        smallest, largest = noise_scales(
            lambda scale: scaled(key, scale, draws), observed, largest=LARGEST_SCALE, tolerance=1e-4
        )
        low = scaled(key, smallest, tally.flat)
        # Less than noise alone gives, as when exactly half chose each: there is nothing to scale.
        high = scaled(key, largest, tally.flat) if largest else np.quantile(drawn, LEVELS[1])
        return [min(low if low > ROUNDING else 0.0, observed), min(max(high, observed), tally.most_possible)]

    ends = {key: np.array([interval(key)]) for key in keys}
    return {key: ends.get(key, ends["association_score"]) for key in (*keys, "worst_case", "best_case")}
