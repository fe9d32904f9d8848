"""Agreement beyond chance, as libraries compute it, and undefined where chance alone would agree."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt


def cohen(first: Iterable[object], second: Iterable[object]) -> float:
    """Cohen's kappa of two raters' labels, in the same order; NaN where both gave one and the same label alone."""
    from sklearn.metrics import cohen_kappa_score

    first, second = list(first), list(second)
    return float(cohen_kappa_score(first, second)) if len({*first, *second}) > 1 else math.nan


def fleiss(counts: npt.NDArray[np.int64]) -> float:
    """Fleiss' kappa (1971) of counts (entries, labels), how many raters gave each label; NaN where one label alone was
    given, or none.
    """
    from statsmodels.stats.inter_rater import fleiss_kappa

    return float(fleiss_kappa(counts)) if (counts.sum(axis=0) > 0).sum() > 1 else math.nan
