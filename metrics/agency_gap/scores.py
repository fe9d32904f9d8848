"""Bias in language agency, as the variance of ratio gaps between groups: from columns of texts to the result.

Formulas are in `group_means`, intervals in `uncertainty`, p-values in `studentized`.
"""

from itertools import chain

import numpy as np
import pandas as pd

from evenhand.statistics.columns import coded, columns_of
from evenhand.statistics.resampling import (
    N_RESAMPLES,
    about_clusters,
    refuse_n_resamples,
    words,
)

from .group_means import UNKNOWN, group_name, ratio_gap, sum_texts, unknown_labels
from .studentized import permutation_tests
from .uncertainty import intervals

AGENTIC, COMMUNAL = 1, 0
NAMED_GROUPS = {
    "gender": "gender {1!r}",
    "race": "race {0!r}",
    "intersectional": "race {0!r} with gender {1!r}",
}


def agency_gap(
    predictions, genders, races, seeds=None, clusters=None, by=None, group_columns=None, n_resamples=N_RESAMPLES
):
    """Return the metric's result (keys: see the card) for parallel columns of n texts.

    predictions: the labels of each text's sentences, 1 agentic and 0 communal; none: unread. genders, races: '' where
    unknown. seeds: figures are computed within each and averaged. clusters: what is resampled and exchanged for the
    intervals and p-values (the person's name). by, group_columns: {column: values}. n_resamples: draws of the
    intervals, and permutations.
    Raises ValueError for other labels, columns of different lengths, groups with one name for two, and clusters that
    are missing or occur in several groups.
    """
    refuse_n_resamples(n_resamples)
    n = len(predictions)
    n_sentences, agentic = _count_sentences(predictions)
    columns = {
        "gap": ratio_gap(agentic, n_sentences - agentic),
        "n_sentences": n_sentences,
        "gender": _as_texts(genders, "gender", n),
        "race": _as_texts(races, "race", n),
        "seed": _as_texts([""] * n if seeds is None else seeds, "seeds", n),
        "cluster": "" if clusters is None else _as_texts(clusters, "clusters", n),
    }
    texts = pd.DataFrame(columns, index=range(n))
    _refuse_ambiguous_groups(texts)
    if clusters is not None:
        _refuse_clusters_of_several_groups(texts)
    strata = {
        column: pd.Series(_as_texts(values, f"group_columns[{column!r}]", n))
        for column, values in columns_of(group_columns, "group_columns").items()
    }
    result = _score(texts, strata, clusters is not None, n_resamples)
    result["by"] = {}
    for column, values in columns_of(by).items():
        parts = texts.groupby(_as_texts(values, f"by[{column!r}]", n))
        result["by"][column] = {value: _score(part, strata, clusters is not None, n_resamples) for value, part in parts}
    return result


def _score(texts, strata, clustered, n_resamples):
    """Return headline keys over texts: points from all, intervals and p-values from resampled clusters."""
    n, read = len(texts), texts[texts["n_sentences"] > 0]
    sample = sum_texts(texts)
    notes = unknown_labels(sample)
    points = sample.points(notes)
    result = {
        "n": n,
        "n_read": len(read),
        "unread_rate": 1 - len(read) / n if n else np.nan,
        "n_sentences": int(texts["n_sentences"].sum()),
        **points,
        "warnings": notes,
    }
    if strata:
        found = {column: _stratify(texts, column, values, notes) for column, values in strata.items()}
        result["variances"] = {column: variance for column, (variance, _) in found.items()}
        result["groups_of"] = {column: groups for column, (_, groups) in found.items()}
    if clustered:
        result["n_clusters"] = read["cluster"].nunique()
        result["n_clusters_asked"] = texts["cluster"].nunique()
        result["intervals"] = intervals(sample, points, notes, n_resamples)
        result["p_values"], result["chance"] = permutation_tests(sample, points, notes, n_resamples)
        notes += about_clusters(result["n_clusters"])
    return result


def _stratify(texts, column, values, notes):
    """Return the variance over the values of a column, and each value's figures (as the paper's Tables 17 and 18)."""
    sample = sum_texts(texts.assign(race=values[texts.index], cluster=""))  # the column in place of race
    variance = sample.variances(sample.gaps)["race_variance"]
    if np.isnan(variance):
        notes.append(f"there is no variance by {words(column)}: it needs two values with read texts in every seed")
    figures, differences = sample.group_figures(), sample.differences(sample.gaps)
    return float(variance), {
        value: figures[row] | {"gender_difference": float(differences[value])}
        for value, row in sample.groups.rows["race"].items()
    }


def _as_texts(values, name, n):
    codes, names = coded(values, name, n, missing=UNKNOWN)
    return np.array(names, dtype=object)[codes]


def _refuse_ambiguous_groups(texts):
    seen = {}
    labels = sorted(set(zip(texts["race"], texts["gender"])))
    for dimension, named in NAMED_GROUPS.items():
        for label in labels:
            name, what = group_name(dimension, *label), named.format(*label)
            if name != UNKNOWN and seen.setdefault(name, what) != what:
                raise ValueError(f"two groups are called {name!r}: {seen[name]} and {what}; rename one of them")


def _refuse_clusters_of_several_groups(texts):
    if missing := np.flatnonzero(texts["cluster"] == UNKNOWN).tolist():
        raise ValueError(
            f"clusters has no value in row {missing[0]}; where names are unknown, give each text its own id"
        )
    groups = texts[["cluster", "race", "gender"]].drop_duplicates()
    several = groups[groups["cluster"].duplicated(keep=False)]
    if len(several):
        one, other, *_ = several[several["cluster"] == several["cluster"].iloc[0]].itertuples()
        raise ValueError(
            f"cluster {one.cluster!r} occurs with race {one.race!r}, gender {one.gender!r} and with race "
            f"{other.race!r}, gender {other.gender!r}; give clusters that determine the group, e.g. text ids"
        )


def sentence_labels(predictions):
    """Return the labels of each text's sentences, as lists of 0 and 1.

    What equals 0 or 1 is one of them: numpy's numbers, True and False, 0.0 and 1.0. Raises ValueError naming the row
    for anything else: rounded, a probability of 0.9 would be communal.
    """
    rows = []
    for row, labels in enumerate(predictions):
        labels = labels.tolist() if hasattr(labels, "tolist") else labels  # of numpy, torch and pandas
        if not isinstance(labels, list | tuple):
            raise ValueError(f"row {row} is {labels!r}, no list of labels; an unread text is an empty list")
        rows.append(labels)
    found = [*chain.from_iterable(rows)]
    if set(map(type, found)) <= {int} and {AGENTIC, COMMUNAL}.issuperset(found):
        return rows
    return [[_label(label, row) for label in labels] for row, labels in enumerate(rows)]


def _label(label, row):
    if isinstance(label, int | float | np.number | np.bool_) and label in (AGENTIC, COMMUNAL):
        return int(label)
    raise ValueError(f"unknown label {label!r} in row {row}; accepted: 1 (agentic), 0 (communal)")


def _count_sentences(predictions):
    """Return (sentences, agentic sentences) of each text, from its labels."""
    rows = sentence_labels(predictions)
    return np.array([*map(len, rows)], dtype=np.int64), np.array([*map(sum, rows)], dtype=float)
