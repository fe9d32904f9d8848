"""How far counts would be other counts, had other pairs of faces been shown: their covariance, and draws from it.

Queries of one pair stay together, and where faces are known, pairs that share a face do, too. Resampling faces would
count what is particular to a pair up to three times; so the errors of all faces are added up, and what both faces of a
pair count is taken off once (dyadic clusters: Aronow, Samii and Assenova 2015, "Cluster-robust variance estimation for
dyadic data"; for faces of two groups Cameron, Gelbach and Miller 2011, equation 2.7).
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import maximum_bipartite_matching

from evenhand.statistics.resampling import FEWEST_CLUSTERS, SEED, ratio

SMALLEST = 1e-10  # of the covariance's eigenvalues, against the largest: less is rounding


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


class Noise(NamedTuple):
    """covariance of counts (columns, columns). independent: how many pairs there are of which no two share a face (of
    clusters: all). wholes (columns,): queries that each count is a part of.
    """

    covariance: np.ndarray
    independent: float
    wholes: np.ndarray

    def draws(self, counts, n):
        """Counts (n, columns) around these (columns,), none below 0; none at all where too few are independent."""
        if self.independent < FEWEST_CLUSTERS:
            return np.empty((0, len(counts)))
        half = np.random.default_rng(SEED).standard_normal(((n + 1) // 2, len(counts))) @ self.root()
        both = np.concatenate([half, -half])[:n]  # as much above as below: the groups' names decide nothing
        return np.fmax(counts + both, 0)

    def root(self):
        """Of the covariance (columns, columns), without what rounding, or faces in common, make negative of it."""
        values, vectors = np.linalg.eigh(self.covariance)
        size = np.sqrt(np.where(values > SMALLEST * values.max(initial=0), values, 0))
        return vectors * size @ vectors.T  # of all roots the one that rounding doesn't turn

    def answers_for_one(self, counts, columns):
        """How many answers say as much as one that is independent, of some columns: Kish's design effect, 1 or more."""
        independent = counts * (1 - ratio(counts, self.wholes))
        of_all = np.nansum(independent[columns])
        return max(1.0, float(np.diag(self.covariance)[columns].sum() / of_all)) if of_all > 0 else 1.0


def noise(clusters, blocks, faces=None, instances=None):
    """Of counts by cluster: sparse (columns, clusters).

    blocks (columns,): codes; the counts of one block are parts of one whole, whose size is the design's and not
    drawn anew: queries about an instance that offered the same. faces: sparse (clusters, faces), 1 where a pair has it.
    instances (columns,): codes of instances; those with a block of fewer than three clusters, which doesn't show how
    others would differ, are blocks of their own, so that what was offered is as if drawn.
    """
    if instances is not None:
        member = sparse.csr_array((np.ones(len(blocks)), (blocks, np.arange(len(blocks)))))
        n = np.diff((member @ clusters).tocsr().indptr)[blocks]  # clusters in the block of each column
        thin = np.isin(instances, instances[(n > 0) & (n < FEWEST_CLUSTERS)])
        blocks = np.unique(np.where(thin, -1 - instances, blocks), return_inverse=True)[1]
    n_blocks = int(blocks.max(initial=-1)) + 1
    member = sparse.csr_array((np.ones(len(blocks)), (blocks, np.arange(len(blocks)))), shape=(n_blocks, len(blocks)))
    wholes = (member @ clusters).tocsr()
    counts, whole = clusters.sum(axis=1), wholes.sum(axis=1)[blocks]
    share = np.nan_to_num(ratio(counts, whole))
    have_a_say = np.diff(wholes.indptr)[blocks]
    residuals = clusters - sparse.diags_array(share) @ (member.T @ wholes)
    small_sample = sparse.diags_array(np.sqrt(np.nan_to_num(ratio(have_a_say, np.fmax(have_a_say - 1, 0)))))
    residuals = (small_sample @ residuals).tocsr()
    covariance, independent = (residuals @ residuals.T).toarray(), float(clusters.shape[1])
    if faces is not None:
        independent = independent_pairs(faces)
        of_faces = residuals @ faces
        factor = independent / (independent - 1) if independent > 1 else 1.0
        covariance = factor * (of_faces @ of_faces.T).toarray() - covariance
    return Noise(covariance, independent, whole)


def independent_pairs(faces):
    """How many pairs there are at most of which no two share a face; faces: sparse (pairs, faces).

    Among faces of two groups exactly; where pairs of three groups form a triangle, that counts one and a half.
    """
    together = (faces.T @ faces).tolil()
    together.setdiag(0)
    together = together.tocsr()
    together.eliminate_zeros()
    return float((maximum_bipartite_matching(together) >= 0).sum() / 2)
