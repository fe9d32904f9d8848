"""Drawings: what has no number is not drawn, headings keep apart, and a page's theme shows them in its colours."""

import math
import re
from pathlib import Path

import pytest

from evenhand.report import pages, plots
from evenhand.report.plots import differences, grouped_bars, points

TEMPLATES = Path(pages.__file__).parent / "templates"


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


def luminance(color):
    """Of "#rrggbb", as WCAG 2 has it."""
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear))


@pytest.mark.drawn
def test_what_would_be_dark_on_a_dark_page_is_shown_in_its_colours():
    """Contrast below 3 to the dark theme's background: every such colour of a line or a mark is named in the page."""
    page = (TEMPLATES / "page.html.jinja").read_text()
    one = (40.0, (30.0, 50.0))
    bars = {"a": {str(k): one for k in range(6)}}
    drawings = [
        plots.grouped_bars(bars, "%", (50, "chance")),
        plots.lines({"loss": {str(k): [(0, 1), (1, k)] for k in range(6)}}, "step"),
        plots.points({str(k): [(0.1, 1.0, (0.5, 1.5))] for k in range(6)}, "x", "y"),
        plots.differences({"a": (1.0, (0.5, 1.5), True), "b": (0.0, (-1.0, 1.0), False)}, "points"),
    ]
    used = {color for drawing in drawings for color in re.findall(r"stroke: (#[0-9a-f]{6})", drawing)}
    dark = {color for color in used if (luminance(color) + 0.05) / (luminance("#14181d") + 0.05) < 3}
    assert {"#000000", "#222222", "#444444", "#3d5a80"} <= dark
    assert not [color for color in sorted(dark) if f"stroke: {color}" not in page]
    assert 'path[style*="fill: #ffffff"]' in page  # the paper on which it is drawn


@pytest.mark.drawn
def test_headings_of_grids_beside_one_another_are_folded():
    """Four grids of two columns are 2 inches wide each: 22 letters of a heading, 11 of a column's."""
    names = [f"{k}: an-organization/a-model-with-a-long-name" for k in range(4)]
    cells = {"religion": {"after positive contact": 50.0, "none": 40.0}}
    drawn = plots.heatmaps(dict.fromkeys(names, cells), "%")
    lines = re.findall(r"<text[^>]*>([^<]*)</text>", drawn)
    assert not set(names) & set(lines)
    assert max(map(len, lines)) <= 23
    assert lines.count("positive") == 4


@pytest.mark.drawn
@pytest.mark.parametrize("n_groups", [1, 2, 3, 5])
def test_a_legend_lies_within_its_drawing(n_groups):
    """A letter of 9 points is 0.6 of that wide on average."""
    bars = {name: (50.0, (40.0, 60.0)) for name in ("no contact", "positive contact", "negative contact")}
    svg = grouped_bars({f"group {k}": bars for k in range(n_groups)}, "%", (50.0, "chance"))
    width = float(re.search(r'viewBox="0 0 ([0-9.]+) ', svg)[1])
    found = re.findall(r'<text[^>]* x="([0-9.]+)"[^>]*>([a-z]+ contact)</text>', svg)
    ends = {name: float(x) + 0.6 * 9 * len(name) for x, name in found}
    assert len(ends) == 3
    assert max(ends.values()) <= width
