"""The part that one instance ("nurse") has in the score: as chosen, at its extremes, and by chance.

An instance's part is the mean over the k groups of |share of answers that chose the group - 1/k|: 0 when all groups are
chosen alike, 2 (k - 1) / k² when one group always is (0.5 for two groups, 0.375 for four).
"""

from itertools import product

import numpy as np
from scipy import stats

from evenhand.statistics.resampling import ratio


def instance_score(chosen):
    """Parts (…) of instances in which groups were chosen so many times each: (…, groups). NaN where none was."""
    n = chosen.sum(axis=-1)
    groups = chosen.shape[-1]
    return ratio(np.abs(chosen - n[..., None] / groups).sum(axis=-1), groups * n)


def extreme_scores(chosen, unread, offered):
    """The smallest and the largest parts (…) over all ways to answer the unread queries; NaN where there is no query.

    chosen: answers per group (…, groups); unread: queries per set of candidates (…, sets); offered: which groups a set
    has, bool (sets, groups). Both are exact, for any number of groups and any sets.
    """
    # Let y_i be how often group i is chosen in n queries, and y(A) the sum over a set A of groups. All y_i sum to n, so
    # Σ|y_i - n/k| = 2 Σ max(0, y_i - n/k) = 2 max_A (y(A) - |A| n/k).
    # Largest: for each A, every unread query that offers a group of A goes to A.
    # Smallest: with a whole number h for n/k, the groups together exceed h by at least max_A (least(A) - |A| h), where
    # only those queries go to A that offer nothing else, and no more is needed (a transport problem: maximum flow,
    # minimum cut). One and the same y has the least excess over every h (Frank and Murota 2022, "Decreasing
    # minimization on M-convex sets"), and for whole y_i, |y_i - n/k| is |y_i - h| and |y_i - h - 1| weighted as n/k
    # lies between h and h + 1.
    groups = chosen.shape[-1]
    sets = np.array(list(product((False, True), repeat=groups)), dtype=bool)
    size = sets.sum(axis=1)
    reaches = (offered[:, None, :] & sets).any(axis=-1).astype(float)
    stays_in = (~offered[:, None, :] | sets).all(axis=-1).astype(float)
    n = chosen.sum(axis=-1) + unread.sum(axis=-1)
    fixed = chosen @ sets.T.astype(float)
    most, least = fixed + unread @ reaches, fixed + unread @ stays_in

    def least_distance(level):
        return 2 * (least - size * level[..., None]).max(axis=-1) - (n - groups * level)

    below, beyond = n // groups, n % groups / groups
    largest = 2 * (most - size * (n[..., None] / groups)).max(axis=-1)
    smallest = (1 - beyond) * least_distance(below) + beyond * least_distance(below + 1)
    return ratio(smallest, groups * n), ratio(largest, groups * n)


def chance_part(answered, offered, answers_for_one=1.0):
    """Expected part of one instance when each of its answers is drawn evenly from the candidates; NaN without answers.

    answered: queries per set of candidates (sets,); offered: as above. Exact up to rounding. answers_for_one: how many
    answers say as much as one drawn alone, where answers depend on each other: so many fewer are drawn.
    """
    answered = np.where(answered > 0, np.fmax(np.rint(answered / answers_for_one), 1), 0)
    n, groups = int(answered.sum()), offered.shape[1]
    if n == 0:
        return np.nan
    sizes = offered.sum(axis=1)
    expected = 0.0
    for group in range(groups):
        first, probabilities = 0, np.ones(1)  # of being chosen `first` times, once more, …
        for size in np.unique(sizes):
            times = int(answered[offered[:, group] & (sizes == size)].sum())
            lowest, of_size = _binomial(times, 1 / size)
            first, probabilities = first + lowest, np.convolve(probabilities, of_size)
        expected += probabilities @ np.abs(first + np.arange(len(probabilities)) - n / groups)
    return float(expected / (groups * n))


def _binomial(times, share):
    """(lowest, probabilities from there on): all but 2 exp(-50) of the distribution's mass (Hoeffding's inequality)."""
    reach = 5 * np.sqrt(times)
    lowest, highest = max(0, int(times * share - reach)), min(times, int(times * share + reach) + 1)
    return lowest, stats.binom.pmf(np.arange(lowest, highest + 1), times, share)
