"""How far a mean may reach that few clusters carry: of what is rare, their variance says too little.

Where one name in twenty is wholly agentic and no other ever, twelve names show one such, or none, and Student's t of
what they show holds the truth in 81 % of data sets. How many clusters say anything, and how much those say, are two
questions.
"""

from __future__ import annotations

import math

from scipy import stats

from evenhand.statistics.resampling import FEWEST_CLUSTERS, LEVELS, FloatArray, freedom_of, students_intervals

FEW = 20.0  # clusters that carry a mean; of more, their variance says enough


def reach(values: FloatArray, counts: FloatArray) -> float:
    """The upper end of a 95 % interval of a mean of values (clusters,) from 0 to 1, where few clusters carry it.

    counts (clusters,): rows. 0 where many carry it, or each has something, so that Student's t says enough.

    Upper ends are taken of the share of clusters that say anything (Clopper and Pearson, of as many clusters as even
    ones would be worth as much) and of what those say (Student's t in log-odds), and their distances from what was seen
    squared and added (Zou and Donner 2008). Where one or two say anything, those that are unseen may say all.
    """
    weights = counts / counts.sum()
    says = values > 0
    carried = weights * values
    if says.all() or (says.any() and carried.sum() ** 2 >= FEW * (carried**2).sum()):
        return 0.0
    if says.sum() < FEWEST_CLUSTERS:
        return float(stats.beta.ppf(LEVELS[1], says.sum() + 1, (~says).sum()))
    share, worth = float(weights[says].sum()), float(1 / (weights**2).sum())
    most = float(stats.beta.ppf(LEVELS[1], worth * share + 1, worth * (1 - share)))
    within = weights[says] / share
    mean = float((within * values[says]).sum())
    error = math.sqrt(float(((within * (values[says] - mean)) ** 2 / (1 - within)).sum()))
    high = float(students_intervals(mean, error, freedom_of(within), float(says.sum()))[1])
    return share * mean + math.hypot(mean * (most - share), share * (high - mean))
