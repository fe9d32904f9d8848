"""Spearman's correlation of few pairs: a golden case, exact orders, and coverage."""

import math
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from evenhand.statistics.rank_correlation import rank_correlation

Y = [21, 4, 9, 12, 35, 18, 10, 22, 24, 1, 6, 8, 13, 16, 19]
X = [67, 28, 30, 28, 52, 40, 25, 37, 44, 10, 14, 20, 28, 40, 51]


def test_the_example_of_bonett_s_own_package():
    """R's statpsych, ci.spear: 0.8699639 [0.5840951, 0.9638297]."""
    found = rank_correlation(Y, X)
    assert (found.estimate, found.low, found.high) == pytest.approx((0.8699639, 0.5840951, 0.9638297), abs=1e-6)
    assert found.p_value < 0.001
    assert found.n == 15


@pytest.mark.parametrize("second", [[1, 2, 3, 4, 5], [2, 1, 4, 3, 5], [1, 1, 2, 2, 3], [5, 3, 1, 4, 2]])
def test_p_counts_all_orders(second):
    first = [1, 2, 3, 4, 5]
    found = rank_correlation(first, second)
    every = [abs(stats.spearmanr(first, order).statistic) for order in permutations(second)]
    assert found.p_value == pytest.approx(np.mean([each > abs(found.estimate) - 1e-9 for each in every]))


def test_four_in_order_are_one_in_twelve_and_have_no_interval():
    found = rank_correlation([1, 2, 3, 4], [10, 20, 30, 40])
    assert (found.estimate, found.p_value) == pytest.approx((1, 2 / 24))
    assert math.isnan(found.low)
    assert math.isnan(found.high)


@pytest.mark.parametrize(("first", "second"), [([1, 2, 3], [1, 2, 3]), ([], []), ([5, 5, 5, 5], [1, 2, 3, 4])])
def test_nothing_is_said_of_three_or_of_what_does_not_vary(first, second):
    found = rank_correlation(first, second)
    assert found.n == len(first)
    assert all(map(math.isnan, (found.estimate, found.low, found.high, found.p_value)))


@pytest.mark.parametrize(("n", "rho"), [(8, 0.6), (20, 0.0), (20, 0.9)])
def test_the_interval_covers(n, rho):
    """Of normal pairs, whose true Spearman correlation is 6/pi asin(rho/2); the formula once more, over all draws."""
    truth = 6 / math.pi * math.asin(rho / 2)
    draws = np.random.default_rng(0).multivariate_normal([0, 0], [[1, rho], [rho, 1]], (4000, n))
    ranks = [stats.zscore(stats.rankdata(side, axis=1), axis=1) for side in np.moveaxis(draws, -1, 0)]
    r = (ranks[0] * ranks[1]).mean(axis=1)
    r = r[abs(r) < 1 - 1e-9]
    half = stats.norm.ppf(0.975) * np.sqrt((1 + r**2 / 2) / (n - 3))
    low, high = np.tanh(np.arctanh(r) - half), np.tanh(np.arctanh(r) + half)
    one = rank_correlation(*draws[0].T.tolist())
    assert (one.low, one.high) == pytest.approx((low[0], high[0]))
    assert 0.94 <= np.mean((low <= truth) & (truth <= high)) <= 0.975
