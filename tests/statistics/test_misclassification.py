"""Shares corrected for a classifier's errors: by hand, by law, and how often intervals hold the true share."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.statistics.clustered import Error
from evenhand.statistics.misclassification import FEWEST_LABELS, Judged

RIGHT = Judged(n_positive=100, right_positive=90, n_negative=100, right_negative=80)


def test_by_hand():
    """Of 50 % agentic sentences it sees 0.5 x 0.9 + 0.5 x 0.2 = 55 %; of none 20 %, of all 90 %."""
    assert (RIGHT.sensitivity, RIGHT.specificity) == (0.9, 0.8)
    assert RIGHT.corrected(0.55) == pytest.approx(0.5)
    assert RIGHT.corrected(0.2) == pytest.approx(0.0)
    assert RIGHT.corrected(0.9) == pytest.approx(1.0)
    assert (RIGHT.corrected(0.1), RIGHT.corrected(0.95)) == (0.0, 1.0)  # clipped: labels and texts are samples


def test_the_papers_interval():
    """Lee et al.: p 0.55 of very many clusters, rates (90 + 1) / 102 and (80 + 1) / 102 of 102 labels each."""
    q1, q0, z = 91 / 102, 81 / 102, 1.959964
    middle = (0.55 + q0 - 1) / (q1 + q0 - 1)
    of_negative, of_positive = ((1 - middle) ** 2 * q0 * (1 - q0) / 102, middle**2 * q1 * (1 - q1) / 102)
    error = math.sqrt(0.01**2 + of_negative + of_positive) / (q1 + q0 - 1)
    shift = 2 * z**2 * (middle * q1 * (1 - q1) / 102 - (1 - middle) * q0 * (1 - q0) / 102)
    low, high = RIGHT.interval(Error(0.55, 0.01, 1e9))
    assert low == pytest.approx(middle + shift - z * error, abs=0.001)
    assert high == pytest.approx(middle + shift + z * error, abs=0.001)


def test_without_errors_of_the_classifier_the_share_stays():
    perfect = Judged(10**9, 10**9, 10**9, 10**9)
    assert perfect.corrected(0.3) == pytest.approx(0.3)
    assert perfect.interval(Error(0.3, 0.02, 1e9)) == pytest.approx((0.3 - 1.96 * 0.02, 0.3 + 1.96 * 0.02), abs=1e-4)


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
    assert all(map(math.isnan, judged.interval(Error(0.5, 0.1, 4))))


def test_too_few_clusters_have_no_interval():
    assert all(map(math.isnan, RIGHT.interval(Error(0.5, math.nan, 1))))


@given(st.floats(0, 1), st.floats(0, 0.5), st.floats(1, 100), st.integers(60, 100), st.integers(60, 100))
def test_ends_are_shares_in_order(share, error, freedom, positive, negative):
    low, high = Judged(100, positive, 100, negative).interval(Error(share, error, freedom))
    assert 0 <= low <= high <= 1


@pytest.mark.parametrize("names", [5, 40])
def test_intervals_hold_the_true_share(names):
    """Of 300 data sets with a share of 0.4 by name, sd 0.05, and 100 labels: sd 1.3 percent."""
    rng, held = np.random.default_rng(0), []
    for _ in range(300):
        of_names = 0.4 + rng.normal(0, 0.05, names)
        seen = of_names * 0.85 + (1 - of_names) * 0.2
        n = int(rng.binomial(100, 0.4))
        judged = Judged(n, int(rng.binomial(n, 0.85)), 100 - n, int(rng.binomial(100 - n, 0.8)))
        error = Error(float(seen.mean()), float(seen.std(ddof=1)) / math.sqrt(names), names - 1)
        low, high = judged.interval(error)
        held.append(low <= 0.4 <= high)
    assert 0.92 <= np.mean(held) <= 0.99
