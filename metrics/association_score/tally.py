"""How often each group was chosen, per instance and set of candidates, and the figures that follow from it."""

import numpy as np
from scipy import sparse

from .instance_scores import chance_part, extreme_scores, instance_score
from .resampling import (
    mean_of_defined,
    ratio,
    words,
)

NAMED_AT_MOST = 5  # in a warning
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
        pairs = np.flatnonzero(offered.sum(axis=1) == 2) if len(groups) > 2 else []  # of two groups there is one pair
        asked = counts.sum(axis=-1) > 0
        self.pairs = [
            (i, pair, *np.flatnonzero(offered[pair])) for i in range(len(instances)) for pair in pairs if asked[i, pair]
        ]

    @property
    def blocks(self):
        """Codes of the columns of `flat`: those of one instance and set of candidates have one; so have both places."""
        asked = np.arange(self.size) // self.shape[-1]
        return np.concatenate([asked, np.full(len(self.flat) - self.size, self.shape[0] * self.shape[1])])

    @property
    def of_instances(self):
        """Codes of the columns of `flat`, likewise, of one instance; both places have one."""
        asked = np.arange(self.size) // (self.shape[1] * self.shape[-1])
        return np.concatenate([asked, np.full(len(self.flat) - self.size, self.shape[0])])

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
        """One of the four scores (…) from answers per group and unread queries."""
        answered = mean_of_defined(instance_score(chosen))
        if key == "association_score_answered":
            return answered
        score = answered * _share_answered(chosen, unread)
        if key == "association_score":
            return score
        smallest, largest = self._if_all_answered(chosen, unread)
        return np.fmax(largest, score) if key == "worst_case" else np.fmin(smallest, score)

    def score_of(self, key, flat):
        """One of the four scores (…) of counts (…, columns)."""
        chosen, unread, _ = self.parts(flat)
        return self.score(key, chosen, unread)

    def clusters_with_a_say(self, clusters):
        """{key: how many clusters hold answers to count for each value}; clusters: sparse (columns, clusters)."""
        instances, offers, _ = self.shape
        asked = self.answers // self.shape[-1]  # (instances, sets) as one number
        said = clusters[self.answers]
        n = {
            "selection_rates": np.repeat(_clusters_of(said, asked // offers, instances), len(self.groups)),
            "pairwise": _clusters_of(said, asked, instances * offers)[
                [i * offers + pair for i, pair, *_ in self.pairs]
            ],
        }
        if self.with_places:
            n["position_sensitivity"] = _clusters_of(clusters[self.size :], np.zeros(2, dtype=int), 1)
        return n

    def shares(self):
        """{key: (parts, wholes, most)} of figures that are shares: sums of columns (values, columns), and how large
        each can be (values,), where all that a group was offered in chose it.
        """
        instances, *_ = self.shape
        k = len(self.groups)
        column = np.arange(self.size).reshape(self.shape)
        chosen, offered, answered = (np.zeros((instances * k, len(self.flat))) for _ in range(3))
        for i in range(instances):
            for group in range(k):
                row = i * k + group
                chosen[row, column[i, :, group]] = 1
                answered[row, column[i, :, :k].ravel()] = 1
                offered[row, column[i, self.offered[:, group], :k].ravel()] = 1
        shares = {"selection_rates": (chosen, answered, ratio(offered @ self.flat, answered @ self.flat))}
        one, both = np.zeros((len(self.pairs), len(self.flat))), np.zeros((len(self.pairs), len(self.flat)))
        for row, (i, pair, first, second) in enumerate(self.pairs):
            one[row, column[i, pair, first]] = 1
            both[row, column[i, pair, [first, second]]] = 1
        shares["pairwise"] = one, both, np.ones(len(self.pairs))
        if self.with_places:
            left, placed = np.zeros((1, len(self.flat))), np.zeros((1, len(self.flat)))
            left[0, self.size], placed[0, self.size :] = 1, 1
            shares["position_sensitivity"] = left, placed, np.ones(1)
        return shares

    def figures(self, flat):
        """{headline key: array (…, values)} of counts (…, columns); keys that are one number have one value."""
        chosen, unread, counts = self.parts(flat)
        scores = ("association_score", "association_score_answered", "worst_case", "best_case")
        figures = {key: self.score(key, chosen, unread)[..., None] for key in scores}
        rates = ratio(chosen, chosen.sum(axis=-1, keepdims=True))
        figures["selection_rates"] = rates.reshape(*flat.shape[:-1], len(self.instances) * len(self.groups))
        figures["pairwise"] = self._pairwise(counts)
        if self.with_places:
            placed = flat[..., self.size :]
            figures["position_sensitivity"] = ratio(placed[..., :1], placed.sum(axis=-1, keepdims=True)) - 0.5
        return figures

    def chance_and_maximum(self, answers_for_one=1.0):
        """What random answers would score on average, and the most lopsided ones, to the queries that were answered.

        answers_for_one: how many answers say as much as one, for pairs share faces.
        """
        chosen, unread, counts = self.parts(self.flat)
        answered = counts[..., :-1].sum(axis=-1)
        share = _share_answered(chosen, unread)
        chance = mean_of_defined(
            np.array([chance_part(queries, self.offered, answers_for_one) for queries in answered])
        )
        maximum = self._if_all_answered(np.zeros_like(chosen), answered)[1]
        return {"chance_score": float(share * chance), "maximum_score": float(share * maximum)}

    def about_instances(self):
        """Sentences about instances without answers, and about a score that no answers to all queries could give."""
        notes = []
        chosen, unread, _ = self.parts(self.flat)
        empty = np.flatnonzero(chosen.sum(axis=-1) == 0)
        if len(empty):
            names = listed(repr(self.instances[i]) for i in empty)
            notes.append(f"no query was answered about these instances, and the score is of the others: {names}")
        score = self.score("association_score", chosen, unread)
        least, most = self._if_all_answered(chosen, unread)
        if score < least - ROUNDING or score > most + ROUNDING:
            notes.append(
                f"had all queries been answered, the association score would lie between {least:.4f} and {most:.4f}: "
                f"it is {score:.4f}, for the share answered discounts all instances alike"
            )
        return notes

    def nested(self, figures):
        """{key: list of values} as the result has it: alone, by instance and group, or by instance and pair."""
        result = {key: values[0] for key, values in figures.items() if key not in ("selection_rates", "pairwise")}
        rates, k = figures["selection_rates"], len(self.groups)
        result["selection_rates"] = {
            name: dict(zip(self.groups, rates[i * k : (i + 1) * k])) for i, name in enumerate(self.instances)
        }
        result["pairwise"] = {}
        for (i, _, *pair), value in zip(self.pairs, figures["pairwise"]):
            result["pairwise"].setdefault(self.instances[i], {})[self._pair_name(pair)] = value
        return result

    def paths(self, key, where):
        """What the values of a key are called in a warning, where they are marked: bool (values,)."""
        if key == "selection_rates":  # of an instance all or none
            first_group = where[:: len(self.groups)] if len(self.groups) else where
            return [f"{words(key)} ({name})" for name, marked in zip(self.instances, first_group) if marked]
        if key == "pairwise":
            return [
                f"{key} ({self.instances[i]}, {self._pair_name(pair)})"
                for (i, _, *pair), marked in zip(self.pairs, where)
                if marked
            ]
        return [words(key)] if where.any() else []

    def _if_all_answered(self, chosen, unread):
        """The least and the greatest score (…) over all ways to answer the unread queries."""
        return [mean_of_defined(parts) for parts in extreme_scores(chosen, unread, self.offered)]

    def _pair_name(self, pair):
        return "|".join(self.groups[group] for group in pair)

    def _pairwise(self, counts):
        """Share of the first group of each pair that an instance was asked with: (…, pairs)."""
        if not self.pairs:
            return np.zeros((*counts.shape[:-3], 0))
        i, pair, first, second = np.array(self.pairs).T
        first, second = counts[..., i, pair, first], counts[..., i, pair, second]
        return ratio(first, first + second)


def listed(names):
    """Names in a sentence, the first few if they are many."""
    names = list(names)
    rest = len(names) - NAMED_AT_MOST
    return ", ".join(names[:NAMED_AT_MOST]) + (f" and {rest} more" if rest > 0 else "")


def _share_answered(chosen, unread):
    answered = chosen.sum(axis=(-2, -1))
    return ratio(answered, answered + unread.sum(axis=(-2, -1)))


def _clusters_of(counts, codes, n):
    """How many clusters have any of the rows of each code (n,): sparse (rows, clusters)."""
    member = sparse.csr_array((np.ones(len(codes)), (codes, np.arange(len(codes)))), shape=(n, len(codes)))
    return np.diff((member @ counts).tocsr().indptr)
