"""How far what few clusters carry may reach: by hand, and how often intervals hold a rare change."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from evenhand.statistics import clustered
from evenhand.statistics.rare import rare_upper_end, widen_for_rare


def test_one_or_two_of_twelve_clusters_say_how_many_others_may():
    """Clopper and Pearson: 1 of 12 that says all is 38.5 % at most; 2 are 48.4 %."""
    for k, most in ((1, 0.385), (2, 0.484)):
        assert rare_upper_end(np.array([1.0] * k + [0.0] * (12 - k)), np.ones(12)) == pytest.approx(most, abs=0.001)


def of_one(rows, said, n):
    """By hand: one of n clusters says so in this part of its rows, which are alike by 0.8."""
    worth = rows / (1 + 0.8 * (rows - 1))
    most, high = stats.beta.ppf(0.975, 2, n - 1), stats.beta.ppf(0.975, worth * said + 1, worth * (1 - said))
    return said / n + math.hypot(said * (most - 1 / n), (high - said) / n)


def test_what_one_cluster_says_of_a_few_of_its_rows_goes_less_far():
    """One changed answer of 27 in one of 20 situations is no reason to look 33 points away, but 4 to 5."""
    found = [rare_upper_end(np.array([part] + [0.0] * 19), np.full(20, 27.0)) for part in (1 / 27, 0.5, 1.0)]
    assert found == sorted(found)
    assert found[:2] == pytest.approx([of_one(27, 1 / 27, 20), of_one(27, 0.5, 20)])
    assert 0.04 < found[0] < 0.05


def test_how_many_and_how_much_are_put_together():
    """Three of twelve clusters that all say all: as many as 57.2 %, Clopper and Pearson's end."""
    assert rare_upper_end(np.array([1.0] * 3 + [0.0] * 9), np.ones(12)) == pytest.approx(stats.beta.ppf(0.975, 4, 9))


@pytest.mark.parametrize("n", [6, 12, 20])
@pytest.mark.parametrize("part", [1 / 27, 0.1, 0.3])
def test_rounding_decides_nothing(n, part):
    """Three clusters of six are half of the rows, and three are just enough to show how unlike they are."""
    values, counts = np.array([part] * 3 + [0.0] * (n - 3)), np.full(n, 27.0)
    found = [rare_upper_end(each, counts) for each in (values, values * (1 + 1e-14), values * (1 - 1e-14))]
    assert found == pytest.approx([found[0]] * 3)


def test_uneven_clusters_are_worth_fewer():
    """Two of ten rows and ten of one: 30 rows squared over 210, so 4.3 even clusters."""
    values, counts = np.array([0.5, 0.4, 0.4, 0.3] + [0.0] * 8), np.array([1.0] * 4 + [10, 10] + [1] * 6)
    assert rare_upper_end(values, counts) > rare_upper_end(values, np.ones(12))


@pytest.mark.parametrize("values", [[0.2] * 12, np.repeat([0.2, 0.0], 30)], ids=["each says something", "thirty do"])
def test_what_many_clusters_carry_goes_no_further(values):
    assert rare_upper_end(np.array(values), np.ones(len(values))) == 0


def test_next_to_nothing_is_nothing():
    """A millionth in each of the eleven others moves no end; nor does rounding where none says anything."""
    one, others = np.array([1.0] + [0.0] * 11), np.array([0.0] + [1.0] * 11)
    assert rare_upper_end(one + 1e-6 * others, np.ones(12)) == pytest.approx(rare_upper_end(one, np.ones(12)), abs=1e-4)
    assert (
        rare_upper_end(1e-17 * others, np.ones(12))
        == rare_upper_end(0 * others, np.ones(12))
        == pytest.approx(1 - 0.025 ** (1 / 12))
    )


def test_what_one_cluster_has_may_be_much_rarer_and_much_more_frequent():
    """One of twelve: Clopper and Pearson's 0.2 to 38.5 %; eleven of twelve are as far from all."""
    low, high = stats.beta.ppf(0.025, 1, 12), stats.beta.ppf(0.975, 2, 11)
    values = np.array([1.0] + [0.0] * 11)
    assert widen_for_rare(0.05, 0.1, values, np.ones(12)) == pytest.approx((low, high))
    assert widen_for_rare(0.9, 0.95, 1 - values, np.ones(12)) == pytest.approx((1 - high, 1 - low))
    assert widen_for_rare(0.001, 0.5, values, np.ones(12)) == (0.001, 0.5)


@pytest.mark.parametrize("n", [12, 31])
def test_shares_just_below_what_one_cluster_shows_are_held(n):
    """Exact, of n clusters of one answer: truths to 50 % are held in 94 of 100 cases; by t alone in 88 to 91."""
    found = [
        clustered.clustered_mean(pd.Series([1.0] * k + [0.0] * (n - k)), pd.Series(range(n)), (0, 1))
        for k in range(n + 1)
    ]
    held = [
        sum(stats.binom.pmf(k, n, p) for k, each in enumerate(found) if each.low <= p <= each.high)
        for p in np.geomspace(0.0003, 0.5, 80)
    ]
    assert min(held) > 0.94


@pytest.mark.parametrize("n", [12, 30])
def test_rare_changes_of_uneven_clusters_are_held(n, monkeypatch):
    """Never before and in 3 % after, rows alike by 0.2, a sixth of the clusters ten times as large; t: 83 and 78 %."""
    monkeypatch.setattr(clustered, "PERMUTATIONS", 9)
    rng, held, sizes = np.random.default_rng(n), 0, np.where(np.arange(n) < n / 6, 50, 5)
    clusters = pd.Series(np.repeat(np.arange(n), sizes))
    before = pd.Series(np.zeros(len(clusters)))
    for _ in range(50):
        after = pd.Series(1.0 * (rng.random(len(clusters)) < np.repeat(rng.beta(0.12, 3.88, n), sizes)))
        found = clustered.paired_difference(before, after, clusters, within=(0.0, 1.0))
        held += found.low <= 0.03 <= found.high
    assert held >= 45


def test_what_never_fell_does_not_hide_a_rise(monkeypatch):
    """Nine of thirty clusters rise by a tenth or two, none falls: the interval leaves out 0."""
    monkeypatch.setattr(clustered, "PERMUTATIONS", 999)
    clusters = pd.Series(np.repeat(np.arange(30), 10))
    after = pd.Series([float(c < 9 and i % 10 <= c % 2) for i, c in enumerate(clusters)])
    found = clustered.paired_difference(after * 0, after, clusters, within=(0.0, 1.0))
    assert found.low > 0
    assert found.differs


@pytest.mark.parametrize("way", ["situations", "descriptors"])
def test_rare_changes_of_rows_that_cluster_twice_reach_as_far_as_of_either_way(way):
    """One of 30 situations, or of 30 descriptors, changes a tenth of its rows: the others may change, too."""
    one, other = (pd.Series(codes.ravel()) for codes in np.indices((30, 30)))
    after = pd.Series(1.0 * ((one == 0) & (other < 3)))
    ways = (one, other) if way == "situations" else (other, one)
    found = clustered.paired_difference(after * 0, after, ways[0], None, ways[1], within=(0.0, 1.0))
    assert found.high >= of_one(30, 0.1, 30)
    assert found.low <= 0
