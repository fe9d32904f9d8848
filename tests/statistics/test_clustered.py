"""Means and differences of random data whose truth is known."""

import math

import numpy as np
import pandas as pd
import pytest

from evenhand.statistics import clustered
from evenhand.statistics.clustered import paired_difference
from evenhand.statistics.families import benjamini_hochberg, holm

CLUSTERS, ROWS = 40, 10


def answers(draw, rates):
    """Biased or not (100 or 0), CLUSTERS x ROWS, each cluster at its own rate."""
    return pd.Series(100.0 * (draw.random((CLUSTERS, ROWS)) < rates[:, None]).ravel())


NAMES = pd.Series(np.repeat([f"t{i}" for i in range(CLUSTERS)], ROWS))


def test_intervals_cover_the_true_difference_about_95_percent_of_the_time(monkeypatch):
    """Rates from Beta(2, 3) and 10 points above them: clusters differ, the truth is 10.

    A difference's interval is that of the mean of differences.
    """
    monkeypatch.setattr(clustered, "PERMUTATIONS", 9)
    draw = np.random.default_rng(5)
    covered = 0
    for _ in range(300):
        rates = 0.8 * draw.beta(2, 3, CLUSTERS)
        difference = paired_difference(answers(draw, rates), answers(draw, rates + 0.1), NAMES)
        covered += difference.low <= 10 <= difference.high
    assert 0.91 <= covered / 300 <= 0.98


@pytest.mark.slow
def test_a_permuted_pairing_finds_nothing(monkeypatch):
    """Which run an answer came from, shuffled by cluster: below 0.05 about 5 percent of the time, rarely after Holm."""
    monkeypatch.setattr(clustered, "N_RESAMPLES", 1)
    monkeypatch.setattr(clustered, "PERMUTATIONS", 999)
    draw = np.random.default_rng(7)
    p_values = []
    for _ in range(200):
        rates = draw.beta(2, 3, CLUSTERS)
        runs = np.stack([answers(draw, rates), answers(draw, rates)])
        exchanged = np.repeat(draw.random(CLUSTERS) < 0.5, ROWS)
        runs[:, exchanged] = runs[::-1, exchanged]
        p_values.append(paired_difference(pd.Series(runs[0]), pd.Series(runs[1]), NAMES).p_value)
    assert 0.01 <= np.mean(np.array(p_values) < 0.05) <= 0.10
    families = np.array(p_values).reshape(20, 10)
    assert sum(min(holm(family)) < 0.05 for family in families) <= 4
    assert sum(min(benjamini_hochberg(family)) < 0.05 for family in families) <= 4


def test_a_real_difference_is_found():
    draw = np.random.default_rng(8)
    rates = 0.6 * draw.beta(2, 3, CLUSTERS)
    difference = paired_difference(answers(draw, rates), answers(draw, rates + 0.3), NAMES)
    assert difference.low > 0
    assert difference.p_value < 0.001
    assert not difference.tied


def test_paired_rows_only():
    """Hand-worked: pairs (0, 100), (100, 100), (0, 0) and two with a side unread: the mean difference is 100 / 3."""
    first = pd.Series([0.0, 100.0, 0.0, np.nan, 100.0])
    second = pd.Series([100.0, 100.0, 0.0, 100.0, np.nan])
    difference = paired_difference(first, second, pd.Series(list("abcde")))
    assert difference.estimate == pytest.approx(100 / 3)
    assert (difference.first, difference.second) == (pytest.approx(100 / 3), pytest.approx(200 / 3))
    assert (difference.n, difference.n_clusters) == (3, 3)


@pytest.mark.parametrize("rows", [0, 3])
def test_one_cluster_or_none_has_no_interval_and_is_tied(rows):
    values = pd.Series([100.0] * rows, dtype=float)
    difference = paired_difference(values, values - 100, pd.Series(["the only"] * rows))
    assert math.isnan(difference.low)
    assert math.isnan(difference.p_value)
    assert difference.tied
