"""How far probabilities of two answers are from what is right, and from how often they are right."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evenhand.statistics.resampling import FloatArray

BINS = 10


def brier_scores(probabilities: FloatArray) -> FloatArray:
    """Squared distance of each probability (n,) of the right answer from 1: [0, 1], 0 is best; of a half it is 0.25.

    Their mean is the Brier score (Brier, 1950, of one of two answers; his own sum over both is twice that).
    """
    return (1 - probabilities) ** 2


def calibration_error(probabilities: FloatArray, true: npt.NDArray[np.bool_]) -> float:
    """Expected calibration error (Guo et al., ICML 2017, equation 3): [0, 1], 0 is best; NaN of nothing.

    probabilities (n,): of one of two answers; true (n,): whether that one is right. The likelier answer counts, with
    its probability as confidence: over ten bins of equal width, the distance of the mean confidence from the share of
    right answers, weighted by how many answers a bin has. Of few answers it is above 0 by chance alone.
    """
    if not len(probabilities):
        return float("nan")
    confidence = np.maximum(probabilities, 1 - probabilities)
    right = (probabilities > 0.5) == true
    in_bin = np.minimum((confidence * BINS).astype(int), BINS - 1)
    distance = np.bincount(in_bin, confidence - right)
    return float(np.abs(distance).sum() / len(probabilities))
