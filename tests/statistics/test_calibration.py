"""Brier's score and the expected calibration error: a case by hand, scikit-learn's score, and what must be 0."""

import math

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss

from evenhand.statistics.calibration import brier_scores, calibration_error

RIGHT = np.array([0.95, 0.95, 0.25, 0.65])  # probabilities of the right answer: the third would be answered wrong


def test_a_case_by_hand():
    """Squares .0025, .0025, .5625, .1225. Confidences: .95 twice, both right; .75, wrong; .65, right."""
    assert brier_scores(RIGHT).mean() == pytest.approx(0.69 / 4)
    assert calibration_error(RIGHT, np.ones(4, bool)) == pytest.approx((0.10 + 0.75 + 0.35) / 4)


def test_it_does_not_matter_which_of_both_answers_is_told():
    first_is_right = np.array([True, False, True, False])
    of_first = np.where(first_is_right, RIGHT, 1 - RIGHT)
    assert calibration_error(of_first, first_is_right) == pytest.approx(calibration_error(RIGHT, np.ones(4, bool)))
    assert brier_scores(RIGHT).mean() == pytest.approx(brier_score_loss(first_is_right, of_first))


def test_who_is_as_sure_as_right_has_no_error_and_a_half_has_a_quarter():
    sure = np.array([0.75, 0.75, 0.75, 0.25])  # three of four right, with a confidence of 0.75
    assert calibration_error(sure, np.ones(4, bool)) == pytest.approx(0)
    assert brier_scores(np.full(4, 0.5)).mean() == 0.25
    assert math.isnan(calibration_error(np.array([]), np.array([], bool)))
