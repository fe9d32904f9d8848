"""Statistics fed with random data whose truth is known."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.statistics.clustered import (
    benjamini_hochberg,
    clustered_mean,
    holm,
    paired_difference,
    smallest_difference,
)

CLUSTERS, ROWS = 40, 10


def answers(draw, rates):
    """Biased or not (100 or 0), CLUSTERS x ROWS, each cluster at its own rate."""
    return pd.Series(100.0 * (draw.random((CLUSTERS, ROWS)) < rates[:, None]).ravel())


NAMES = pd.Series(np.repeat([f"t{i}" for i in range(CLUSTERS)], ROWS))


def test_intervals_cover_the_true_difference_about_95_percent_of_the_time():
    """Rates from Beta(2, 3) and 10 points above them: clusters differ, the truth is 10."""
    draw = np.random.default_rng(5)
    covered = 0
    for _ in range(300):
        rates = 0.8 * draw.beta(2, 3, CLUSTERS)
        difference = paired_difference(answers(draw, rates), answers(draw, rates + 0.1), NAMES)
        covered += difference.low <= 10 <= difference.high
    assert 0.91 <= covered / 300 <= 0.98


def test_intervals_cover_the_true_mean_about_95_percent_of_the_time():
    draw = np.random.default_rng(6)
    covered = 0
    for _ in range(300):
        mean = clustered_mean(answers(draw, draw.beta(2, 3, CLUSTERS)), NAMES)
        covered += mean.low <= 40 <= mean.high
    assert 0.91 <= covered / 300 <= 0.98


@pytest.mark.slow
def test_a_permuted_pairing_finds_nothing():
    """Which run an answer came from, shuffled by cluster: below 0.05 about 5 percent of the time, rarely after Holm."""
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


def test_holm_by_hand():
    """0.01 x 3, 0.02 x 2, 0.04 x 1, never falling: 0.03, 0.04, 0.04."""
    assert holm([0.04, 0.01, math.nan, 0.02])[:2] == [pytest.approx(0.04), pytest.approx(0.03)]
    assert holm([0.04, 0.01, math.nan, 0.02])[3] == pytest.approx(0.04)
    assert math.isnan(holm([0.04, 0.01, math.nan, 0.02])[2])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


def test_benjamini_hochberg_by_hand():
    """0.01 x 3/1, 0.02 x 3/2, 0.04 x 3/3: 0.03, 0.03, 0.04."""
    adjusted = benjamini_hochberg([0.04, math.nan, 0.01, 0.02])
    assert [adjusted[0], *adjusted[2:]] == pytest.approx([0.04, 0.03, 0.03])
    assert math.isnan(adjusted[1])
    assert benjamini_hochberg([math.nan])[0] != benjamini_hochberg([math.nan])[0]


@given(st.lists(st.floats(0, 1), max_size=20))
def test_adjusting_only_raises_and_keeps_order(p_values):
    for adjust in (holm, benjamini_hochberg):
        adjusted = adjust(p_values)
        assert all(p <= q + 1e-12 <= 1 + 1e-9 for p, q in zip(p_values, adjusted))
        order = np.argsort(p_values, kind="stable")
        assert np.all(np.diff(np.array(adjusted)[order]) >= -1e-12)


def test_the_smallest_difference_is_found_with_80_percent_power():
    """By simulation: two shares that far apart, in independent answers, are told apart 4 times of 5."""
    n = 400
    gap = smallest_difference(n, n, 0.0) / 100
    assert 100 * gap == pytest.approx(9.9, abs=0.1)  # 2.80 x sqrt(2 x 0.25 / 400)
    draw = np.random.default_rng(9)
    low, high = (draw.binomial(n, 0.5 + sign * gap / 2, 4000) / n for sign in (-1, 1))
    error = np.sqrt((low * (1 - low) + high * (1 - high)) / n)
    assert np.mean((high - low) / error > 1.96) == pytest.approx(0.8, abs=0.03)
    assert smallest_difference(n, 40, 1.0) == pytest.approx(smallest_difference(40, 40, 0.0))
