"""What so many answers can show, by simulation."""

import numpy as np
import pytest

from evenhand.statistics.power import smallest_difference


def test_the_smallest_difference_is_found_with_80_percent_power():
    """By simulation: two shares that far apart, in independent answers, are told apart 4 times of 5."""
    n = 400
    gap = smallest_difference(n, n, 0.0) / 100
    assert 100 * gap == pytest.approx(9.9, abs=0.1)  # 2.80 x sqrt(2 x 0.25 / 400)
    draw = np.random.default_rng(9)
    low, high = (draw.binomial(n, 0.5 + sign * gap / 2, 4000) / n for sign in (-1, 1))
    error = np.sqrt((low * (1 - low) + high * (1 - high)) / n)
    assert np.mean((high - low) / error > 1.96) == pytest.approx(0.8, abs=0.03)
    assert smallest_difference(n, 40, 1.0) == pytest.approx(smallest_difference(40, 40, 0.0))
