"""Tables are saved with numbers as numbers, and what a spreadsheet would compute stays text."""

import base64
import re

from evenhand.report.downloads import csv_of, data_url, file_name, frame_of, spread
from evenhand.report.tables import Cell, Table


def table(*rows, columns=("axis", "no_contact", "n", "tied?")):
    return Table("By axis", columns, tuple(tuple(map(Cell, row)) for row in rows))


def test_a_figure_with_its_interval_fills_three_columns():
    shown = table(("body_type", "-48.2 [-51.3, 45.1]", "1,200", "tied"), ("age", "no data", "3", ""))
    columns, rows = spread(shown)
    assert columns == ["axis", "no contact", "no contact, low", "no contact, high", "n", "tied?"]
    assert rows == [["body type", -48.2, -51.3, 45.1, 1200.0, "tied"], ["age", None, None, None, 3.0, ""]]
    assert frame_of(shown)["no contact, low"].tolist()[0] == -51.3


def test_a_column_in_which_anything_else_stands_is_text():
    columns, rows = spread(table(("a", "5.0", "201 (60)", "yes"), ("b", "<0.0001", "3 (3)", "no")))
    assert columns == ["axis", "no contact", "n", "tied?"]
    assert rows[1] == ["b", "<0.0001", "3 (3)", "no"]


def test_csv_has_no_formulas_and_keeps_signs_of_numbers():
    lines = csv_of(table(("=HYPERLINK(1)", "-0.5", "1", "@SUM(1)"))).split("\r\n")
    assert lines[1] == "'=HYPERLINK(1),-0.5,1,'@SUM(1)"


def test_names_and_urls_are_harmless():
    assert file_name('By "<axis>" × 2/../x') == "by-axis-2-x"
    assert file_name("…") == "table"
    url = data_url("text/csv", "é,<b>\r\n")
    assert re.fullmatch(r"data:text/csv;base64,[\w+/=]+", url)
    assert base64.b64decode(url.split(",")[1]).decode() == "é,<b>\r\n"


def test_a_report_has_each_table_and_each_plot_to_save(run):
    page = (run("stub:random").folder / "report.html").read_text(encoding="utf-8")
    assert page.count("data:text/csv") == page.count("<table>") > 3
    assert page.count("data:image/svg+xml") == page.count("<figure") == 3
    assert all(len(words) > 20 for words in re.findall(r'<figure role="img" tabindex="0" aria-label="([^"]*)"', page))
