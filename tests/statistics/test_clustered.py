"""Means and differences of random data whose truth is known."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

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
    monkeypatch.setattr(clustered, "PERMUTATIONS", 499)
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
def test_one_cluster_or_none_has_no_interval(rows):
    values = pd.Series([100.0] * rows, dtype=float)
    difference = paired_difference(values, values - 100, pd.Series(["the only"] * rows))
    assert math.isnan(difference.low)
    assert math.isnan(difference.p_value)
    assert not difference.known


def test_a_mean_over_five_clusters_has_students_interval():
    """Values 1 to 5: mean 3, sd sqrt(2.5), t of 4 degrees of freedom 2.776."""
    found = clustered.clustered_error(pd.Series([1.0, 2, 3, 4, 5]), pd.Series(list("abcde")))
    assert (found.mean, found.freedom) == (3.0, pytest.approx(4))
    assert found.interval == pytest.approx((3 - 2.776 * math.sqrt(0.5), 3 + 2.776 * math.sqrt(0.5)), abs=0.001)


def test_differences_between_strata_have_no_width():
    """Three clusters of 0 and three of 100 are 50 whoever is drawn of them; as of one stratum that varies."""
    values, clusters = pd.Series([0.0] * 3 + [100.0] * 3), pd.Series(list("abcdef"))
    strata = pd.Series(list("xxxyyy"))
    assert clustered.clustered_error(values, clusters, strata).interval == (50.0, 50.0)
    assert clustered.clustered_error(values, clusters).error == pytest.approx(100 * math.sqrt(0.3 / 6))
    two_of_one = pd.Series(list("xxyyyy"))
    whole = clustered.clustered_error(values, clusters)
    assert clustered.clustered_error(values, clusters, two_of_one) == whole  # two clusters are too few for a stratum


@pytest.mark.parametrize(("n", "smallest"), [(1, 1.0), (2, 0.5), (5, 0.0625), (6, 0.03125)])
def test_so_few_clusters_give_no_smaller_p(n, smallest):
    names = pd.Series([f"c{i}" for i in range(n)])
    difference = paired_difference(pd.Series([0.0] * n), pd.Series(np.arange(1.0, n + 1)), names)
    assert difference.smallest_p == smallest
    assert n < 2 or difference.p_value == pytest.approx(smallest)


def series(*values):
    return pd.Series(values, dtype=float)


def test_a_few_clusters_that_all_say_the_same_show_no_interval():
    """Three names, each 0 before and 100 after: p is 1/4 at least, and nothing shows how a fourth would differ."""
    found = paired_difference(series(0, 0, 0), series(100, 100, 100), pd.Series(list("abc")))
    assert found.estimate == 100
    assert not found.known
    assert not found.tied
    many = paired_difference(series(*[0] * 12), series(*[100] * 12), pd.Series(range(12)))
    assert (many.low, many.high) == (100, 100)


@pytest.mark.parametrize("n", [3, 5, 6, 12, 60])
def test_differences_that_can_only_be_so_large_keep_to_that_and_are_no_points(n):
    """Of n clusters that all say the same a share 1 - 0.025^(1/n) may say anything, from -100 to 100."""
    unseen, names = 1 - 0.025 ** (1 / n), pd.Series(range(n))
    for second in (0, 100):
        found = paired_difference(series(*[0] * n), series(*[second] * n), names, within=(0, 100))
        assert found.low == pytest.approx(second - unseen * (100 + second))
        assert found.high == pytest.approx(second + unseen * (100 - second))
    nearly = paired_difference(series(*[0] * n), series(80, *[100] * (n - 1)), names, within=(0, 100))
    assert -100 < nearly.low < nearly.estimate < nearly.high < 100


def test_no_difference_of_a_few_clusters_is_no_certainty():
    """Nor where it isn't known how large a difference can be: then there is no interval."""
    assert not paired_difference(series(1, 2, 3), series(1, 2, 3), pd.Series(list("abc"))).known
    assert paired_difference(series(*range(6)), series(*range(6)), pd.Series(range(6))).tied


def test_without_an_interval_nothing_is_tied():
    found = paired_difference(series(0, 100), series(100, 100), pd.Series(list("ab")))
    assert not found.known
    assert not found.tied


def test_few_clusters_have_students_interval_in_log_odds():
    """Shares 0.2, 0.5 and 0.8: mean 1/2, error 0.3 / sqrt(3), in log-odds four times that; t of 2 degrees is 4.303."""
    shares = series(0.2, 0.5, 0.8)
    found = clustered.clustered_mean(shares, pd.Series(list("abc")), (0, 1))
    end = 1 / (1 + math.exp(4.3027 * 4 * 0.3 / math.sqrt(3)))
    assert (found.low, found.high) == pytest.approx((end, 1 - end), abs=1e-4)
    scaled = clustered.clustered_mean(100 * shares - 50, pd.Series(list("abc")), (-50, 50))
    assert (scaled.low, scaled.high) == pytest.approx((100 * end - 50, 50 - 100 * end), abs=1e-2)
    free = clustered.clustered_mean(shares, pd.Series(list("abc")))
    half = 4.3027 * 0.3 / math.sqrt(3)
    assert (free.low, free.high) == pytest.approx((0.5 - half, 0.5 + half), abs=1e-4)


@pytest.mark.parametrize("n", [6, 40])
@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_clusters_that_all_say_the_same_are_not_certain(n, share):
    """1 - 0.025^(1/n) of all clusters may say anything and go unseen: 46 % beside six of them, 9 % beside 40."""
    values, names = pd.Series([share] * n), pd.Series(range(n))
    found, unseen = clustered.clustered_mean(values, names, (0, 1)), 1 - 0.025 ** (1 / n)
    assert (found.low, found.high) == pytest.approx((share - unseen * share, share + unseen * (1 - share)))
    free = clustered.clustered_mean(values, names)  # it isn't known how far others could be
    assert free.estimate == share
    assert math.isnan(free.low)
    assert math.isnan(free.high)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_below_three_clusters_a_mean_has_no_interval(n):
    found = clustered.clustered_mean(pd.Series([1.0] * n), pd.Series(range(n)), (0, 1))
    assert math.isnan(found.low)
    assert found.n_clusters == n


def test_six_clusters_hold_the_mean_about_95_percent_of_the_time():
    """Shares of six clusters from Beta(2, 2), of 20 answers each; a percentile bootstrap holds 86 percent."""
    draw, held = np.random.default_rng(3), 0
    names = pd.Series(np.repeat(np.arange(6), 20))
    for _ in range(400):
        rates = draw.beta(2, 2, 6)
        found = clustered.clustered_mean(pd.Series(1.0 * (draw.random(120) < np.repeat(rates, 20))), names, (0, 1))
        held += found.low <= 0.5 <= found.high
    assert 0.93 <= held / 400 <= 0.985


@pytest.mark.parametrize("n", [20, 31, 60])
def test_rare_and_frequent_shares_are_held_in_at_least_93_of_100_cases(n):
    """Exact, of n clusters of one answer each, truths of 1 to 30 %; percentiles of a bootstrap hold 86 % of some."""
    ones = range(n + 1)
    found = [
        clustered.clustered_mean(pd.Series([1.0] * k + [0.0] * (n - k)), pd.Series(range(n)), (0, 1)) for k in ones
    ]
    truths = np.linspace(0.01, 0.3, 59)
    held = [sum(stats.binom.pmf(k, n, p) for k in ones if found[k].low <= p <= found[k].high) for p in truths]
    assert min(held) > 0.93
    assert 0.94 < np.mean(held) < 0.985


def test_a_cluster_with_many_rows_by_hand():
    """Two clusters of one row and one of two: the mean 1/2 leaves 3/4, 3/4 and 1/2 of their departures -1/2, 1/2 and 0.

    Squares: 2 x (1/4) / (3/4) over 4 rows squared. Freedom: 16 / (1 + 1 + 4 + (1/3 + 1/3 + 2)^2 - 1/9 - 1/9 - 4) = 1.8.
    """
    found = clustered.clustered_error(series(0, 1, 0, 1), pd.Series(list("abcc")))
    assert found.error == pytest.approx(math.sqrt(2 / 3 / 16))
    assert found.freedom == pytest.approx(1.8)


def test_one_cluster_ten_times_as_large_is_allowed_for():
    """Shares of six clusters from Beta(2, 2), of 100 answers in one and 10 in the others; n / (n - 1) holds 79 %."""
    draw, held, sizes = np.random.default_rng(4), 0, [100, 10, 10, 10, 10, 10]
    names = pd.Series(np.repeat(np.arange(6), sizes))
    for _ in range(300):
        rates = np.repeat(draw.beta(2, 2, 6), sizes)
        found = clustered.clustered_mean(pd.Series(1.0 * (draw.random(150) < rates)), names, (0, 1))
        held += found.low <= 0.5 <= found.high
    assert 0.93 <= held / 300 <= 0.995


def test_rounding_is_no_spread():
    """0.1, 0.2, 0.3 and 0.3, 0.4, 0.5 differ by 0.2 each, but for their last bits."""
    found = paired_difference(series(0.1, 0.2, 0.3), series(0.3, 0.4, 0.5), pd.Series(list("abc")))
    assert found.estimate == pytest.approx(0.2)
    assert not found.known


@pytest.mark.parametrize(("n", "known"), [(3, False), (5, False), (6, True)])
def test_below_six_situations_that_all_say_the_same_show_no_interval(n, known):
    """Crossed with six descriptors, 0 before and 100 after: p is 1/2 for each situation that is free, at least."""
    situations, descriptors = (pd.Series(each.ravel()) for each in np.indices((n, 6)))
    runs = (pd.Series([value] * 6 * n) for value in (0.0, 100.0))
    found = paired_difference(*runs, situations, None, descriptors)
    assert found.estimate == 100
    assert found.p_value == pytest.approx(0.5 ** (n - 1))
    assert found.known == known


def test_missing_clusters_are_one_and_missing_strata_are_one():
    """As if they had a name, in estimates and in what is counted."""
    values, names = series(0, 1, 0, 1, 1, 0, 1, 0), pd.Series(["a", "b", "c", "d", "e", "f", None, None], dtype=object)
    strata = pd.Series(["x"] * 3 + [None] * 5, dtype=object)
    others = (names.fillna("g"), strata.fillna("y"))
    assert clustered.clustered_mean(values, names, (0, 1)) == clustered.clustered_mean(values, others[0], (0, 1))
    for crossed in (None, pd.Series([*"uvwuvwu", None], dtype=object)):
        known = None if crossed is None else crossed.fillna("z")
        one = paired_difference(values * 0, values, names, strata, crossed, (0, 1))
        assert one == paired_difference(values * 0, values, *others, known, (0, 1))
        assert (one.n, one.n_clusters, one.estimate) == (8, 7, 0.5)
