"""Sheets that spreadsheets show and don't compute, and that are read back as they were."""

import csv
import io
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenhand.report.tables import csv_text, escaped, unescaped
from evenhand.tools.annotation.files import read_sheet, write_rows
from evenhand.tools.annotation.from_sheets import merge
from evenhand.tools.annotation.schemes import get_scheme
from evenhand.tools.annotation.to_sheets import ExportSettings, export

HOSTILE = [
    "=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\r\n=1", " =1", "\u00a0=1", "\u200b=1", "\ufeff=1",
    "\x00=1",     "＝1", "＋1", "－1", "＠A1", " ＝1", "'=1", "''=1", "\n", "\tplain", "−1",
]  # fmt: skip
HARMLESS = ["", "a=1", "'", "''", "'tis", "She leads.", "1", "(=1)", " a", "\u200ba", "a\n=1"]

texts = st.text(st.sampled_from([*"'=+-@＝ \t\r\n\x00\u00a0\u200b\ufeff\";,a1é"]), max_size=8) | st.text(
    st.characters(codec="utf-8"), max_size=8
)


@pytest.mark.parametrize("text", HOSTILE)
def test_what_would_be_computed_has_an_apostrophe(text):
    assert escaped(text) == "'" + text
    assert unescaped(escaped(text)) == text


@pytest.mark.parametrize("text", HARMLESS)
def test_all_else_is_as_it_was(text):
    assert escaped(text) == text
    assert unescaped(text) == text


@given(texts)
def test_reading_back_gives_the_original(text):
    assert unescaped(escaped(text)) == text
    cell = next(csv.reader(io.StringIO(csv_text([text], []), newline="")), [""])[0]
    assert not re.match(r"[=+\-@\t\r\n＝＋－＠]", cell)
    assert not re.match(r"[=+\-@＝＋－＠]", cell.strip())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50)
@given(
    names=st.lists(texts.filter(str.strip), max_size=3, unique_by=lambda name: name.strip().casefold()),
    cells=st.lists(st.lists(texts, min_size=4, max_size=4), min_size=1, max_size=4),
)
@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_sheets_come_back_as_they_were(names, cells, suffix, tmp_path):
    columns = ("id", *(name for name in names if name.strip().casefold() not in ("id", "entry")))
    cells = [[cell.replace("\0", "␀") for cell in row] for row in cells] if suffix == ".csv" else cells
    columns = tuple(name.replace("\0", "␀") for name in columns) if suffix == ".csv" else columns
    rows = [{name: f"{place}{cell}" if name == "id" else cell for name, cell in zip(columns, row)}
            for place, row in enumerate(cells)]  # fmt: skip
    path = tmp_path / f"sheet{suffix}"
    write_rows(path, columns, rows)
    read = read_sheet(path)
    assert read.columns == columns
    assert [dict(row) for row in read.rows] == rows


def test_key_sheets_and_merged_tables_compute_nothing_and_keep_their_ids(tmp_path):
    """By export and import: ids, headers and texts, and the merged table has the ids that came."""
    ids, column = ["=HYPERLINK(1)", "@a", "＝b", "+c", "plain"], "=cmd"
    source = tmp_path / "source.jsonl"
    write_rows(source, ("id", column), [{"id": each, column: f"\n{each}"} for each in ids])
    scheme = get_scheme("agency")
    made = export(ExportSettings((str(source),), scheme, tmp_path / "out.csv", columns=(column,)))
    eve, bo = tmp_path / "=eve.csv", tmp_path / "@bo.csv"
    sheet = read_sheet(made.sheets[0])
    question = scheme.questions[0].name
    for labelled in (eve, bo):
        write_rows(labelled, sheet.columns, [{**row, question: "agentic"} for row in sheet.rows])
    merged = merge({"=eve": eve, "@bo": bo}, scheme, key=made.key)
    merged.write(tmp_path / "merged.csv")
    for path in (made.key, made.sheets[0], eve, tmp_path / "merged.csv"):
        with path.open(encoding="utf-8-sig", newline="") as file:
            for cell in (cell for row in csv.reader(file) for cell in row):
                assert not re.match(r"\s*[=+\-@＝＋]", cell), (path, cell)
    assert {row["id"] for row in read_sheet(tmp_path / "merged.csv").rows} == set(ids)
