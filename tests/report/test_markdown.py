"""Tables in Markdown, and a page of which one part is written anew."""

import pytest

from evenhand.errors import UsageError
from evenhand.report.markdown import markdown, write_part
from evenhand.report.tables import Cell, Table


def test_a_table():
    table = Table("Scores", ("", "a|b"), ((Cell(" one"), Cell("1.0")),), "A note.")
    assert markdown(table) == "**Scores**\n\n|  | a\\|b |\n| --- | --- |\n| one | 1.0 |\n\nA note."


def test_a_part_is_written_anew_and_the_rest_stays(tmp_path):
    page = tmp_path / "page.md"
    write_part(page, "p", "first")
    assert page.read_text() == "<!-- p: begin -->\nfirst\n<!-- p: end -->\n"
    page.write_text(f"# Before\n\n{page.read_text()}\nAfter\n")
    write_part(page, "q", "another")
    write_part(page, "p", r"second \1")
    marked = "<!-- p: begin -->\nsecond \\1\n<!-- p: end -->"
    assert page.read_text() == f"# Before\n\n{marked}\n\nAfter\n\n<!-- q: begin -->\nanother\n<!-- q: end -->\n"


@pytest.mark.parametrize("broken", ["<!-- p: begin -->", "<!-- p: end --><!-- p: begin -->", "<!-- p: end -->"])
def test_marks_that_lack_their_other_half_are_not_guessed_at(tmp_path, broken):
    page = tmp_path / "page.md"
    page.write_text(f"before {broken} after")
    with pytest.raises(UsageError, match="has not one"):
        write_part(page, "p", "new")
    assert page.read_text() == f"before {broken} after"
