"""Anybody's text may stand in a drawing: a model's name, a group's, a column's."""

from xml.etree import ElementTree

import pytest
from hypothesis import given, strategies

from evenhand.report.plots import _label, grouped_bars, heatmap, heatmaps

NAMES = ["$$", "$x$", r"$\frac{1$", "US$ 5", "a_b^c", r"\frac{", "a&<b>", "\x00\x1b[31m", "\ud800", "\u202eevil", "🎈"]
SHOWN = ["".join(char if char.isprintable() else "\ufffd" for char in name) for name in NAMES]


def texts(svg):
    return ["".join(each.itertext()) for each in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.drawn
def test_names_are_shown_as_they_are():
    bars = grouped_bars({name: {"$$": (50.0, (40.0, 60.0))} for name in NAMES}, "$", (50.0, "$_$"))
    assert {*SHOWN, "$", "$_$"} <= set(texts(bars))
    assert set(SHOWN) <= set(texts(heatmap({name: {"_": 4.0} for name in NAMES}, "$$")))
    assert {"$$", "$x$", "$y$"} <= set(texts(heatmaps({"$$": {"$x$": {"$y$": 4.0}}}, "$$")))


@pytest.mark.drawn
def test_a_legend_has_names_that_begin_with_an_underscore():
    svg = grouped_bars({"group": {"_model": (50.0, ()), "other": (40.0, ())}}, "%", (50.0, "chance"))
    assert [each.strip() for each in texts(svg)].count("_model") == 1


@given(strategies.text(strategies.characters(), max_size=200))
def test_any_text_makes_a_label(text):
    label = _label(text)
    assert all(char.isprintable() or char == "\n" for char in label)
    assert 0 < len(label) <= 81
    assert not label.startswith("_")
