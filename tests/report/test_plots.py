"""Points with intervals: what has no number is not drawn."""

import math

import pytest

from evenhand.report.plots import points


@pytest.mark.drawn
def test_points_without_a_number_are_left_out():
    known = {"base": [(35.8, 50.2, [46.5, 53.8])], "SCD": [(35.7, 3.0, [None, None]), (36.0, 4.0, [1.0, 7.0])]}
    drawn = points(known, "perplexity", "biased, %")
    unknown = {"gone astray": [(math.inf, 9.0, [])], "unasked": [(None, 9.0, [])]}
    assert points(known | unknown, "perplexity", "biased, %") == drawn
    for text in ("base", "SCD", "perplexity", "biased, %"):
        assert f">{text}<" in drawn
