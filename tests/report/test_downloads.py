"""Tables are saved with numbers as numbers, and what a spreadsheet would compute stays text."""

import base64
import math
import re

import pytest

from evenhand.report.findings import data_url, file_name
from evenhand.report.pages import ReportedRun
from evenhand.report.tables import Cell, Table


def table(*rows, columns=("axis", "no_contact", "n", "tied?")):
    return Table("By axis", columns, tuple(rows))


def test_a_number_with_its_interval_fills_three_columns_and_is_exact():
    shown = table(
        (Cell("body_type"), Cell(17.842126, -51.31234567, 45.1), Cell(1200, style="count"), Cell("tied")),
        (Cell("age"), Cell(math.nan, math.nan, math.nan), Cell(3, style="count"), Cell("")),
    )
    frame = shown.to_frame(object)
    assert list(frame.columns) == ["axis", "no contact", "no contact, low", "no contact, high", "n", "tied?"]
    assert frame.to_numpy().tolist() == [
        ["body type", 17.842126, -51.31234567, 45.1, 1200, "tied"],
        ["age", None, None, None, 3, ""],
    ]
    assert shown.to_frame()["no contact"].tolist()[0] == 17.842126
    assert shown.to_csv().splitlines()[1] == "body type,17.842126,-51.31234567,45.1,1200,tied"
    assert shown.rows[0][1].text == "17.8 [-51.3, 45.1]"


def test_csv_and_frames_of_a_run_hold_its_exact_figures(run):
    """17.842126, not 17.8: every number of the report's tables is one of results.json."""
    done = run("stub:random", limit=70)
    exact = {number for row in done.figures for number in (row.value, row.low, row.high, row.n, row.n_clusters)}
    folder = ReportedRun(done.folder)
    frame = folder.to_frame()
    assert frame["value"].tolist() == pytest.approx([row.value for row in done.figures], rel=0, abs=0, nan_ok=True)
    uneven = [row.value for row in done.figures if row.value != round(row.value, 1)]
    assert uneven
    shown = folder.to_frames()["Percentage of biased responses"]
    for column in ("no contact", "no contact, low", "no contact, high", "n", "clusters"):
        assert set(shown[column]) <= exact


def test_csv_has_no_formulas_and_keeps_signs_of_numbers():
    lines = table((Cell("=HYPERLINK(1)"), Cell(-0.5), Cell(1), Cell("@SUM(1)"))).to_csv().split("\r\n")
    assert lines[1] == "'=HYPERLINK(1),-0.5,1,'@SUM(1)"


def test_names_and_urls_are_harmless():
    assert file_name('By "<axis>" × 2/../x') == "by-axis-2-x"
    assert file_name("…") == "table"
    url = data_url("é,<b>\r\n", "text/csv")
    assert re.fullmatch(r"data:text/csv;base64,[\w+/=]+", url)
    assert base64.b64decode(url.split(",")[1]).decode() == "é,<b>\r\n"


def test_a_report_has_each_table_and_each_plot_to_save(run):
    page = (run("stub:random").folder / "report.html").read_text(encoding="utf-8")
    assert page.count("data:text/csv") == page.count("<table>") > 3
    assert page.count("data:image/svg+xml") == page.count("<figure") == 2
    assert all(len(words) > 20 for words in re.findall(r'<figure role="img" tabindex="0" aria-label="([^"]*)"', page))
