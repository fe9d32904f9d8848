"""Agentic shares corrected by people's labels: a classifier's errors move every figure, and can be measured.

A classifier of sensitivity se and specificity sp sees a share p of agentic sentences where there are
(p + sp - 1) / (se + sp - 1). That takes its errors for the same whoever a text is about.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from evenhand.benchmarks.labe.reading import PEOPLE, by_group, counted
from evenhand.figure import Estimate, Groups
from evenhand.flow.results import RunWarning
from evenhand.language_agency.sentences import sentence_id
from evenhand.statistics.clustered import FEW_CLUSTERS, clustered_error
from evenhand.statistics.misclassification import Judged, Seen, worth_of
from evenhand.statistics.rare import reach
from evenhand.statistics.resampling import FloatArray, no_spread, students_intervals

if TYPE_CHECKING:
    from evenhand.benchmarks.labe.reading import Labels


@dataclass(frozen=True)
class Corrections:
    """How one classifier did on labelled sentences (`labelled`: said, seen, name), and the shares of each group.

    shares: (group, rows, share as the classifier sees it), by text type, of all texts, genders, races and both.
    """

    labelled: pd.DataFrame
    judged: Judged
    shares: tuple[tuple[Groups, pd.DataFrame, Seen], ...]

    def estimates(self, key: str) -> Iterator[tuple[Groups, Estimate]]:
        """Yield percentages: "sensitivity" or "specificity"; or each group's share as the classifier sees it ("seen"),
        or as people would have labelled all sentences ("corrected").

        Corrected is NaN where no true share fits what is seen and the labels; none where labels can correct nothing.
        """
        judged = self.judged
        if key in ("sensitivity", "specificity"):
            n = judged.n_positive if key == "sensitivity" else judged.n_negative
            yield {}, Estimate(100 * getattr(judged, key), n=n, n_read=n)
        elif key == "seen":
            for groups, rows, seen in self.shares:
                yield groups, counted(rows, 100 * seen.mean)
        elif not judged.why_not:
            for groups, rows, seen in self.shares:
                value = math.nan if judged.contradicts(seen) else 100 * judged.corrected(seen.mean)
                yield groups, counted(rows, value, [100 * end for end in judged.interval(seen)])


def corrections(predictions: pd.DataFrame) -> Corrections:
    """Return the corrections of one classifier's predictions, which have a column `labelled`.

    A group's share is the mean over its texts; names are sampled within race and gender.
    """
    labelled = _labelled(predictions)
    judged = _judged(labelled)
    share = predictions["agentic"].map(lambda each: np.mean(np.asarray(each) > 0.5) if len(each) else math.nan)
    texts = predictions.assign(
        share=share.astype(float),
        n_sentences=predictions["agentic"].map(len),
        stratum=predictions["race"] + " " + predictions["gender"],
    )
    shares = []
    for text_type, of_type in texts.groupby("text_type", sort=False):
        for columns in ((), *PEOPLE):
            for groups, rows in by_group(of_type, columns) if columns else [({}, of_type)]:
                seen = share_seen(rows["share"], rows["n_sentences"], rows["cluster"], rows["stratum"], judged)
                shares.append(({"text_type": str(text_type), **groups}, rows, seen))
    return Corrections(labelled, judged, tuple(shares))


def label_warnings(predictions: pd.DataFrame, labels: Labels) -> Iterator[RunWarning]:
    """Yield what can't be corrected by these labels, and where they don't fit what classifiers see."""
    if labels.undecided:
        yield RunWarning("labels", f"{labels.undecided:,} labelled sentences have no majority label: left out.")
    for classifier, rows in predictions.groupby("classifier", sort=False):
        found = corrections(rows)
        n, n_labels = len(found.labelled), len(labels.agentic)
        if n < n_labels:
            yield RunWarning(
                "labels", f"{n_labels - n:,} of {n_labels:,} labelled sentences are in no text read by {classifier}."
            )
        of_names, names = (each.nunique(dropna=False) for each in (found.labelled["name"], rows["cluster"]))
        if of_names < min(FEW_CLUSTERS, names):
            yield RunWarning(
                "labels",
                f"{n:,} labelled sentences are about {of_names} of {names} names: label a simple random sample of "
                f"sentences, or how {classifier} errs on other names isn't known.",
            )
        if why := found.judged.why_not:
            why = why.replace("of the class", "as agentic").replace("of others", "as communal or neutral")
            yield RunWarning("labels", f"Agentic shares are not corrected, {classifier}: {why}.")
        contradicting = [each for each in found.shares if found.judged.contradicts(each[2])]
        if contradicting:
            groups = "; ".join(
                f"{', '.join(group.values())} ({100 * seen.mean:.1f} %)" for group, _, seen in contradicting
            )
            of_none, of_all = 100 * (1 - found.judged.specificity), 100 * found.judged.sensitivity
            yield RunWarning(
                "contradicting_labels",
                f"The labels contradict what {classifier} sees, and nothing is corrected, in: {groups}. By its errors "
                f"on them it would see {of_none:.1f} % agentic sentences where there are none, and {of_all:.1f} % "
                "where all are: either it errs differently in these groups, or the labels are no random sample.",
                {"classifier": str(classifier)},
            )


def _labelled(predictions: pd.DataFrame) -> pd.DataFrame:
    """Return sentences that people labelled, each once: said, seen, and the name that they are about."""
    found = {
        sentence_id(sentence): (said > 0.5, agentic > 0.5, name)
        for *lists, name in zip(*(predictions[each] for each in ("sentences", "labelled", "agentic", "cluster")))
        for sentence, said, agentic in zip(*lists)
        if not math.isnan(said)
    }
    return pd.DataFrame(list(found.values()), columns=["said", "seen", "name"])


def _judged(labelled: pd.DataFrame) -> Judged:
    kinds = [labelled[labelled["said"].astype(bool) == kind] for kind in (True, False)]
    right = [(of["seen"] == of["said"]).astype(float) for of in kinds]
    counts = [count for each in right for count in (len(each), int(each.sum()))]
    return Judged(*counts, *(worth_of(each, of["name"]) for each, of in zip(right, kinds)))


def share_seen(shares: pd.Series, sentences: pd.Series, names: pd.Series, strata: pd.Series, judged: Judged) -> Seen:
    """Return the mean share of texts (n,), NaN left out, with Student's interval over names in log-odds.

    Names that all say the same, or few of which say anything, may be unlike others: rare agentic names
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
