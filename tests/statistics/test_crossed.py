"""Intervals where rows cluster by situation and by descriptor: by hand, by law, and on designs of the real size."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from evenhand.statistics.clustered import paired_difference
from evenhand.statistics.crossed import Errors, balanced, errors, influences

SITUATIONS, DESCRIPTORS = 60, 46  # of a scale's half, and of an axis
ACTION = np.repeat([0, 1], SITUATIONS // 2)
CELLS = np.array(list(itertools.product(range(SITUATIONS), range(DESCRIPTORS))))


def ones(parts):
    return np.ones_like(parts)


def test_a_mean_of_independent_clusters_has_students_interval():
    """Every cell has a descriptor of its own: 12 situations of one value, the mean's error is their sd / sqrt(12)."""
    values = np.random.default_rng(0).random(12)[:, None]
    own = np.arange(12)
    found = errors(influences(values, ones(values)), ones(values), own, own)
    low, high = stats.t.interval(0.95, 11, values.mean(), stats.sem(values)[0])
    np.testing.assert_allclose(found.interval(values.mean(axis=0)), [[low, high]])


def test_both_ways_add_up_by_hand():
    """A grid of 3 x 3: situations 0, 3, 6 and descriptors 0, 3, 6, added.

    Either moves the mean by -1, 0, 1: variances 3/2 x 2. Each cell moves it by a ninth of -6, -3, -3, 0, 0, 0, 3, 3, 6:
    9/8 x 108/81.
    """
    grid = np.array([[3 * s + 3 * d] for s in range(3) for d in range(3)], dtype=float)
    places = np.arange(9)
    found = errors(influences(grid, ones(grid)), ones(grid), places // 3, places % 3)
    assert found.errors[0] ** 2 == pytest.approx(3 / 2 * 2 + 3 / 2 * 2 - 9 / 8 * 108 / 81)
    assert found.freedom[0] == pytest.approx(2)


def test_a_difference_that_the_design_balances_is_as_sure_as_each_stratum():
    """All of one stratum are 1 and all of the other 0: no error. In either, thirty alike, a share of
    1 - 0.025^(1/30) = 11.6 % may be otherwise unseen, which moves the half by half of that."""
    values = ACTION[CELLS[:, 0]][:, None].astype(float)
    strata = ACTION[CELLS[:, 0]]
    within = influences(values, ones(values), strata)
    found = errors(influences(values, ones(values)), ones(values), *CELLS.T, strata, within)
    assert found.errors[0] == pytest.approx(0, abs=1e-12)
    unseen = 1 - 0.025 ** (1 / 30)
    np.testing.assert_allclose(found.interval_of_shares(values.mean(axis=0)), [[0.5 - unseen / 2, 0.5 + unseen / 2]])
    assert errors(influences(values, ones(values)), ones(values), *CELLS.T).errors[0] > 0.05


def test_answers_that_are_missing_have_a_width():
    """Always affirmed; three of ten situations say nothing, by chance, so that the rest might balance otherwise."""
    values, wholes = ACTION[CELLS[:, 0]][:, None].astype(float), (CELLS[:, :1] % 10 > 2).astype(float)
    strata = ACTION[CELLS[:, 0]]
    within = influences(values * wholes, wholes, strata)
    found = errors(influences(values * wholes, wholes), wholes, *CELLS.T, strata, within)
    assert 0.02 < found.errors[0] < 0.1


@pytest.mark.parametrize("rows", [[100, 100, 0], [100, 0, 0, 0, 0], [100, 0]], ids=str)
def test_rows_that_make_up_for_each_other_in_all_situations_are_no_certainty(rows):
    """Every situation says the same, each row has a descriptor of its own; what is left of the sum is rounding.

    No narrower than what situations alone leave open, 1 - 0.025^(1/n) to either end, nor than rows by themselves do.
    """
    k = len(rows)
    for n in range(5, 32):
        situations, own = pd.Series(np.repeat(np.arange(n), k)), pd.Series(np.arange(n * k))
        change = pd.Series(np.tile(rows, n), dtype=float)
        found = paired_difference(change * 0, change, situations, None, own, within=(0.0, 100.0))
        mean, unseen = np.mean(rows), 1 - 0.025 ** (1 / n)
        half = stats.t.ppf(0.975, n * k - 1) * stats.sem(change)
        assert found.low <= min(mean - unseen * (mean + 100), mean - 0.9 * half) + 1e-9
        assert found.high >= min(mean + unseen * (100 - mean), 100) - 1e-9
        assert found.high - found.low < 220 * unseen + 4 * half


def test_neither_way_is_narrower_by_itself():
    """A grid of 3 x 3 whose cells alone differ: rows and columns of 1, 1, 1 show no variance, cells do."""
    values = np.array([[0.0, 0, 1], [0, 1, 0], [1, 0, 0]]).reshape(-1, 1)
    places = np.arange(9)
    found = errors(influences(values, ones(values)), ones(values), places // 3, places % 3)
    assert found.uniform == pytest.approx(3)
    np.testing.assert_allclose(
        found.interval_between(np.array([1 / 3]), 0, 1), [[0.025 ** (1 / 3) / 3, 1 - 2 / 3 * 0.025 ** (1 / 3)]]
    )


def test_strata_that_a_draw_left_uneven_are_no_design():
    strata = np.array([0, 0, 1, 1])
    assert balanced(strata, np.array([5.0, 5.0, 5.0, 5.0])).tolist() == [0, 0, 1, 1]
    assert balanced(strata, np.array([5.0, 5.0, 5.0, 2.0])).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("n", [1, 2])
def test_fewer_than_three_clusters_of_either_way_have_no_interval(n):
    values = np.arange(12.0)[:, None]
    few, many = np.arange(12) % n, np.arange(12) // n
    for ways in ((few, many), (many, few)):
        found = errors(influences(values, ones(values)), ones(values), *ways)
        assert np.isnan(found.interval(values.mean(axis=0))).all()


@pytest.mark.parametrize("otherwise", [0.05, 0.2, 0.4, 0.7])
def test_three_of_each_stratum_that_are_alike_hold_the_truth(otherwise):
    """All of one stratum say 1; of the other a share says 1 too, the rest 0. Held, of all that may be drawn of three.

    A point at 50 % where none says otherwise would miss all of these truths.
    """
    truth, held = (1 + otherwise) / 2, 0.0
    strata = np.array([0, 0, 0, 1, 1, 1])
    for said in itertools.product([0, 1], repeat=3):
        values = np.array([1, 1, 1, *said], dtype=float)[:, None]
        within = influences(values, ones(values), strata)
        found = errors(influences(values, ones(values)), ones(values), np.arange(6), np.arange(6), strata, within)
        [(low, high)] = found.interval_of_shares(values.mean(axis=0))
        held += (low <= truth <= high) * otherwise ** sum(said) * (1 - otherwise) ** (3 - sum(said))
    assert held >= 0.95


def test_shares_stay_shares():
    found = Errors(np.array([0.05, 0.05, 0.0, math.nan]), np.array([5.0] * 4), np.array([6.0] * 4))
    ends = found.interval_of_shares(np.array([0.1, 0.9, 1.0, 0.5]))
    assert (ends[:2] > 0).all()
    assert (ends[:2] < 1).all()
    np.testing.assert_allclose(ends[0], 1 - ends[1][::-1])
    np.testing.assert_allclose(ends[2], [0.025 ** (1 / 6), 1])  # six clusters: no more than one case in forty is lost
    assert np.isnan(ends[3]).all()


def test_all_clusters_alike_are_as_sure_as_their_number_allows():
    found = Errors(np.array([0.0, 0.0, 0.0, math.nan]), np.array([2.0, 58.0, 5.0, 5.0]), np.full(4, 3.0))
    p_values = found.p_values(np.array([1.0, 1.0, 0.0, 1.0]))
    np.testing.assert_allclose(p_values, [0.25, 0.5**58, 1, math.nan])


def drawn(rng, spread_of_situations, spread_of_descriptors):
    """Log-odds of biased answers: positive actions are declined less often than negative ones are affirmed."""
    situations = rng.normal(0, spread_of_situations, SITUATIONS) + np.where(ACTION, 0.7, -0.7)
    return situations[:, None] + rng.normal(0, spread_of_descriptors, DESCRIPTORS)


@pytest.mark.parametrize("spreads", [(1.0, 0.01), (0.01, 1.0), (0.8, 0.8)], ids=str)
def test_of_an_axis_the_interval_covers_and_the_test_keeps_its_level(spreads):
    """Two runs without a difference of 60 x 46 cells, 9 answers each, drawn anew 300 times: sd 1.3 points.

    Covered: a difference of 0. Drawing situations alone covers half of it where descriptors differ.
    """
    rng = np.random.default_rng(1)
    strata = pd.Series(ACTION[CELLS[:, 0]])
    ways = [pd.Series(codes) for codes in CELLS.T]
    covered, rejected = 0, 0
    for _ in range(300):
        runs = [pd.Series(100 * rng.binomial(9, 1 / (1 + np.exp(-drawn(rng, *spreads)))).ravel() / 9) for _ in range(2)]
        difference = paired_difference(*runs, ways[0], strata, ways[1])
        covered += difference.low <= 0 <= difference.high
        rejected += difference.p_value < 0.05
    assert 0.92 <= covered / 300 <= 0.98
    assert 0.02 <= rejected / 300 <= 0.08
    assert rejected == 300 - covered
