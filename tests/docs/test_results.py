"""RESULTS.md holds the tables of results/, as scripts/write_results.py writes them."""

import runpy
from pathlib import Path

import pytest

from evenhand.report.tables import Cell, Table

ROOT = Path(__file__).parents[2]
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "write_results.py"))
TABLE = Table(
    "scores",
    ("model", "score", "n"),
    (
        (Cell("a"), Cell(17.842126, 3.25, 20.5, digits=2), Cell(1200, style="count")),
        (Cell(""), Cell(None), Cell(float("nan"))),
    ),
    "One note.",
)


def test_the_page_is_what_the_script_writes():
    page = (ROOT / "RESULTS.md").read_text("utf-8")
    assert SCRIPT["fill_page"](page, ROOT) == page
    assert page.count("<!-- results/") == page.count("<!-- end -->") >= 8
    assert len(page.split()) <= 2500


def test_tables_come_back_as_they_were_saved(tmp_path):
    SCRIPT["save_tables"](tmp_path / "results" / "one.json", "make it", "Two cores.", [TABLE])
    [found] = SCRIPT["load_tables"](tmp_path / "results" / "one.json")
    assert found.rows[0] == TABLE.rows[0]
    assert [cell.text for cell in found.rows[1]] == ["", "no data", "no data"]
    begin = "<!-- results/one.json | scores | n; score | a -->\n"
    filled = SCRIPT["fill_page"](f"{begin}old\n<!-- end -->\n", tmp_path)
    assert filled == f"{begin}| n | score |\n| --- | --- |\n| 1,200 | 17.84 [3.25, 20.50] |\n<!-- end -->\n"


def test_an_unknown_row_or_column_is_an_error():
    for chosen in ({"columns": ["other"]}, {"rows": ["other"]}):
        with pytest.raises(ValueError, match="other"):
            SCRIPT["select"](TABLE, **chosen)
