"""The engine by hand, against scipy, and by law."""

import math
import warnings

import numpy as np
import pytest
from scipy import stats

from evenhand.statistics import resampling
from evenhand.statistics.resampling import (
    expanded_levels,
    mean_of_defined,
    noise_scales,
    p_value,
    permuted,
    ratio,
    refuse_n_resamples,
    resampled,
)

# Drawing clusters


VALUES = np.random.default_rng(0).normal(size=40)


def mean(drawn):
    return VALUES[drawn].mean(axis=1)


def test_it_is_the_bootstrap():
    """The very draws and interval of scipy's, over the values themselves."""
    draws, interval = resampled(mean, [np.arange(40)], 500, values=40)
    found = stats.bootstrap(
        (VALUES,), np.mean, n_resamples=500, method="percentile", rng=np.random.default_rng(resampling.SEED)
    )
    np.testing.assert_array_equal(draws, found.bootstrap_distribution)
    np.testing.assert_array_equal(interval, found.confidence_interval)


def test_strata_keep_their_number_of_clusters():
    def counts(*drawn):
        return np.stack([(each[..., None] == np.arange(7)).mean(axis=1) * each.shape[1] for each in drawn], axis=1)

    draws, intervals = resampled(counts, [np.arange(3), np.arange(3, 7)], 20, values=21)
    assert draws.shape == (20, 2, 7)
    assert intervals.shape == (2, 7, 2)
    assert (draws[:, 0, :3].sum(axis=1) == 3).all()
    assert (draws[:, 1, 3:].sum(axis=1) == 4).all()
    assert draws.sum() == 20 * 7


@pytest.mark.parametrize("n", [0, 1, 2])
def test_fewer_than_three_clusters_show_nothing(n):
    def sums(drawn):
        return np.ones((len(drawn), 3))

    draws, intervals = resampled(sums, [np.arange(n)], 100, values=1)
    assert draws.shape == (1, 3)
    assert np.isnan(draws).all()
    assert intervals.shape == (3, 2)
    assert np.isnan(intervals).all()


def test_a_figure_that_a_draw_leaves_undefined_has_no_interval_and_warns_nobody():
    """Of three clusters the first is missing from 8 of 27 draws."""

    def shares(drawn):
        first = (drawn == 0).sum(axis=1) * 1.0
        return np.stack([first / 3, ratio(first, first)], axis=-1)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, intervals = resampled(shares, [np.arange(3)], 100, values=3)
        resampled(shares, [np.arange(3)], 1, values=3)
    assert intervals[0].tolist() == [0, pytest.approx(0.84, abs=0.17)]
    assert np.isnan(intervals[1]).all()


def test_memory_bounds_change_no_draw(monkeypatch):
    """100 values hold two draws of 40; of a single stratum or block."""
    sizes = []

    def first_ten(drawn):
        sizes.append(len(drawn))
        return mean(drawn[:, :10])

    def figures():
        draws, _ = resampled(first_ten, [np.arange(40)], 50, values=40)
        return draws, permuted(first_ten, np.zeros(40), 50, values=40)

    at_once = figures()
    monkeypatch.setattr(resampling, "VALUES_AT_ONCE", 100)
    np.testing.assert_array_equal(figures(), at_once)
    assert sizes == [50, 50, *[2] * 50]


# Intervals


def test_expanded_levels():
    """Student's t of 4 degrees of freedom is 2.776, where the normal distribution has 1 - 0.00275."""
    assert expanded_levels(4) == pytest.approx([0.00275, 0.99725], abs=1e-5)
    assert expanded_levels(10**9) == pytest.approx(resampling.LEVELS)
    assert expanded_levels(0) == pytest.approx(expanded_levels(1))


def test_noise_scales_of_squares():
    """Noise of 1 beside scale² · 4: what is observed, 5, lies at either level of draws that are all the same."""
    assert noise_scales(lambda scale: np.full(9, 4 * scale**2 + 1), 5.0) == pytest.approx((1, 1))


def test_noise_scales_begin_at_0_where_noise_explains_all_and_end_where_nothing_grows():
    """Noise of 0 to 100: 50 can be noise alone, and no less than 0.475 of 100 on top makes it the lower quantile."""
    noise = np.arange(101.0)
    low, high = noise_scales(lambda scale: noise + 100 * scale, 50.0)
    assert (low, high) == (0, pytest.approx(0.475))
    assert noise_scales(lambda _: noise, 200.0, largest=4) == (4, 4)


# Permuting and exchanging clusters


def test_clusters_change_places_within_blocks_alone():
    blocks = np.array([0, 1, 0, 1, 0])
    orders = permuted(lambda clusters: clusters.copy(), blocks, 200, values=5)
    assert (blocks[orders] == blocks).all()
    assert (np.sort(orders, axis=1) == np.arange(5)).all()
    assert len({tuple(order) for order in orders.tolist()}) == math.factorial(3) * math.factorial(2)


def test_the_observed_figure_counts_among_the_permuted():
    """2 and 3 of four are at least 2, and so is what is undefined."""
    figures = np.array([0.0, 1.0, 2.0, 3.0])
    assert p_value(2.0, figures) == 3 / 5
    assert p_value(4.0, figures) == 1 / 5
    assert p_value(0.1 + 0.2, np.array([0.3] * 4)) == 1  # equal up to rounding
    assert p_value(4.0, np.array([1.0, math.nan])) == 2 / 3
    two = p_value(np.array([2.0, math.nan]), np.stack([figures, figures], axis=1))
    assert two.tolist() == pytest.approx([3 / 5, math.nan], nan_ok=True)


# What figures are made of


def test_ratio_and_mean_of_defined():
    assert ratio([1, 0, 3], [2, 0, 4]).tolist() == pytest.approx([0.5, math.nan, 0.75], nan_ok=True)
    assert ratio([[1.0], [2.0]], 4).tolist() == [[0.25], [0.5]]
    means = mean_of_defined(np.array([[1.0, math.nan, 3.0], [math.nan] * 3]))
    assert means.tolist() == pytest.approx([2, math.nan], nan_ok=True)


@pytest.mark.parametrize("n_resamples", [0, -1, 2.0, "10", None, True])
def test_a_number_of_draws_that_is_none_is_named(n_resamples):
    with pytest.raises(ValueError, match=f"n_resamples is {n_resamples!r}; give a whole number of draws, 1 or more"):
        refuse_n_resamples(n_resamples)


def test_numbers_of_draws():
    for n_resamples in (1, 10_000, np.int64(3)):
        refuse_n_resamples(n_resamples)
