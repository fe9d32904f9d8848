"""Intervals of ratios whose rows cluster twice, such as by situation and by descriptor: both would be drawn anew.

Resampling both multiplies what neither explains: such an interval is up to sqrt(3) times too wide. So the errors of
both are added, and what both count is taken off once (Cameron, Gelbach and Miller 2011, "Robust inference with multiway
clustering", equation 2.7). What is left may cancel where rows of a situation make up for each other, so it is no less
than the larger of both. docs/statistics.md says how well that covers.

A metric that uses it and is published has a copy beside it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from .resampling import FEWEST_CLUSTERS, LEVELS, ROUNDING, FloatArray, IntArray, freedom_of, ratio, students_intervals


class Errors(NamedTuple):
    """Standard errors (figures,), NaN where clusters are too few, and the degrees of freedom of Student's t.

    fewest: clusters with a say in the smallest stratum, or those of what is crossed where these are fewer.
    uniform: how many clusters a way has of which all say the same (figures,); inf where both ways vary.
    """

    errors: FloatArray
    freedom: FloatArray
    fewest: FloatArray
    uniform: FloatArray | float = math.inf

    def interval(self, figures: FloatArray) -> FloatArray:
        """Return 95 % intervals (figures, 2)."""
        return figures[:, None] + self._quantiles() * self.errors[:, None]

    def interval_between(
        self, figures: FloatArray, least: float, most: float, uniform: FloatArray | None = None
    ) -> FloatArray:
        """Return 95 % intervals (figures, 2) of figures from least to most, which stay there (`students_intervals`).

        Where all clusters of a way say the same, they are no narrower than those of this way alone. uniform: of how
        many clusters (figures,), if not of all.
        """
        n = self.uniform if uniform is None else uniform
        ends = students_intervals(figures, self.errors, self.freedom, self.freedom + 1, least, most)
        others = students_intervals(figures, 0 * self.errors, 1, n, least, most)
        return np.stack([np.minimum(ends, others)[:, 0], np.maximum(ends, others)[:, 1]], axis=-1)

    def interval_of_shares(self, shares: FloatArray) -> FloatArray:
        """95 % intervals (figures, 2) of shares from 0 to 1, which stay there; without an error they have a width, too.

        Shares of 0 and 1 are as sure as all clusters are many. One between them without an error is what strata make of
        clusters that are equal in each, as 50 % of a model that affirms everything: a single stratum moves it where
        others of its clusters, unseen so far, say otherwise, so that its own number counts.
        """
        by_strata = (shares > 0) & (shares < 1) & np.isfinite(self.uniform)
        return self.interval_between(shares, 0.0, 1.0, np.where(by_strata, self.fewest, self.uniform))

    def p_values(self, figures: FloatArray) -> FloatArray:
        """Two-sided, of figures (figures,) that are 0 where there is no effect; 1 where nothing differs at all.

        No smaller than so few clusters allow when all of them say the same: 1 / 2 for each that is free.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            p = 2 * special.stdtr(self.freedom, -np.abs(figures) / self.errors)
        p = np.where(np.isnan(self.errors) | np.isnan(figures), np.nan, np.where(figures == 0, 1.0, p))
        return np.asarray(np.fmax(p, 0.5**self.freedom) + 0 * p)

    def _quantiles(self) -> FloatArray:
        return np.asarray(special.stdtrit(self.freedom[:, None], np.array(LEVELS)[None, :]))


UNBALANCED = 0.02  # of shares: from this on, strata are not as the design has them


def balanced(strata: IntArray, n: FloatArray) -> IntArray:
    """Return the strata (cells,), each as large as the others by n (cells,) prompts; else one for all.

    A draw of few prompts may leave one out of two actions of a dimension: what was to be by design is chance then.
    """
    sizes = np.bincount(np.unique(strata, return_inverse=True)[1], n)
    even = sizes.sum() and np.ptp(sizes / sizes.sum()) < UNBALANCED
    return strata if even else np.zeros_like(strata)


def influences(parts: FloatArray, wholes: FloatArray, strata: IntArray | None = None) -> FloatArray:
    """Return what each cell (cells, figures) moves the ratio of sums parts / wholes (both: cells, figures) by.

    strata: (cells,) codes, where a cell departs from the ratio of its own stratum alone.
    """
    codes = np.zeros(len(parts), dtype=np.int64) if strata is None else strata
    means = ratio(_sums(parts, codes), _sums(wholes, codes))
    expected = np.where(wholes > 0, wholes * np.nan_to_num(means)[codes], 0.0)
    return ratio(parts - expected, np.broadcast_to(wholes.sum(axis=0), parts.shape))


def errors(
    influence: FloatArray,
    wholes: FloatArray,
    clusters: IntArray,
    crossed: IntArray,
    strata: IntArray | None = None,
    within: FloatArray | None = None,
) -> Errors:
    """Return errors of figures from what each cell moves them by (cells, figures).

    wholes (cells, figures): 0 where a cell says nothing of a figure. clusters, crossed (cells,): codes of both ways;
    together they name a cell. strata (cells,): of clusters, among which alone they would be drawn anew; within: what
    cells move figures by within their stratum, for what is crossed, which meets all strata.
    """
    within = influence if within is None else within
    by_cluster, freedom, fewest = _variance(influence, wholes, clusters, strata)
    by_crossed, others, as_few = _variance(within, wholes, crossed, None)
    both, _, _ = _variance(within, wholes, np.arange(len(wholes)), None)
    variance = np.fmax(by_cluster + by_crossed - both, np.fmax(by_cluster, by_crossed))
    # Where cells of a way make up for each other, rounding is left: little beside what they have.
    ways = ((by_cluster, freedom), (by_crossed, others))
    uniform = [np.where((own <= ROUNDING * both) | (own <= ROUNDING**2), n + 1, np.inf) for own, n in ways]
    freedom = np.fmin(freedom, others)
    deviations = np.where(freedom > 0, np.sqrt(variance), np.nan)
    return Errors(deviations, np.fmax(freedom, 1), np.fmax(np.fmin(fewest, as_few), 1), np.fmin(*uniform))


def _variance(
    influence: FloatArray, wholes: FloatArray, codes: IntArray, strata: IntArray | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(variance of figures (figures,), its degrees of freedom: 0 where fewer than FEWEST_CLUSTERS have a say, and how
    many have one in the smallest stratum).

    A cluster with much to say pulls the figure towards itself, so that its departure comes out too small: its square is
    divided by the share that the figure leaves ("CR2", Bell and McCaffrey 2002; of equal clusters n / (n - 1)).
    Clusters without a say, whose answers are unread, move a figure by nothing, and by something had they another.
    """
    sums, counts = _sums(influence, codes), _sums(wholes, codes)
    stratum = np.zeros(len(sums), dtype=np.int64)
    if strata is not None:
        stratum[codes] = np.unique(strata, return_inverse=True)[1]
    sizes = np.bincount(stratum)[:, None]
    if (sizes == 1).any():  # one cluster shows no variance: then all are taken as of one stratum, which is wider
        stratum, sizes = np.zeros_like(stratum), np.array([[len(sums)]])
    means = _sums(sums, stratum) / sizes
    shares = np.nan_to_num(ratio(counts, _sums(counts, stratum)[stratum]))
    left = np.fmax(1 - shares, 1 / sizes[stratum])  # where one cluster alone has a say, that is not known
    squares = _sums((sums - means[stratum]) ** 2 / left, stratum)
    freedoms = np.array([freedom_of(shares[stratum == each]) for each in range(len(sizes))]).reshape(squares.shape)
    variance = squares.sum(axis=0)
    freedom = np.where(variance > 0, ratio(variance**2, (squares**2 / freedoms).sum(axis=0)), freedoms.sum(axis=0))
    with_a_say = _sums((counts > 0).astype(float), stratum)
    freedom = np.where(with_a_say.sum(axis=0) >= FEWEST_CLUSTERS, np.fmax(freedom, 1), 0.0)
    return variance, freedom, with_a_say.min(axis=0, initial=len(codes))


def _sums(values: npt.NDArray[np.float64], codes: IntArray) -> FloatArray:
    """Return sums of values (cells, figures) by code: (codes, figures)."""
    n = int(codes.max(initial=-1)) + 1
    return np.stack([np.bincount(codes, column, minlength=n) for column in values.T], axis=-1)
