"""How often each group was chosen, per instance and set of candidates, and the figures that follow from it."""

from itertools import product

import numpy as np

from evenhand.statistics.resampling import (
    mean_of_defined,
    ratio,
    words,
)

from .instance_scores import chance_part, extreme_scores, instance_score

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
        """Codes of the columns of `flat`: those of one instance have one; so have both places."""
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

    def shares(self):
        """{key: (parts, wholes, most)} of figures that are shares: sums of columns (values, columns), and how large
        each can be (values,), where all that a group was offered in chose it.
        """
        column, k = np.arange(self.size).reshape(self.shape), len(self.groups)

        def sums(lists):
            found = np.zeros((len(lists), len(self.flat)))
            for row, columns in zip(found, lists):
                row[columns] = 1
            return found

        cells = list(product(range(len(self.instances)), range(k)))
        answered = sums([column[i, :, :k].ravel() for i, _ in cells])
        offered = sums([column[i, self.offered[:, group], :k].ravel() for i, group in cells])
        chosen, most = (
            sums([column[i, :, group] for i, group in cells]),
            ratio(offered @ self.flat, answered @ self.flat),
        )
        one = sums([column[i, pair, first] for i, pair, first, _ in self.pairs])
        both = sums([column[i, pair, [first, second]] for i, pair, first, second in self.pairs])
        shares = {"selection_rates": (chosen, answered, most), "pairwise": (one, both, np.ones(len(self.pairs)))}
        if self.with_places:
            shares["position_sensitivity"] = sums([self.size]), sums([[self.size, self.size + 1]]), np.ones(1)
        return shares

    def figures(self):
        """{headline key: array (values,)}; keys that are one number have one value."""
        scores = ("association_score", "association_score_answered", "worst_case", "best_case")
        figures = {key: np.array([self.score_of(key, self.flat)]) for key in scores}
        for key, (parts, wholes, _) in self.shares().items():
            figures[key] = ratio(parts @ self.flat, wholes @ self.flat) - 0.5 * (key == "position_sensitivity")
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

    def about_undefined(self, figures, ends):
        """Sentences about figures (see `figures`) that are NaN, and about those without an interval. ends: by key."""
        undefined = {key: np.isnan(values) for key, values in figures.items()}
        without = {key: np.isnan(values).any(axis=-1) & ~undefined[key] for key, values in ends.items()}
        of_what = {
            "no answered query to count for": undefined,
            "no interval, for too few clusters hold answers to count for": without,
        }
        paths = {
            what: [path for key, where in of.items() for path in self._paths(key, where)]
            for what, of in of_what.items()
        }
        return [f"{what}: {listed(dict.fromkeys(names))}" for what, names in paths.items() if names]

    def nested(self, figures):
        """{key: list of values} as the result has it: alone, by instance and group, or by instance and pair."""
        result = {key: values[0] for key, values in figures.items() if key not in ("selection_rates", "pairwise")}
        for key in ("selection_rates", "pairwise") if figures else ():
            result[key] = {name: {} for name in self.instances} if key == "selection_rates" else {}
            for (i, name), value in zip(self._names(key), figures[key]):
                result[key].setdefault(self.instances[i], {})[name] = value
        return result

    def _names(self, key):
        """The instance and the group, or the pair of groups, of each value."""
        if key == "selection_rates":
            return list(product(range(len(self.instances)), self.groups))
        return [(i, "|".join(self.groups[group] for group in pair)) for i, _, *pair in self.pairs]

    def _paths(self, key, where):
        """What the values of a key are called in a warning, where they are marked: bool (values,)."""
        if key not in ("selection_rates", "pairwise"):
            return [words(key)] if where.any() else []
        names = [(self.instances[i], name) for (i, name), marked in zip(self._names(key), where) if marked]
        return [f"{words(key)} ({', '.join(each[:1] if key == 'selection_rates' else each)})" for each in names]

    def _if_all_answered(self, chosen, unread):
        """The least and the greatest score (…) over all ways to answer the unread queries."""
        return [mean_of_defined(parts) for parts in extreme_scores(chosen, unread, self.offered)]


def listed(names):
    """Names in a sentence, the first few if they are many."""
    names = list(names)
    rest = len(names) - NAMED_AT_MOST
    return ", ".join(names[:NAMED_AT_MOST]) + (f" and {rest} more" if rest > 0 else "")


def _share_answered(chosen, unread):
    answered = chosen.sum(axis=(-2, -1))
    return ratio(answered, answered + unread.sum(axis=(-2, -1)))
