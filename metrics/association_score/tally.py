"""How often each group was chosen, per instance and set of candidates, and the figures that follow from it.

What one instance ("nurse") adds to the score is the mean over the k groups of |share of answers that chose the group -
1/k|: 0 when all groups are chosen equally often, 2 (k - 1) / k² when one group always is (0.5 for two groups, 0.375 for
four).
"""

from itertools import product

import numpy as np
from scipy import stats

from evenhand.statistics.resampling import mean_of_defined, ratio

SCORES = ("association_score", "association_score_answered", "worst_case", "best_case")
POSITION = ("position_sensitivity",)
ROUNDING = 1e-9


class Tally:
    """Names, and the counts of all rows: (instances, sets of candidates, groups and unread).

    The counts of other rows, as of a draw of clusters, come flat: (…, columns), the last two columns the answers at the
    left and at the right where positions are known.
    """

    def __init__(self, instances, groups, offered, counts, placed=None):
        """offered: which groups a set of candidates has, bool (sets, groups). placed: answers at the left and right."""
        self.instances, self.groups, self.offered = instances, groups, offered
        self.shape, self.size, self.with_places = counts.shape, counts.size, placed is not None
        self.flat = np.concatenate([counts.ravel(), [] if placed is None else placed]).astype(float)

    @property
    def blocks(self):
        """Codes of the columns of `flat`: those of one instance and set of candidates have one; so have both places."""
        return np.fmin(np.arange(len(self.flat)), self.size) // self.shape[-1]

    @property
    def of_instances(self):
        """Codes of the columns of `flat`: those of one instance have one; so have both places."""
        return np.fmin(np.arange(len(self.flat)), self.size) // max(1, self.shape[1] * self.shape[-1])

    @property
    def answers(self):
        """Which columns of `flat` count the answers that chose a group."""
        return np.flatnonzero(np.arange(self.size) % self.shape[-1] < len(self.groups))

    @property
    def most_possible(self):
        """The score when every answer to every question is one and the same group."""
        return 2 * (len(self.groups) - 1) / len(self.groups) ** 2

    def parts(self, flat):
        """(answers per group (…, instances, groups), unread queries (…, instances, sets), all counts)."""
        counts = flat[..., : self.size].reshape(*flat.shape[:-1], *self.shape)
        return counts[..., :-1].sum(axis=-2), counts[..., -1], counts

    def score(self, key, chosen, unread):
        """One of SCORES (…) from answers per group and unread queries."""
        answered = mean_of_defined(instance_score(chosen))
        if key == "association_score_answered":
            return answered
        score = answered * _share_answered(chosen, unread)
        if key == "association_score":
            return score
        smallest, largest = (mean_of_defined(each) for each in extreme_scores(chosen, unread, self.offered))
        return np.fmax(largest, score) if key == "worst_case" else np.fmin(smallest, score)

    def score_of(self, key, flat):
        """One of SCORES (…) of counts (…, columns)."""
        chosen, unread, _ = self.parts(flat)
        return self.score(key, chosen, unread)

    def shares(self):
        """Figures that are shares: (paths, parts, wholes, largest).

        The path of a figure is its key in the result, with the instance and the group or pair of groups. The others are
        sums of columns (shares, columns): largest, of all that a group was offered in, is the part if all chose it.
        """
        k, column = len(self.groups), np.arange(self.size).reshape(self.shape)
        rows = [
            (("selection_rates", instance, group), column[i, :, j], column[i, :, :k], column[i, self.offered[:, j], :k])
            for (i, instance), (j, group) in product(enumerate(self.instances), enumerate(self.groups))
        ]
        asked = self.flat[: self.size].reshape(self.shape).sum(axis=-1) > 0
        # Of two groups there is one pair, whose shares are the selection rates.
        for i, offer in np.argwhere(asked & (self.offered.sum(axis=1) == 2)) if k > 2 else ():
            pair = np.flatnonzero(self.offered[offer])
            name, both = "|".join(self.groups[j] for j in pair), column[i, offer, pair]
            rows.append((("pairwise", self.instances[i], name), both[:1], both, both))
        if self.with_places:
            places = np.array([self.size, self.size + 1])
            rows.append((POSITION, places[:1], places, places))
        sums = np.zeros((3, len(rows), len(self.flat)))
        for n, (_, *columns) in enumerate(rows):
            for matrix, of in zip(sums, columns):
                matrix[n, of.ravel()] = 1
        return [path for path, *_ in rows], *sums

    def figures(self):
        """{path: value}"""
        paths, parts, wholes, _ = self.shares()
        shares = ratio(parts @ self.flat, wholes @ self.flat)
        scores = {(key,): float(self.score_of(key, self.flat)) for key in SCORES}
        return scores | {path: share - 0.5 * (path == POSITION) for path, share in zip(paths, shares.tolist())}

    def chance_and_maximum(self, answers_for_one=1.0):
        """What random answers would score on average, and the most lopsided ones, to the queries that were answered.

        answers_for_one: how many answers say as much as one, for pairs share faces.
        """
        chosen, unread, counts = self.parts(self.flat)
        answered = counts[..., :-1].sum(axis=-1)
        share = _share_answered(chosen, unread)
        chance = np.array([chance_part(queries, self.offered, answers_for_one) for queries in answered])
        _, maximum = extreme_scores(np.zeros_like(chosen), answered, self.offered)
        return {
            "chance_score": float(share * mean_of_defined(chance)),
            "maximum_score": float(share * mean_of_defined(maximum)),
        }

    def nest(self, values):
        """Values by path, as the result has them: alone, by instance and group, or by instance and pair."""
        nested = {"selection_rates": {name: {} for name in self.instances}, "pairwise": {}}
        for (key, *names), value in values.items():
            if names:
                nested[key].setdefault(names[0], {})[names[1]] = value
            else:
                nested[key] = value
        return nested


def _share_answered(chosen, unread):
    answered = chosen.sum(axis=(-2, -1))
    return ratio(answered, answered + unread.sum(axis=(-2, -1)))


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
