"""How good a classifier of language agency is: accuracy, F1, calibration, agreement between classifiers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Protocol

import datasets
import numpy as np
import numpy.typing as npt

from evenhand.library import load_dataset
from evenhand.statistics.kappa import cohen
from evenhand.statistics.resampling import N_RESAMPLES, FloatArray, IntArray, resampled

ABSTAINS_BELOW = 0.75  # a confidence halfway between a guess and certainty
BINS = 10  # of confidence


class LabelsSentences(Protocol):
    def agentic_probabilities(self, sentences: Sequence[str]) -> FloatArray: ...


def judge(classifier: LabelsSentences, rows: datasets.Dataset) -> dict[str, object]:
    """Return what `judged` says of the classifier's probabilities of rows' `text`, against their `label`."""
    pairs = list(rows["pair"]) if "pair" in rows.column_names else []
    clusters = pairs if any(pairs) else None
    return judged(classifier.agentic_probabilities(list(rows["text"])), np.array(rows["label"]), clusters)


def judged(
    agentic: FloatArray, labels: npt.NDArray[np.int64], clusters: Sequence[str] | None = None
) -> dict[str, object]:
    """Return accuracy, F1s (percent, as in LABE's Table 12) with 95 % intervals, and calibration.

    agentic (n,): probabilities, NaN where no label could be read, which counts as wrong; labels (n,): 1 agentic.
    clusters: what is resampled together (the pair); sentences alone where None. Of fewer than three: NaN intervals.
    abstained: percent of confidences under ABSTAINS_BELOW, or unread; the other figures count their labels too.
    brier: mean squared error of the probability; calibration_error: mean distance of confidence and accuracy over ten
    bins of equal width (ECE), both in [0, 1], 0 best.
    """
    counts = _confusion(agentic, labels)
    _, cluster = np.unique(np.arange(len(labels)) if clusters is None else clusters, return_inverse=True)
    by_cluster = np.zeros((cluster.max() + 1, *counts.shape[1:]))
    np.add.at(by_cluster, cluster, counts)
    figures = _figures(by_cluster.sum(axis=0))
    read = ~np.isnan(agentic)
    return {
        "n": len(labels),
        "unread": int((~read).sum()),
        "abstained": _abstained(agentic),
        **{name: float(value) for name, value in figures.items()},
        "intervals": dict(zip(figures, _intervals(by_cluster))),
        "brier": float(np.mean((agentic[read] - labels[read]) ** 2)) if read.any() else None,
        "calibration_error": _calibration_error(agentic[read], labels[read] == 1) if read.any() else None,
    }


def judge_undecided(classifier: LabelsSentences) -> dict[str, dict[str, float | None]]:
    """{"neutral", "mixed"}: what `undecided` says of the classifier's probabilities of language_agency's `neutral`."""
    return {name: undecided(classifier.agentic_probabilities(texts)) for name, texts in undecided_sentences().items()}


UNDECIDED = ("neutral", "mixed")


@lru_cache(maxsize=1)
def undecided_sentences() -> Mapping[str, list[str]]:
    """Return sentences that are neither agentic nor communal ("neutral"), or both ("mixed")."""
    rows = load_dataset("language_agency", "neutral", split="test")
    return {kind: [row["text"] for row in rows if row["kind"] == kind] for kind in UNDECIDED}


def undecided(agentic: FloatArray) -> dict[str, float | None]:
    """Return how a classifier of two labels keeps back where neither is right.

    agentic (n,): probabilities, NaN where no label could be read. abstained: percent of confidences under
    ABSTAINS_BELOW, or unread. calibration_error: mean distance of the probability from one half, in [0, 0.5], 0 best.
    """
    read = agentic[~np.isnan(agentic)]
    return {
        "n": len(agentic),
        "abstained": _abstained(agentic),
        "calibration_error": float(np.abs(read - 0.5).mean()) if len(read) else None,
    }


def agreement(agentic: Sequence[FloatArray]) -> dict[str, float | None] | None:
    """Of several classifiers on the same sentences, over pairs of them: percent of equal labels, Cohen's kappa.

    None for fewer than two classifiers; kappa None where two of them gave one and the same label throughout.
    """
    labels = [each > 0.5 for each in agentic]
    if len(labels) < 2:
        return None
    pairs = list(combinations(labels, 2))
    kappa = float(np.mean([cohen(one, other) for one, other in pairs]))
    return {
        "percent": float(100 * np.mean([np.mean(one == other) for one, other in pairs])),
        "kappa": None if math.isnan(kappa) else kappa,
    }


def _calibration_error(agentic: FloatArray, labels: npt.NDArray[np.bool_]) -> float:
    """Return the expected calibration error over ten bins of equal width (Guo et al., ICML 2017, equation 3)."""
    confidence = np.maximum(agentic, 1 - agentic)
    right = (agentic > 0.5) == labels
    distance = np.bincount(np.minimum((confidence * BINS).astype(int), BINS - 1), confidence - right)
    return float(np.abs(distance).sum() / len(agentic))


def _abstained(agentic: FloatArray) -> float:
    return float(100 * np.mean(~(np.maximum(agentic, 1 - agentic) >= ABSTAINS_BELOW)))  # NaN is no confidence


def _confusion(agentic: FloatArray, labels: npt.NDArray[np.int64]) -> FloatArray:
    """Return counts (n, 2 true, 3 given): communal, agentic, unread; one 1 a sentence."""
    given = np.where(np.isnan(agentic), 2, agentic > 0.5).astype(int)
    counts = np.zeros((len(labels), 2, 3))
    counts[np.arange(len(labels)), labels, given] = 1
    return counts


def _figures(confusion: FloatArray) -> dict[str, FloatArray]:
    """Return percent, of counts (…, 2 true, 3 given). F1 of a class that neither occurs nor is given: 0."""
    true = confusion.sum(axis=-1)
    given = confusion.sum(axis=-2)[..., :2]
    right = np.stack([confusion[..., 0, 0], confusion[..., 1, 1]], axis=-1)
    n = true.sum(axis=-1)
    f1 = np.divide(2 * right, true + given, out=np.zeros_like(right), where=true + given > 0)
    return {
        "accuracy": 100 * right.sum(axis=-1) / n,
        "macro_f1": 100 * f1.mean(axis=-1),
        "micro_f1": 100 * 2 * right.sum(axis=-1) / (n + given.sum(axis=-1)),
        "weighted_f1": 100 * (f1 * true).sum(axis=-1) / n,
    }


def _intervals(by_cluster: FloatArray) -> list[list[float]]:
    """Return [low, high] of each figure, from counts (clusters, 2 true, 3 given)."""

    def figures(drawn: IntArray) -> FloatArray:
        return np.stack(list(_figures(by_cluster[drawn].sum(axis=1)).values()), axis=-1)

    _, ends = resampled(figures, [np.arange(len(by_cluster))], N_RESAMPLES, values=by_cluster.size)
    return [[float(low), float(high)] for low, high in ends]
