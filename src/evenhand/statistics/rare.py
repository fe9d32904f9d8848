"""How far a mean may reach that few clusters carry: of what is rare, their variance says too little.

Where one name in twenty is wholly agentic and no other ever, twelve names show one such, or none, and Student's t of
what they show holds the truth in 81 % of data sets. How many clusters say anything, and how much those say, are two
questions.
"""

from __future__ import annotations

import math

from scipy import special

from evenhand.statistics.resampling import FEWEST_CLUSTERS, LEVELS, ROUNDING, FloatArray, students_intervals

ALIKE = 0.8  # rows of a cluster, where too few clusters show how much
FEW = 20.0  # clusters that carry a mean; of more, their variance says enough


def widen_for_rare(low: float, high: float, values: FloatArray, counts: FloatArray) -> tuple[float, float]:
    """Widen the interval of a mean of values (clusters,) from 0 to 1 where few clusters carry it.

    Or where few keep it from being 1. counts (clusters,): rows. NaN stays.
    """
    low, high = float(low), float(high)
    if math.isnan(low + high):
        return low, high
    low = min(low, 1 - rare_upper_end(1 - values, counts), _rare_lower_end(values, counts))
    return low, max(high, rare_upper_end(values, counts), 1 - _rare_lower_end(1 - values, counts))


def rare_upper_end(values: FloatArray, counts: FloatArray) -> float:
    """Return the upper end of a 95 % interval of a mean of values (clusters,) from 0 to 1, where few clusters carry it.

    counts (clusters,): rows. 0 where many carry it, or clusters of half the rows, so that Student's t says enough.

    Upper ends are taken of the share that clusters which say anything have of rows (Clopper and Pearson, of as many
    clusters as even ones would be worth as much) and of what those say (Student's t in log-odds; of one or two, which
    don't show how unlike clusters are, Clopper and Pearson of their rows, which count for less as they are correlated),
    and their distances from what was seen squared and added (Zou and Donner 2008).
    """
    total, mean, carriers = _carried(values, counts)
    if not _few(total, mean, carriers):
        return 0.0
    if not carriers:
        return float(special.betaincinv(1, len(values), LEVELS[1]))
    share, weights = total / mean, counts / counts.sum()
    worth = float(1 / (weights**2).sum())
    most = float(special.betaincinv(worth * share + 1, worth * (1 - share), LEVELS[1]))
    if carriers < FEWEST_CLUSTERS - ROUNDING:
        of_one = float((weights * values * counts).sum()) / total
        rows = carriers * of_one / (1 + (of_one - 1) * ALIKE)
        high = float(special.betaincinv(rows * mean + 1, rows * (1 - mean), LEVELS[1])) if mean < 1 else 1.0
    else:
        spread = math.sqrt(float((weights * values * (values - mean) ** 2).sum()) / total)
        high = float(students_intervals(mean, spread / math.sqrt(carriers - 1), carriers - 1, carriers)[1])
    return total + math.hypot(mean * (most - share), share * (high - mean))


def _rare_lower_end(values: FloatArray, counts: FloatArray) -> float:
    """Return the lower end, for how many clusters say anything; 1 where many do, or none."""
    total, mean, carriers = _carried(values, counts)
    if not (carriers and _few(total, mean, carriers)):
        return 1.0
    least = float(special.betaincinv(carriers, len(values) - carriers + 1, LEVELS[0]))
    return total * least * len(values) / carriers


def _carried(values: FloatArray, counts: FloatArray) -> tuple[float, float, float]:
    """(the mean, that of the clusters that carry it, how many do): of clusters of which each has the same, or nothing.

    What others have beside little changes little.
    """
    carried = counts * values / counts.sum()
    total = float(carried.sum())
    if total <= ROUNDING:
        return 0.0, 0.0, 0.0
    return total, float((carried * values).sum()) / total, total**2 / float((carried**2).sum())


def _few(total: float, mean: float, carriers: float) -> bool:
    """Fewer than FEW, which have less than half of all rows."""
    return not carriers or (carriers < FEW and 2 * total < mean * (1 - ROUNDING))
