"""Kappas where the libraries' own are no number."""

import math
import warnings

import numpy as np
import pytest

from evenhand.statistics.kappa import cohen, fleiss


def test_one_label_alone_has_no_kappa():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert math.isnan(cohen("xxxx", "xxxx"))
        assert math.isnan(cohen("", ""))
        assert math.isnan(fleiss(np.array([[2, 0], [2, 0]])))


def test_a_constant_rater_agrees_by_chance():
    assert cohen("xxxx", "xyxy") == 0


def test_two_raters_by_hand():
    """One of two entries agreed on; by chance 1/4 + 1/4 with Cohen, 9/16 + 1/16 with Fleiss: both raters' labels."""
    assert cohen("xx", "xy") == pytest.approx(0)
    assert fleiss(np.array([[2, 0], [1, 1]])) == pytest.approx((1 / 2 - 10 / 16) / (1 - 10 / 16))
