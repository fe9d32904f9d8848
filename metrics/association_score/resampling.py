"""95 % intervals of the figures, by resampling clusters."""

import numpy as np
from scipy import optimize, sparse, stats

from .instance_scores import ratio
from .tally import ROUNDING

RESAMPLES = 1000
SEED = 0
VALUES_AT_ONCE = 2_000_000  # bounds the bootstrap's memory when there are very many clusters
LEVELS = (0.025, 0.975)
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


def intervals(tally, clusters):
    """{key: [low, high] of each value (values, 2)}; clusters: counts as tally.flat has them (columns, clusters)."""
    if clusters.shape[1] < 2:
        return {key: np.full((values.shape[-1], 2), np.nan) for key, values in tally.figures(tally.flat).items()}
    draws = _resampled(clusters)
    ends = {key: np.quantile(values, LEVELS, axis=0).T for key, values in tally.figures(draws).items()}
    if draws.size:
        ends |= _score_intervals(tally, draws)
    return ends


def _resampled(clusters):
    """Sums (draws, columns) over clusters drawn with replacement."""
    columns, n = clusters.shape

    def sums(drawn, axis):
        drawn_clusters = drawn.reshape(-1, n)
        first = n * np.arange(len(drawn_clusters))[:, None]
        times = np.bincount((drawn_clusters + first).ravel(), minlength=drawn_clusters.size).reshape(-1, n)
        return (clusters @ times.T.astype(float)).reshape(columns, *drawn.shape[:-1])

    return stats.bootstrap(
        (np.arange(n),),
        sums,
        n_resamples=RESAMPLES,
        batch=max(1, VALUES_AT_ONCE // max(n, columns)),
        vectorized=True,
        method="percentile",
        rng=np.random.default_rng(SEED),
    ).bootstrap_distribution.T


def _score_intervals(tally, draws):
    """95 % intervals of the scores, corrected for the noise in the shares that they are made of.

    A score adds up distances from an even share, and noise makes distances longer: that of noisy shares exceeds that of
    the true ones, and resampling adds the noise once more. So all distances are scaled, the noise of the draws is left
    as it is, and the interval holds the scores under which the observed one lies between the two quantiles; it reaches
    0 where noise alone explains what was observed, and holds the observed one.
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
        observed = scaled(key, 1, tally.flat)
        if np.isnan(scaled(key, 1, draws)).any():
            return [np.nan, np.nan]

        def excess(scale, level):
            return np.quantile(scaled(key, scale, draws), level) - observed

        def scale_at(level):
            if excess(0, level) >= 0:
                return 0
            top = 1
            while excess(top, level) < 0 and top < LARGEST_SCALE:
                top *= 2
            return top if excess(top, level) < 0 else optimize.brentq(excess, 0, top, args=(level,), xtol=1e-4)

        low = scaled(key, scale_at(LEVELS[1]), tally.flat)
        largest = scale_at(LEVELS[0])
        # Less than noise alone gives, as when exactly half chose each: there is nothing to scale.
        high = scaled(key, largest, tally.flat) if largest else np.quantile(scaled(key, 1, draws), LEVELS[1])
        return [min(low if low > ROUNDING else 0.0, observed), min(max(high, observed), tally.most_possible)]

    ends = {key: np.array([interval(key)]) for key in keys}
    return {key: ends.get(key, ends["association_score"]) for key in (*keys, "worst_case", "best_case")}
