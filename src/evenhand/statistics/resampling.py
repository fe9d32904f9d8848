"""The one engine of uncertainty: clusters are drawn again, permuted or exchanged, and figures computed anew.

A cluster (template, scenario, pair, name …) is what would be drawn anew: its rows stay together. A
metric that is published has a copy of this file beside it.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

N_RESAMPLES = 1000
SEED = 0
LEVELS = (0.025, 0.975)  # of 95 % intervals
LEVEL = 0.05  # of tests
FEW_CLUSTERS = 30
FEWEST_CLUSTERS = 3  # below it there is no interval
ROUNDING = 1e-9  # of a figure's range: a smaller error is none
VALUES_AT_ONCE = 5_000_000  # bounds the memory of draws when there are very many clusters

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def refuse_n_resamples(n_resamples: object) -> None:
    """Raise ValueError unless it is a whole number, 1 or more."""
    whole = isinstance(n_resamples, (int, np.integer)) and not isinstance(n_resamples, bool)
    if not whole or n_resamples < 1:  # type: ignore[operator]
        raise ValueError(f"n_resamples is {n_resamples!r}; give a whole number of draws, 1 or more")


def about_clusters(n_clusters: int) -> list[str]:
    """Return a sentence where clusters are few."""
    if n_clusters >= FEW_CLUSTERS:
        return []
    if not n_clusters:
        return ["no cluster has an answer that was read: there are no intervals"]
    return [f"only {n_clusters} cluster{'s' * (n_clusters > 1)}: intervals from fewer than {FEW_CLUSTERS} are rough"]


def n_clusters_of(clusters: npt.NDArray[np.generic], read: npt.NDArray[np.bool_]) -> dict[str, int]:
    """`n_clusters`, of how many a row was read, so that intervals rest on them; `n_clusters_asked`, of all rows."""
    return {"n_clusters": len(np.unique(clusters[read])), "n_clusters_asked": len(np.unique(clusters))}


def words(key: str) -> str:
    """Return a key of results as a warning names it: "biased percentage (no contact)"."""
    return key.replace("_", " ")


def nest(paths: Iterable[tuple[str, str]], values: Iterable[Any]) -> dict[str, dict[str, Any]]:
    """{key: {name: value}}"""
    nested: dict[str, dict[str, Any]] = {}
    for (key, name), value in zip(paths, values):
        nested.setdefault(key, {})[name] = value
    return nested


def about_intervals(
    intervals: Mapping[str, Mapping[str, Sequence[float]]],
    points: Mapping[str, Mapping[str, float]],
    names: Mapping[str, str] = MappingProxyType({}),
) -> list[str]:
    """A sentence that names the figures, by key and name, that have a value and no interval."""
    without = [
        words(f"{key} ({names.get(name, name)})")
        for key, ends in intervals.items()
        for name, (low, _) in ends.items()
        if np.isnan(low) and not np.isnan(points[key][name])
    ]
    return [f"no interval, for too few clusters hold answers to count for: {', '.join(without)}"] if without else []


def resampled(
    statistic: Callable[..., FloatArray], strata: Sequence[IntArray], n_resamples: int, values: int
) -> tuple[FloatArray, FloatArray]:
    """Figures (draws, …) of clusters drawn with replacement within strata, and their percentile intervals (…, 2).

    statistic: figures (draws, …) of the clusters drawn, one array (draws, clusters) for each of the strata. values: how
    many it holds for one draw. All is NaN where a stratum has fewer than three clusters, and so is the interval of a
    figure that is NaN in any draw.
    """
    if min(map(len, strata)) < FEWEST_CLUSTERS:
        figures = np.full_like(statistic(*(clusters[None] for clusters in strata)), np.nan)
        return figures, np.stack([figures[0], figures[0]], axis=-1)
    from scipy import stats  # takes a second

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)  # of figures undefined in a draw: NaN says it
        if n_resamples == 1:
            warnings.simplefilter("ignore", RuntimeWarning)  # of its standard error, which is not used
        found = stats.bootstrap(
            strata,
            lambda *drawn, axis: np.moveaxis(statistic(*drawn), 0, -1),
            n_resamples=n_resamples,
            batch=_at_once(values),
            vectorized=True,
            method="percentile",
            rng=np.random.default_rng(SEED),
        )
    interval = found.confidence_interval
    return np.moveaxis(found.bootstrap_distribution, -1, 0), np.stack([interval.low, interval.high], axis=-1)


def expanded_levels(freedom: float) -> FloatArray:
    """Return levels of an interval for which the variance among few clusters is estimated (Hesterberg 2015).

    freedom: clusters minus strata. Student's t in place of the normal quantile, "expanded percentile".
    """
    return np.asarray(special.ndtr(special.stdtrit(max(1, freedom), LEVELS)))


def students_intervals(
    figures: npt.ArrayLike,
    errors: npt.ArrayLike,
    freedom: npt.ArrayLike,
    n_clusters: npt.ArrayLike,
    least: npt.ArrayLike = 0.0,
    most: npt.ArrayLike = 1.0,
) -> FloatArray:
    """95 % intervals (…, 2) of figures (…) between least and most: Student's t, symmetric in log-odds of that range.

    errors: standard errors over clusters; freedom: their degrees of freedom. NaN where an error is. docs/statistics.md
    says how well they cover, of six clusters and of many.

    Without any error, n clusters that all say the same are not that certain: others among clusters would go unseen in
    one case in forty where they are a share of 1 - 0.025^(1/n), and say anything from least to most. So much of the
    way to either end may be missed. At an end that is 1 - 0.025^(1/n) of the range.
    """
    low, span = np.asarray(least, dtype=float), np.subtract(most, least)
    shares = (np.asarray(figures, dtype=float) - low) / span
    scaled = np.asarray(errors, dtype=float) / span
    inside = (shares > 0) & (shares < 1) & ~(scaled <= ROUNDING)
    share = np.where(inside, shares, 0.5)
    half = special.stdtrit(freedom, LEVELS[1]) * scaled / (share * (1 - share))
    log_odds = special.logit(share)
    unseen = (1 - LEVELS[0] ** (1 / np.asarray(n_clusters, dtype=float))) + 0 * scaled
    ends = np.stack(
        [
            np.where(inside, special.expit(log_odds - half), shares - unseen * shares),
            np.where(inside, special.expit(log_odds + half), shares + unseen * (1 - shares)),
        ],
        axis=-1,
    )
    return np.asarray(low[..., None] + span[..., None] * ends)


def freedom_of(shares: FloatArray) -> FloatArray:
    """Return the degrees of freedom (…) of the variance between clusters with these shares (clusters, …) of rows.

    Satterthwaite's where each cluster's square is divided by what the mean leaves of it ("CR2", Imbens and Kolesár
    2016): n - 1 of n equal clusters, fewer of uneven ones, 1 where one cluster has all, or none any.
    """
    # Of independent rows, the departures of two clusters vary together by the product of their pulls.
    pulls = shares**2 / np.fmax(1 - shares, ROUNDING)
    together = pulls.sum(axis=0) ** 2 - (pulls**2).sum(axis=0)
    found = (shares**2).sum(axis=0) + together
    return np.asarray(1 / np.where(found > 0, found, 1.0))


def no_spread(spread: float, figure: float = 0.0) -> bool:
    """Whether a figure's error, or the range of its draws, is no more than rounding: all clusters say the same."""
    return bool(spread <= ROUNDING * max(1.0, abs(figure)))


def too_few_alike(spread: float, smallest_p: float, difference: float = 0.0) -> bool:
    """Whether a difference between runs is the same in all clusters (`no_spread`), and these are too few to reject.

    Then nothing shows how others would differ, not of a difference of 0 either: there is no interval. smallest_p: that
    so few clusters could give, above 0.05 for fewer than six.
    """
    return smallest_p > LEVEL and no_spread(spread, difference)


def noise_scales(
    draws: Callable[[float], FloatArray],
    observed: float,
    levels: Sequence[float] | FloatArray = LEVELS,
    largest: float = math.inf,
    tolerance: float = 2e-12,
) -> tuple[float, float]:
    """Return the ends of a noise-corrected interval, for figures that are sums of distances: squares, absolute values.

    Noise makes distances longer, so that a noisy figure exceeds the true one, and resampling adds the noise once more.
    So the observed distances are scaled, with the noise of the draws left as it is: draws(scale) are the figures
    (draws,) then. The interval holds the scales under which the observed figure lies between the two levels of the
    draws; it begins at 0 where noise alone explains what was observed. Beyond `largest` nothing is looked for.
    """

    from scipy import optimize

    def excess(scale: float, level: float) -> float:
        return float(np.quantile(draws(scale), level)) - observed

    def scale_at(level: float) -> float:
        if excess(0.0, level) >= 0:
            return 0.0
        top = 1.0
        while excess(top, level) < 0:
            if top >= largest:
                return top
            top *= 2
        return float(optimize.brentq(excess, 0.0, top, args=(level,), xtol=tolerance))

    low, high = levels
    return scale_at(high), scale_at(low)


def permuted(
    statistic: Callable[[IntArray], FloatArray], blocks: IntArray, n_permutations: int, values: int
) -> FloatArray:
    """Return figures (permutations, …) of clusters that changed places within blocks.

    statistic: figures of clusters (permutations, clusters), each where it has got to. blocks (clusters,): codes.
    values: how many it holds for one permutation.
    """
    rng = np.random.default_rng(SEED)
    places = [np.flatnonzero(blocks == code) for code in np.unique(blocks)]
    figures = []
    for start in range(0, n_permutations, _at_once(values)):
        clusters = np.tile(np.arange(len(blocks)), (min(_at_once(values), n_permutations - start), 1))
        for columns in places:
            clusters[:, columns] = rng.permuted(clusters[:, columns], axis=1)
        figures.append(statistic(clusters))
    return np.concatenate(figures)


def p_value(observed: FloatArray | float, figures: FloatArray) -> FloatArray:
    """Shares (…) of permuted figures (permutations, …), the observed one (…) among them, that are at least as large.

    A permuted figure that is undefined counts as large; of an undefined observed one: NaN.
    """
    smaller = figures < observed - 1e-9 * (1 + observed)  # equal up to rounding is not smaller
    share = (1 + (~smaller).sum(axis=0)) / (1 + len(figures))
    return np.where(np.isnan(observed), np.nan, share)


def ratio(part: npt.ArrayLike, whole: npt.ArrayLike) -> FloatArray:
    """Return part / whole, NaN where the whole is 0."""
    part, whole = np.broadcast_arrays(np.asarray(part, dtype=float), whole)
    return np.asarray(np.divide(part, whole, out=np.full(whole.shape, np.nan), where=whole > 0))


def mean_of_defined(figures: FloatArray) -> FloatArray:
    """Return means over the last axis, NaN left out; NaN where nothing else is there."""
    return ratio(np.nansum(figures, axis=-1), (~np.isnan(figures)).sum(axis=-1))


def _at_once(values: int) -> int:
    return max(1, VALUES_AT_ONCE // max(1, values))
