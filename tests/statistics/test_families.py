"""Adjusted p-values, by hand and by law."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.statistics.families import benjamini_hochberg, holm


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


@settings(max_examples=10, deadline=None)  # statsmodels collects garbage in every call of Holm's method
@given(st.lists(st.floats(0, 1), max_size=20))
def test_adjusting_only_raises_and_keeps_order(p_values):
    for adjust in (holm, benjamini_hochberg):
        adjusted = adjust(p_values)
        assert all(p <= q + 1e-12 <= 1 + 1e-9 for p, q in zip(p_values, adjusted))
        order = np.argsort(p_values, kind="stable")
        assert np.all(np.diff(np.array(adjusted)[order]) >= -1e-12)
