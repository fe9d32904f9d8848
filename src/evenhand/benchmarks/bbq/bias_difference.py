"""The difference of two runs' bias scores on the rows that both answered readably: a difference of ratios."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from scipy import special

from evenhand.metrics.bbq_bias.scores import Sums, counts
from evenhand.statistics.clustered import Difference, smallest_p
from evenhand.statistics.resampling import FEWEST_CLUSTERS, FloatArray, freedom_of, students_intervals

MOST = 200.0  # points, from always against the stereotype to always with it


def bias_difference(first: pd.DataFrame, second: pd.DataFrame) -> Difference:
    """Return second minus first, in points of the bias score; NaN where one run has none. Rows: one kind of context.

    Interval: Student's t over templates, of what each moves the difference by, symmetric in log-odds of where it stands
    between the least and the most that it can be. p: of the same t, no smaller than all templates that say the same
    would give. (Exchanging the runs for whole templates would carry a run's noise along, and find too much where one
    names groups less often, and more unevenly, than the other.) n_clusters: templates
    in which either run named a group, for no others move a score. NaN where one run named groups in fewer than three.

    Of 6, 12, 25, 60 and 270 templates (400 data sets each) it covers 94 to 98, 92 to 97, 93 to 97, 93 to 97 and 93 to
    97 % in fourteen designs: equal runs, less biased ones, hardly any answer that names a group, a sixth of the
    templates five times as large. Percentiles of a bootstrap, widened as Student's t: 12 to 94, 49 to 94, 89 to 96,
    91 to 95, 92 to 96.
    """
    condition = str(first["context_condition"].iloc[0])
    read = [each[each["answer"].notna()].set_index("id", drop=False) for each in (first, second)]
    common = read[0].index.intersection(read[1].index)
    sums = [_sums(each.loc[common], read[0].loc[common, "template"]) for each in read]
    before, after = (float(Sums.figures(each.sum().to_numpy())["bias_score"][condition]) for each in sums)
    named = np.array([each[condition, "biased"] + each[condition, "counter_biased"] for each in sums])
    n_clusters = int(named.any(axis=0).sum())
    low = high = p = math.nan
    smallest = smallest_p(max(1, n_clusters))
    if (named > 0).sum(axis=1).min() >= FEWEST_CLUSTERS:
        moved_before, moved_after = (_moved(each[condition], condition) for each in sums)
        shares = (named / named.sum(axis=1, keepdims=True)).mean(axis=0)
        error = float(np.sqrt(((moved_after - moved_before) ** 2).sum()))
        low, high = map(float, students_intervals(after - before, error, freedom_of(shares), n_clusters, -MOST, MOST))
        p = float(2 * special.stdtr(freedom_of(shares), -abs(after - before) / error)) if error else 0.0
        p = 1.0 if after == before else max(p, smallest)
    return Difference(before, after, after - before, low, high, p, len(common), n_clusters, smallest)


def metric_columns(predictions: pd.DataFrame) -> dict[str, list[str]]:
    """The metric's arguments: answers ("" for unread) and what they are answers to."""
    names = ("context_condition", "question_polarity", "label", "unknown", "target")
    plural = ("context_conditions", "question_polarities", "labels", "unknowns", "targets")
    answers = predictions["answer"].astype(object).where(predictions["answer"].notna(), "")
    return {"predictions": answers.tolist()} | {key: predictions[name].tolist() for key, name in zip(plural, names)}


def _sums(rows: pd.DataFrame, templates: pd.Series) -> pd.DataFrame:
    """Of each template, what its rows add to the metric's counts: (templates, (condition, count))."""
    columns = pd.MultiIndex.from_tuples(Sums.names)
    counted = pd.DataFrame(counts(**metric_columns(rows)).astype(float), columns=columns)
    return counted.groupby(templates.to_numpy(), sort=False).sum()


def _moved(sums: pd.DataFrame, condition: str) -> FloatArray:
    """By how many points each template (templates,) moves a run's bias score, as it would be of very many templates.

    Linearised: the score is a ratio, in ambiguous contexts times the share that is wrong.
    """
    lean, moved = _ratio(sums["biased"] - sums["counter_biased"], sums["biased"] + sums["counter_biased"])
    if condition == "ambig":
        read = sums["read_with_target"]
        wrong, of_wrong = _ratio(read - sums["right_with_target"], read)
        moved = wrong * moved + lean * of_wrong
    return np.asarray(100 * moved)


def _ratio(parts: pd.Series, wholes: pd.Series) -> tuple[float, pd.Series]:
    """(sum of parts / sum of wholes, what each template moves it by (templates,)).

    A large template pulls the ratio towards itself, so that it seems to move it too little: by the root of the share
    that the ratio leaves ("CR2", Bell and McCaffrey 2002).
    """
    whole = wholes.sum()
    mean = float(parts.sum() / whole)
    return mean, (parts - mean * wholes) / whole / np.sqrt(1 - wholes / whole)
