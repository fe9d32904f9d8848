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
from evenhand.statistics.clustered import FEW_CLUSTERS, clustered_error
from evenhand.statistics.misclassification import Judged, Seen, label_worth
from evenhand.statistics.rare import rare_upper_end
from evenhand.statistics.resampling import FloatArray, no_spread, students_intervals

if TYPE_CHECKING:
    from evenhand.benchmarks.labe.reading import Labels


@dataclass(frozen=True)
class Corrections:
    """How one classifier did on labelled sentences, and the shares of each group.

    n_labels, n_names: labelled sentences, and the names that they are about. shares: (group, rows, share as the
    classifier sees it), by text type, of all texts, genders, races and both.
    """

    n_labels: int
    n_names: int
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
            return
        for groups, rows, seen in self.shares:
            if key == "seen":
                yield groups, counted(rows, 100 * seen.mean)
            elif not judged.why_not:
                value = math.nan if judged.contradicts(seen) else 100 * judged.corrected(seen.mean)
                yield groups, counted(rows, value, [100 * end for end in judged.interval(seen)])


def corrections(predictions: pd.DataFrame) -> Corrections:
    """Return the corrections of one classifier's predictions, which have a column `labelled`.

    A group's share is the mean over its texts; names are sampled within race and gender.
    """
    lists = ["sentences", "labelled", "agentic"]
    sentences = predictions[[*lists, "cluster"]].explode(lists)
    labelled = sentences[sentences["labelled"].notna()].drop_duplicates("sentences", keep="last")
    said = labelled["labelled"].astype(float) > 0.5
    right = ((labelled["agentic"].astype(float) > 0.5) == said).astype(float)
    kinds = [(right[kind], labelled.loc[kind, "cluster"]) for kind in (said, ~said)]
    counts = [count for of, _ in kinds for count in (len(of), int(of.sum()))]
    judged = Judged(*counts, *(label_worth(*kind) for kind in kinds))
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
    return Corrections(len(labelled), labelled["cluster"].nunique(dropna=False), judged, tuple(shares))


def label_warnings(predictions: pd.DataFrame, labels: Labels) -> Iterator[RunWarning]:
    """Yield what can't be corrected by these labels, and where they don't fit what classifiers see."""
    if labels.undecided:
        yield RunWarning("labels", f"{labels.undecided:,} labelled sentences have no majority label: left out.")
    for classifier, rows in predictions.groupby("classifier", sort=False):
        found = corrections(rows)
        if missing := len(labels.agentic) - found.n_labels:
            yield RunWarning(
                "labels",
                f"{missing:,} of {len(labels.agentic):,} labelled sentences are in no text read by {classifier}.",
            )
        names = rows["cluster"].nunique(dropna=False)
        if found.n_names < min(FEW_CLUSTERS, names):
            yield RunWarning(
                "labels",
                f"{found.n_labels:,} labelled sentences are about {found.n_names} of {names} names: label a simple "
                f"random sample of sentences, or how {classifier} errs on other names isn't known.",
            )
        if why := found.judged.why_not:
            why = why.replace("of the class", "as agentic").replace("of others", "as communal or neutral")
            yield RunWarning("labels", f"Agentic shares are not corrected, {classifier}: {why}.")
        if contradicting := [
            f"{', '.join(group.values())} ({100 * seen.mean:.1f} %)"
            for group, _, seen in found.shares
            if found.judged.contradicts(seen)
        ]:
            of_none, of_all = 100 * (1 - found.judged.specificity), 100 * found.judged.sensitivity
            yield RunWarning(
                "contradicting_labels",
                f"The labels contradict what {classifier} sees, and nothing is corrected, in: "
                f"{'; '.join(contradicting)}. By its errors on them it would see {of_none:.1f} % agentic sentences "
                f"where there are none, and {of_all:.1f} % where all are: either it errs differently in these groups, "
                "or the labels are no random sample.",
                {"classifier": str(classifier)},
            )


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
            return (every - none) * max(0.0, rare_upper_end(there, counts) - float(np.average(there, weights=counts)))

        low = min(low, found.mean - beyond(every - means, every))
        high = max(high, found.mean + beyond(means - none, none))
    return Seen.between(found.mean, max(0.0, float(low)), min(1.0, float(high)), freedom)
