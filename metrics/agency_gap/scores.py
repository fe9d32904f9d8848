"""Bias in language agency, as the variance of ratio gaps between groups: from columns of texts to the result.

Formulas are in `group_means`, intervals in `uncertainty`, p-values in `studentized`.
"""

from itertools import chain
from typing import NamedTuple

import numpy as np

from evenhand.statistics.columns import coded, columns_of
from evenhand.statistics.resampling import (
    N_RESAMPLES,
    about_clusters,
    n_clusters_of,
    refuse_n_resamples,
    words,
)

from .group_means import DIMENSIONS, UNKNOWN, Sample, group_name, ratio_gap, unknown_labels
from .studentized import permutation_tests
from .uncertainty import intervals

AGENTIC, COMMUNAL = 1, 0


def agency_gap(
    predictions, genders, races, seeds=None, clusters=None, by=None, group_columns=None, n_resamples=N_RESAMPLES
):
    """The metric's result (keys: see the card) for parallel columns of n texts.

    predictions: the labels of each text's sentences, 1 agentic and 0 communal; none: unread. genders, races: '' where
    unknown. seeds: figures are computed within each and averaged. clusters: what is resampled and exchanged for the
    intervals and p-values (the person's name). by, group_columns: {column: values}. n_resamples: draws of the
    intervals, and permutations.
    Raises ValueError for other labels, columns of different lengths, groups with one name for two, and clusters that
    are missing or occur in several groups.
    """
    refuse_n_resamples(n_resamples)
    rows = _Rows(predictions, genders, races, seeds, clusters, columns_of(group_columns, "group_columns"), n_resamples)
    result = rows.score()
    result["by"] = {column: rows.score_by(column, values) for column, values in columns_of(by).items()}
    return result


class _Rows:
    """The columns as integer codes, so that a million texts are counted by numpy."""

    def __init__(self, predictions, genders, races, seeds, clusters, group_columns, n_resamples):
        n = len(predictions)
        self.n_resamples = n_resamples
        self.n_sentences, agentic = _sentences(predictions)
        self.gap = ratio_gap(agentic, self.n_sentences - agentic)
        self.gender = _column(genders, "gender", n)
        self.race = _column(races, "race", n)
        self.seed = _column([""] * n if seeds is None else seeds, "seeds", n)
        self.cluster = None if clusters is None else _column(clusters, "clusters", n)
        self.group_columns = {
            column: _column(values, f"group_columns[{column!r}]", n) for column, values in group_columns.items()
        }
        labels = _pairs(self.race, self.gender)
        _refuse_ambiguous_groups([labels.names[code] for code in _occurring(labels.codes)])
        if self.cluster is not None:
            _refuse_clusters_of_several_groups(self.cluster, labels)

    def score(self, chosen=slice(None)):
        """Headline keys over the rows chosen: points from all, intervals and p-values from resampled clusters."""
        n, n_read = len(self.gap[chosen]), int((self.n_sentences[chosen] > 0).sum())
        sample = self._sample(chosen, self.race, self.cluster)
        notes = unknown_labels(sample)
        points = sample.points(notes)
        result = {
            "n": n,
            "n_read": n_read,
            "unread_rate": 1 - n_read / n if n else np.nan,
            "n_sentences": int(self.n_sentences[chosen].sum()),
            **points,
            "warnings": notes,
        }
        if self.group_columns:
            result["variances"], result["groups_of"] = {}, {}
            for column, values in self.group_columns.items():
                result["variances"][column], result["groups_of"][column] = self._stratified(
                    chosen, column, values, notes
                )
        if self.cluster is not None:
            result |= n_clusters_of(self.cluster.codes[chosen], self.n_sentences[chosen] > 0)
            result["intervals"] = intervals(sample, points, notes, self.n_resamples)
            result["p_values"], result["chance"] = permutation_tests(sample, points, notes, self.n_resamples)
            notes += about_clusters(result["n_clusters"])
        return result

    def score_by(self, column, values):
        values = _column(values, f"by[{column!r}]", len(self.gap))
        return {name: self.score(np.flatnonzero(values.codes == code)) for code, name in enumerate(values.names)}

    def _stratified(self, chosen, column, values, notes):
        """Variance over the values of a column, and each value's figures (as the paper's Tables 17 and 18)."""
        sample = self._sample(chosen, values, None)  # the column stands where race does
        variance = sample.variances(sample.gaps)["race_variance"]
        if np.isnan(variance):
            notes.append(f"there is no variance by {words(column)}: it needs two values with read texts in every seed")
        figures, differences = sample.group_figures(), sample.differences(sample.gaps)
        return float(variance), {
            value: figures[row] | {"gender_difference": float(differences[value])}
            for value, row in sample.groups.rows["race"].items()
        }

    def _sample(self, chosen, race, cluster):
        """The chosen rows summed by cluster within each race x gender stratum (without clusters, by stratum)."""
        labels = _pairs(race, self.gender).at(chosen)
        seed = self.seed.at(chosen)
        seeds = _occurring(seed.codes)
        seed_index = np.searchsorted(seeds, seed.codes)
        read = self.n_sentences[chosen] > 0
        n_clusters = 1 if cluster is None else max(1, len(cluster.names))
        key = labels.codes * n_clusters + (0 if cluster is None else cluster.codes[chosen])
        units, unit = np.unique(key[read], return_inverse=True)  # in the order of stratum, then of the cluster's name
        cell, shape = unit * len(seeds) + seed_index[read], (len(units), len(seeds))
        totals = np.bincount(cell, self.gap[chosen][read], minlength=len(units) * len(seeds)).reshape(shape)
        counts = np.bincount(cell, minlength=len(units) * len(seeds)).reshape(shape)
        strata, starts = np.unique(units // n_clusters, return_index=True)
        return Sample(
            labels=[(labels.names[code], int(n)) for code, n in zip(*_counted(labels.codes))],
            strata=[labels.names[code] for code in strata],
            seeds=[self.seed.names[code] for code in seeds],
            sums=np.hstack([totals, counts]),
            starts=starts,
            n_sentences=np.bincount(unit, self.n_sentences[chosen][read], minlength=len(units)),
        )


def _refuse_ambiguous_groups(labels):
    seen = {}
    for dimension in DIMENSIONS:
        for race, gender in labels:
            name = group_name(dimension, race, gender)
            what = {"gender": f"gender {gender!r}", "race": f"race {race!r}"}.get(
                dimension, f"race {race!r} with gender {gender!r}"
            )
            if name != UNKNOWN and seen.setdefault(name, what) != what:
                raise ValueError(f"two groups are called {name!r}: {seen[name]} and {what}; rename one of them")


def _refuse_clusters_of_several_groups(clusters, labels):
    if UNKNOWN in clusters.names:
        row = int(np.flatnonzero(clusters.codes == clusters.names.index(UNKNOWN))[0])
        raise ValueError(f"clusters has no value in row {row}; where names are unknown, give each text its own id")
    label = np.zeros(len(clusters.names), dtype=np.int64)
    label[clusters.codes] = labels.codes
    differs = np.flatnonzero(label[clusters.codes] != labels.codes)
    if len(differs):
        row = differs[0]
        (race, gender), (other_race, other_gender) = (
            labels.names[labels.codes[row]],
            labels.names[label[clusters.codes[row]]],
        )
        raise ValueError(
            f"cluster {clusters.names[clusters.codes[row]]!r} occurs with race {race!r}, gender {gender!r} and with "
            f"race {other_race!r}, gender {other_gender!r}; give clusters that determine the group, e.g. text ids"
        )


class _Column(NamedTuple):
    """Values as codes (n,) into their names."""

    codes: np.ndarray
    names: list

    def at(self, chosen):
        return _Column(self.codes[chosen], self.names)


def _pairs(race, gender):
    """The (race, gender) of each text as one column."""
    names = [(one, other) for one in race.names for other in gender.names]
    return _Column(race.codes * len(gender.names) + gender.codes, names)


def _column(values, name, n):
    return _Column(*coded(values, name, n, missing=UNKNOWN))


def _counted(codes):
    """(codes that occur, in order; how often each does)."""
    counts = np.bincount(codes)
    return np.flatnonzero(counts), counts[counts > 0]


def _occurring(codes):
    return _counted(codes)[0]


def sentence_labels(predictions):
    """The labels of each text's sentences, as lists of 0 and 1.

    What equals 0 or 1 is one of them: numpy's numbers, True and False, 0.0 and 1.0. Raises ValueError naming the row
    for anything else: rounded, a probability of 0.9 would be communal.
    """
    rows = []
    for row, labels in enumerate(predictions):
        labels = labels.tolist() if hasattr(labels, "tolist") else labels  # of numpy, torch and pandas
        if not isinstance(labels, list | tuple):
            raise ValueError(f"row {row} is {labels!r}, no list of labels; an unread text is an empty list")
        rows.append(labels)
    if not set(map(type, chain.from_iterable(rows))) <= {int} or not {AGENTIC, COMMUNAL}.issuperset(
        chain.from_iterable(rows)
    ):
        rows = [[_label(label, row) for label in labels] for row, labels in enumerate(rows)]
    return rows


def _label(label, row):
    if isinstance(label, int | float | np.integer | np.floating | np.bool_):
        for accepted in (AGENTIC, COMMUNAL):
            if label == accepted:
                return accepted
    raise ValueError(f"unknown label {label!r} in row {row}; accepted: 1 (agentic), 0 (communal)")


def _sentences(predictions):
    """(sentences, agentic sentences) of each text, from its labels."""
    rows = sentence_labels(predictions)
    n_sentences = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    labels = np.fromiter(chain.from_iterable(rows), dtype=float, count=n_sentences.sum())
    ends = np.cumsum(n_sentences)
    agentic = np.concatenate([[0.0], np.cumsum(labels)])
    return n_sentences, agentic[ends] - agentic[ends - n_sentences]
