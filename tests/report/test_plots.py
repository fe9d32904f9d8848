"""Points with intervals: what has no number is not drawn."""

import math

import pytest

from evenhand.report.plots import differences, points


@pytest.mark.drawn
def test_points_without_a_number_are_left_out():
    known = {"base": [(35.8, 50.2, [46.5, 53.8])], "SCD": [(35.7, 3.0, [None, None]), (36.0, 4.0, [1.0, 7.0])]}
    drawn = points(known, "perplexity", "biased, %")
    unknown = {"gone astray": [(math.inf, 9.0, [])], "unasked": [(None, 9.0, [])]}
    assert points(known | unknown, "perplexity", "biased, %") == drawn
    for text in ("base", "SCD", "perplexity", "biased, %"):
        assert f">{text}<" in drawn


@pytest.mark.drawn
def test_what_differs_is_filled_and_what_is_tied_is_hollow():
    """One white circle for the tied figure; a figure without an interval is drawn without a line."""
    drawn = differences({"no_contact": (5.0, (1.0, 9.0), True), "tied": (0.5, (-1.0, 2.0), False)}, "points")
    assert ">no contact<" in drawn
    alone = differences({"tied": (0.5, (math.nan, math.nan), False)}, "points")
    assert drawn.count("LineCollection") == 2
    assert "LineCollection" not in alone
