"""Differences of the variances between groups, of two runs on the same prompts (LABE's Table 2)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import special

from evenhand.metrics.agency_gap.group_means import HEADLINES, sum_texts
from evenhand.metrics.agency_gap.uncertainty import resample_gaps
from evenhand.statistics.clustered import Difference
from evenhand.statistics.resampling import (
    FEWEST_CLUSTERS,
    N_RESAMPLES,
    FloatArray,
    expanded_levels,
    too_few_alike,
)

OF_FIRST = ["id", "gap", "run", "classifier", "race", "gender", "cluster"]


def variance_differences(first: pd.DataFrame, second: pd.DataFrame) -> dict[str, Difference]:
    """Return second minus first of each of the metric's variances, over texts that both runs have and could read.

    The interval comes from resampling names (texts where no one is named) within race and gender, moved so that its
    mean is the observed difference. The p-value is the level at which that interval begins at 0: exchanging runs
    instead would take noisier texts of one run for an effect.

    Noise in the groups' means adds to every variance. With second texts half as noisy, observed differences were 2 to 9
    squared points below the true ones in simulation (scripts/simulate_labe.py).
    """
    paired = first[OF_FIRST].merge(second[["id", "gap"]], on="id", suffixes=("", "_second"))
    paired = paired[paired["gap"].notna() & paired["gap_second"].notna()]
    if not len(paired):
        return {}
    texts = paired.assign(seed=paired["run"].astype(str) + "/" + paired["classifier"], n_sentences=1)
    samples = [sum_texts(texts.assign(gap=texts[column].astype(float))) for column in ("gap", "gap_second")]

    def variances(gaps: FloatArray, run: int) -> FloatArray:
        found = samples[run].variances(gaps)
        return np.stack([found[key] for key in HEADLINES], axis=-1)

    seen = [variances(sample.gaps, run) for run, sample in enumerate(samples)]
    point = seen[1] - seen[0]
    # Both runs have the same names in each stratum, so that the same names are drawn.
    drawn = [variances(resample_gaps(sample, N_RESAMPLES), run) for run, sample in enumerate(samples)]
    draws = drawn[1] - drawn[0]
    if samples[0].sizes.min() < FEWEST_CLUSTERS:
        draws[:] = np.nan
    n_names = len(samples[0].sums)
    freedom = n_names - len(samples[0].strata)
    smallest = 0.5**freedom  # that so few names allow when all of them say the same
    # Noise raises the variances of both runs, and resampling raises them once more, but both equally.
    moved = draws - draws.mean(axis=0) + point
    ends = np.quantile(moved, expanded_levels(freedom), axis=0).T
    ends[[too_few_alike(spread, smallest) for spread in np.ptp(draws, axis=0)]] = np.nan
    p_values = np.maximum(_p_values(moved, freedom), smallest)
    figures = np.column_stack([*seen, point, ends, p_values]).tolist()
    return {
        key: Difference(first_value, second_value, estimate, low, high, p, len(paired), n_names, smallest)
        for key, (first_value, second_value, estimate, low, high, p) in zip(HEADLINES, figures)
    }


def _p_values(draws: FloatArray, freedom: float) -> FloatArray:
    """Return two-sided p (figures,): the level at which the interval of these draws (draws, figures) begins at 0."""
    draws = np.round(draws, 9)  # 0 but for its last bits is 0
    beyond = np.minimum((draws <= 0).sum(axis=0), (draws >= 0).sum(axis=0))
    share = (1 + beyond) / (1 + len(draws))
    p = np.minimum(1, 2 * special.stdtr(max(1, freedom), special.ndtri(np.minimum(share, 1))))
    return np.where(np.isnan(draws).any(axis=0), np.nan, p)
