"""95 % intervals of the figures, from draws of the counts that other pairs, and other faces, would have given."""

import numpy as np
from scipy import sparse

from evenhand.statistics.resampling import FEWEST_CLUSTERS, expanded_levels, noise_scales, ratio, students_intervals

from .distances import Distances
from .tally import ROUNDING

LARGEST_SCALE = 64  # where a score, as a best case of 0, does not grow with the distances


def count_by_cluster(cluster, column, columns, kind):
    """(how often each of the columns occurs in each cluster: sparse (columns, clusters); the cluster of each row).

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
    counts = sparse.csr_array((np.ones(there.sum()), where), shape=(columns, n_clusters))  # what is there twice adds up
    return counts, cluster


def faces_of_clusters(cluster, faces):
    """Sparse (clusters, faces), 1 where a cluster shows a face; cluster (n,), faces (n, 2): of each row."""
    faces = np.unique(faces, return_inverse=True)[1].reshape(-1, 2)
    rows = np.unique(cluster, return_index=True)[1]
    shown = faces[rows]
    where = (np.repeat(np.arange(len(rows)), 2), shown.ravel())
    return sparse.csr_array((np.ones(shown.size), where), shape=(len(rows), int(faces.max(initial=-1)) + 1))


def intervals(tally, figures, clusters, noise, n_resamples):
    """{key: [low, high] of each value (values, 2)} of figures; clusters: counts as tally.flat (columns, clusters)."""
    draws = noise.draws(tally.flat, n_resamples)
    if not len(draws):
        return {key: np.full((len(values), 2), np.nan) for key, values in figures.items()}
    levels = expanded_levels(noise.independent - 1)
    return _share_intervals(tally, clusters, noise) | _score_intervals(tally, draws, levels, noise)


def _share_intervals(tally, clusters, noise):
    """{key: 95 % intervals (values, 2)} of the figures that are shares: Student's t in log-odds of what each can be.

    Their errors are those of the counts, so that shares of one instance and of all pairs are treated alike.
    """
    root, ends = noise.root(), {}
    for key, (parts, wholes, most) in tally.shares().items():
        n, whole = np.diff((sparse.csr_array(wholes) @ clusters).tocsr().indptr), wholes @ tally.flat
        share = ratio(parts @ tally.flat, whole)
        moved = ratio(parts - np.nan_to_num(share)[:, None] * wholes, whole[:, None])
        errors = np.linalg.norm(moved @ root, axis=1)
        n = np.where(n < FEWEST_CLUSTERS, np.nan, np.fmin(n, noise.independent))
        found = students_intervals(share, errors, n - 1, n, 0, np.where(most > 0, most, 1))
        found[most == 0] = 0  # the group was never offered
        ends[key] = found - 0.5 * (key == "position_sensitivity")
    return ends


def _all_alike(drawn):
    """Whether no cluster departs from the others (…), of draws (draws, …); one draw can't show it."""
    return (len(drawn) > 1) & (np.ptp(drawn, axis=0) <= ROUNDING)


def _slopes(score, flat, step=1e-3):
    """What one more of each column adds to a score of counts (columns,)."""
    steps = step * np.eye(len(flat))
    return (score(flat + steps) - score(flat - steps)) / (2 * step)


def _score_intervals(tally, draws, levels, noise):
    """95 % intervals of the scores, corrected for the noise in the shares that they are made of (`noise_scales`).

    A score adds up distances from an even share. All distances are scaled; the interval holds the observed score. It
    begins no higher than Student's t in log-odds of what the score can be: near the most, noise is not symmetric.
    Clusters that are all alike have the interval that `students_intervals` gives.
    """
    root, n = noise.root(), noise.independent
    distances = Distances(tally, draws)
    keys = ["association_score", "association_score_answered"]
    if tally.parts(tally.flat)[1].any():
        keys += ["worst_case", "best_case"]

    def interval(key):
        observed, drawn = tally.score_of(key, tally.flat), tally.score_of(key, draws)
        if np.isnan(drawn).any():
            return [np.nan, np.nan]
        if _all_alike(drawn):
            return students_intervals(observed, 0.0, 1, n, 0, tally.most_possible)
        error = np.linalg.norm(_slopes(lambda flat: tally.score_of(key, flat), tally.flat) @ root)
        students_low = students_intervals(observed, error, n - 1, n, 0, tally.most_possible)[0]
        smallest, largest = noise_scales(
            lambda scale: distances.shown(key, scale), observed, levels, LARGEST_SCALE, tolerance=1e-4
        )
        low = distances.score(key, smallest)
        # Less than noise alone gives, as when exactly half chose each: there is nothing to scale.
        high = distances.score(key, largest) if largest else np.quantile(drawn, levels[1])
        low = min(low if low > ROUNDING else 0.0, observed, students_low)
        return [low, min(max(high, observed), tally.most_possible)]

    ends = {key: np.array([interval(key)]) for key in keys}
    return {key: ends.get(key, ends["association_score"]) for key in (*keys, "worst_case", "best_case")}
