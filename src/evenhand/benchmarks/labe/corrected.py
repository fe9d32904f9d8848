"""Agentic shares as people would have labelled them: a classifier's errors move every figure, and are measurable.

A classifier of sensitivity se and specificity sp sees a share p of agentic sentences where there are
(p + sp - 1) / (se + sp - 1). That takes its errors for the same whoever a text is about.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from evenhand.benchmarks.labe.labels import Labels
from evenhand.language_agency.sentences import sentence_id
from evenhand.statistics.clustered import FEW_CLUSTERS, clustered_error
from evenhand.statistics.misclassification import Judged, Seen, worth_of
from evenhand.statistics.rare import reach
from evenhand.statistics.resampling import FloatArray, no_spread, students_intervals

ALL = "all"


def corrected_shares(predictions: pd.DataFrame, labels: Labels) -> tuple[dict[str, Any], list[str]]:
    """(`metrics.corrected`, sentences of what could not be done).

    {classifier: {sensitivity, specificity, n_agentic, n_other, labels of either kind, and by text type and group:
    agentic, the share as the classifier sees it, corrected and interval, all in percent, and contradicted, whether no
    true share fits it and the labels: the two are NaN then}}. A group's share is the mean over its texts; names are
    drawn anew within groups.
    """
    found: dict[str, Any] = {}
    notes: list[str] = []
    if labels.undecided:
        notes.append(f"{labels.undecided:,} labelled sentences have no label of most: left out")
    for classifier, of in predictions.groupby("classifier", sort=False):
        labelled = _labelled(of, labels.agentic)
        judged = _judged(labelled)
        unknown = len(labels.agentic) - len(labelled)
        if unknown:
            notes.append(
                f"{unknown:,} of {len(labels.agentic):,} labelled sentences are in no text read by {classifier}"
            )
        of_names, names = (each.nunique(dropna=False) for each in (labelled["name"], of["cluster"]))
        if of_names < min(FEW_CLUSTERS, names):
            notes.append(
                f"{len(labelled):,} labelled sentences are about {of_names} of {names} names: label a simple random "
                f"sample of sentences, or how {classifier} errs on other names isn't known"
            )
        if judged.why_not:
            why = judged.why_not.replace("of the class", "as agentic").replace("of others", "as communal or neutral")
            notes.append(f"agentic shares are not corrected, {classifier}: {why}")
        shares = {kind: dict(_groups(texts, judged)) for kind, texts in of.groupby("text_type", sort=False)}
        notes += _contradictions(str(classifier), judged, shares)
        found[str(classifier)] = {
            "sensitivity": judged.sensitivity,
            "specificity": judged.specificity,
            "n_agentic": judged.n_positive,
            "n_other": judged.n_negative,
            "text_type": shares,
        }
    return found, notes


def _contradictions(classifier: str, judged: Judged, shares: Mapping[Any, Mapping[str, Any]]) -> list[str]:
    """A sentence that names the groups whose share no errors as those on the labels could have made."""
    groups = {f"{kind}: {name}": of for kind, by_name in shares.items() for name, of in by_name.items()}
    against = [f"{name} ({of['agentic']:.1f} %)" for name, of in groups.items() if of["contradicted"]]
    if not against:
        return []
    of_none, of_all = 100 * (1 - judged.specificity), 100 * judged.sensitivity
    return [
        f"nothing is corrected where the labels contradict what {classifier} sees: {', '.join(against)}. By its errors "
        f"on them it would see {of_none:.1f} % agentic sentences where none are, and {of_all:.1f} % where all are: "
        "either it errs otherwise in these groups, or other sentences were labelled than a random sample of the run's"
    ]


def _labelled(predictions: pd.DataFrame, labels: Mapping[str, bool]) -> pd.DataFrame:
    """Sentences that people labelled: `said`, by them, `seen`, by the classifier, and whose `name` they are about."""
    found = {
        each: (labels[each], agentic > 0.5, name)
        for sentences, probabilities, name in zip(
            predictions["sentences"], predictions["agentic"], predictions["cluster"]
        )
        for each, agentic in zip(map(sentence_id, sentences), probabilities)
        if each in labels
    }
    return pd.DataFrame(list(found.values()), columns=["said", "seen", "name"])


def _judged(labelled: pd.DataFrame) -> Judged:
    kinds = [labelled[labelled["said"].astype(bool) == kind] for kind in (True, False)]
    right = [(of["seen"] == of["said"]).astype(float) for of in kinds]
    counts = [count for each in right for count in (len(each), int(each.sum()))]
    return Judged(*counts, *(worth_of(each, of["name"]) for each, of in zip(right, kinds)))


def _groups(texts: pd.DataFrame, judged: Judged) -> Iterator[tuple[str, dict[str, Any]]]:
    """Of all texts, of genders, of races and of both."""
    share = pd.Series(
        [np.mean(np.asarray(each) > 0.5) if len(each) else np.nan for each in texts["agentic"]],
        texts.index,
        dtype=float,
    )
    sentences = texts["agentic"].map(len)
    race, gender = texts["race"].fillna(""), texts["gender"].fillna("")
    both = (race + " " + gender).where((race != "") & (gender != ""), "")
    stratum = race + " " + gender
    for named in (pd.Series(ALL, texts.index), gender, race, both):
        for name in sorted({*named} - {""}):
            of = named == name
            seen = share_seen(share[of], sentences[of], texts.loc[of, "cluster"], stratum[of], judged)
            contradicted = judged.contradicts(seen)
            yield (
                name,
                {
                    "agentic": 100 * seen.mean,
                    "corrected": math.nan if contradicted else 100 * judged.corrected(seen.mean),
                    "interval": [100 * end for end in judged.interval(seen)],
                    "contradicted": contradicted,
                },
            )


def share_seen(shares: pd.Series, sentences: pd.Series, names: pd.Series, strata: pd.Series, judged: Judged) -> Seen:
    """Of texts (n,), NaN left out, with Student's interval over names, in log-odds, as far as rare names may reach.

    Of names that all say the same, or of which few say anything, others may be unlike them: rare agentic names
    (`evenhand.statistics.rare`), and rare communal ones. sentences (n,): what a name has beyond the classifier's errors
    is more than twice what chance makes of them.
    """
    found = clustered_error(shares, names, strata)
    if math.isnan(found.error):
        return Seen(found.mean, math.nan, math.nan, found.freedom)
    known = shares.notna()
    by_name = pd.DataFrame({"share": shares, "sentences": sentences, "texts": 1.0})[known].groupby(names[known])
    means, counts = by_name["share"].mean().to_numpy(), by_name["texts"].sum().to_numpy()
    low, high = students_intervals(found.mean, found.error, found.freedom, len(means))
    freedom = found.freedom
    if no_spread(found.error):
        freedom = max(1.0, len(means) - 1.0)
    elif not judged.why_not:
        n = by_name["sentences"].sum().to_numpy()
        none, every = 1 - judged.specificity, judged.sensitivity

        def beyond(departures: FloatArray, rate: float) -> float:
            noise = 2 * np.sqrt(rate * (1 - rate) / n)
            there = np.where(departures > noise, departures / (every - none), 0.0).clip(0, 1)
            return (every - none) * max(0.0, reach(there, counts) - float(np.average(there, weights=counts)))

        low = min(low, found.mean - beyond(every - means, every))
        high = max(high, found.mean + beyond(means - none, none))
    return Seen.between(found.mean, max(0.0, float(low)), min(1.0, float(high)), freedom)
