"""Shares corrected for a classifier's errors: by hand, by law, and how often intervals hold the true share."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.statistics.misclassification import FEWEST_LABELS, Judged, Seen, label_worth

RIGHT = Judged(n_positive=100, right_positive=90, n_negative=100, right_negative=80)


def seen_share(mean, error, freedom):
    return Seen(mean, error, error, freedom)


def test_by_hand():
    """Of 50 % agentic sentences it sees 0.5 x 0.9 + 0.5 x 0.2 = 55 %; of none 20 %, of all 90 %."""
    assert (RIGHT.sensitivity, RIGHT.specificity) == (0.9, 0.8)
    assert RIGHT.corrected(0.55) == pytest.approx(0.5)
    assert RIGHT.corrected(0.2) == pytest.approx(0.0)
    assert RIGHT.corrected(0.9) == pytest.approx(1.0)
    assert (RIGHT.corrected(0.1), RIGHT.corrected(0.95)) == (0.0, 1.0)  # clipped: labels and texts are samples


def test_far_from_the_borders_it_is_the_papers_interval():
    """Lee et al.: p 0.55 of very many clusters, rates (900 + 1) / 1,002 and (800 + 1) / 1,002 of 1,002 labels each."""
    q1, q0, z = 901 / 1002, 801 / 1002, 1.959964
    middle = (0.55 + q0 - 1) / (q1 + q0 - 1)
    of_negative, of_positive = ((1 - middle) ** 2 * q0 * (1 - q0) / 1002, middle**2 * q1 * (1 - q1) / 1002)
    error = math.sqrt(0.01**2 + of_negative + of_positive) / (q1 + q0 - 1)
    shift = 2 * z**2 * (middle * q1 * (1 - q1) / 1002 - (1 - middle) * q0 * (1 - q0) / 1002)
    low, high = Judged(1000, 900, 1000, 800).interval(seen_share(0.55, 0.01, 1e9))
    assert low == pytest.approx(middle + shift - z * error, abs=0.001)
    assert high == pytest.approx(middle + shift + z * error, abs=0.001)


def test_the_interval_ends_where_students_t_says_the_share_no_longer_fits():
    """Of rates that are as good as known: p = 0.2 + 0.7 x, so that x lies within t x 0.02 / 0.7 of 0.35 / 0.7."""
    known = Judged(10**9, 9 * 10**8, 10**9, 8 * 10**8)
    low, high = known.interval(seen_share(0.55, 0.02, 4))
    assert (low, high) == pytest.approx((0.5 - 2.776 * 0.02 / 0.7, 0.5 + 2.776 * 0.02 / 0.7), abs=1e-3)


def test_labels_that_hardly_fit_give_an_interval_and_those_that_contradict_none():
    """Of none the classifier would see 20 %, of all 90 %; 95 % seen lie one standard error above, 100 % far above."""
    hardly, never = seen_share(0.95, 0.04, 39), seen_share(0.999, 0.001, 39)
    low, high = RIGHT.interval(hardly)
    assert high == 1.0
    assert high - low > 0.05
    assert (RIGHT.contradicts(hardly), RIGHT.contradicts(never)) == (False, True)
    assert all(map(math.isnan, RIGHT.interval(never)))
    assert RIGHT.contradicts(seen_share(0.05, 0.01, 39))


@pytest.mark.parametrize("share", [0.0, 1.0])
@pytest.mark.parametrize("error", [0.0, 0.01])
def test_a_classifier_that_is_always_right_contradicts_nothing(share, error):
    perfect, seen = Judged(40, 40, 60, 60), seen_share(share, error, 39)
    assert not perfect.contradicts(seen)
    low, high = perfect.interval(seen)
    assert low <= share <= high
    assert high - low == pytest.approx(2.02 * error, rel=0.2, abs=1e-5)  # half of it lies beyond the border


def test_where_all_labels_are_right_a_share_far_away_is_none_of_theirs():
    """It may err a little all the same: 40 labels say 93 % or more, so that 60 % seen are 60 to 66 % of the class."""
    low, high = Judged(40, 40, 60, 60).interval(seen_share(0.6, 1e-6, 1e9))
    assert 0.55 < low < 0.6 < high < 0.66


def test_without_errors_of_the_classifier_the_share_stays():
    perfect = Judged(10**9, 10**9, 10**9, 10**9)
    assert perfect.corrected(0.3) == pytest.approx(0.3)
    assert perfect.interval(seen_share(0.3, 0.02, 1e9)) == pytest.approx(
        (0.3 - 1.96 * 0.02, 0.3 + 1.96 * 0.02), abs=1e-4
    )


@pytest.mark.parametrize(
    ("judged", "why"),
    [
        (Judged(FEWEST_LABELS - 1, 9, 100, 90), "9 labels of the class, 10 are needed"),
        (Judged(100, 90, 0, 0), "0 labels of others"),
        (Judged(50, 25, 50, 25), "no better than chance"),
        (Judged(50, 10, 50, 10), "no better than chance"),
        (Judged(20, 12, 20, 12), "no better than chance"),
    ],
)
def test_too_few_labels_or_a_blind_classifier_correct_nothing(judged, why):
    assert why in judged.why_not
    assert math.isnan(judged.corrected(0.5))
    assert all(map(math.isnan, judged.interval(seen_share(0.5, 0.1, 4))))


@pytest.mark.parametrize("seen", [(0.5, math.nan, 1), (math.nan, 0.1, 4), (0.5, 0.1, math.nan)], ids=str)
def test_what_is_not_known_has_no_interval(seen):
    assert all(map(math.isnan, RIGHT.interval(seen_share(*seen))))
    assert not RIGHT.contradicts(seen_share(*seen))


def test_labels_that_are_right_or_wrong_by_name_are_worth_fewer():
    """Ten names of ten entries, all right or all wrong: worth 10 - 1, over the square of t's 2.262 / 1.960."""
    names = pd.Series(np.repeat(range(10), 10))
    by_name, even = (pd.Series(codes < 6, dtype=float) for codes in (names, names.index % 10))
    assert label_worth(by_name, names) == pytest.approx(9 / 100 * (1.95996 / 2.26216) ** 2, rel=1e-4)
    assert label_worth(even, names) == 1  # each name has six of ten
    assert label_worth(by_name, pd.Series(range(100))) == pytest.approx(0.97, abs=0.03)
    assert label_worth(by_name[50:70], names[50:70]) == 0.1  # two names: two entries
    assert label_worth(by_name[:0], names[:0]) == 1


def test_labels_worth_half_have_the_interval_of_half_as_many():
    half, all_by_half = Judged(50, 45, 50, 40), Judged(100, 90, 100, 80, 0.5, 0.5)
    assert all_by_half.interval(seen_share(0.5, 0.02, 39)) == half.interval(seen_share(0.5, 0.02, 39))
    assert all_by_half.corrected(0.5) == RIGHT.corrected(0.5)
    assert "100 labels of the class, worth 8.0 drawn singly" in Judged(100, 90, 100, 80, 0.08, 1).why_not


@settings(max_examples=40, deadline=None)
@given(st.floats(0, 1), st.floats(0, 0.5), st.floats(1, 100), st.integers(60, 100), st.integers(60, 100))
def test_ends_are_shares_in_order(share, error, freedom, positive, negative):
    judged, seen = Judged(100, positive, 100, negative), seen_share(share, error, freedom)
    low, high = judged.interval(seen)
    assert judged.contradicts(seen) if math.isnan(low) else 0 <= low <= judged.corrected(share) <= high <= 1


@pytest.mark.parametrize(
    ("true", "names", "sensitivity", "specificity"),
    [(0.4, 5, 0.85, 0.8), (0.4, 40, 0.85, 0.8), (0.0, 5, 0.85, 0.8), (0.97, 40, 0.95, 0.85), (0.3, 5, 1.0, 1.0)],
)
def test_intervals_hold_the_true_share(true, names, sensitivity, specificity):
    """Of 80 data sets with sd 0.05 by name of what is seen, and 100 labels: sd 2.4 percent. Few are contradicted."""
    rng, held = np.random.default_rng(0), []
    for _ in range(80):
        seen = true * sensitivity + (1 - true) * (1 - specificity) + rng.normal(0, 0.05, names)
        n = int(rng.binomial(100, 0.4))
        right = (int(rng.binomial(k, rate)) for k, rate in ((n, sensitivity), (100 - n, specificity)))
        judged = Judged(n, next(right), 100 - n, next(right))
        low, high = judged.interval(
            seen_share(float(seen.mean()), float(seen.std(ddof=1)) / math.sqrt(names), names - 1)
        )
        if not math.isnan(low):
            held.append(low <= true <= high)
    assert len(held) >= 72
    assert np.mean(held) >= 0.9


def test_without_errors_of_the_classifier_the_interval_of_what_it_sees_stays():
    """One-sided as that is: of none seen, 26 % may be unseen."""
    perfect = Judged(10**9, 10**9, 10**9, 10**9)
    for low, high in ((0.0, 0.26), (0.02, 0.3)):
        found = perfect.interval(Seen.between(low if low == 0 else 0.05, low, high, 11))
        assert found == pytest.approx((low, high), abs=1e-3)
