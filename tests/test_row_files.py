"""What every reader of rows relies on: columns that hold no texts are refused, and no file ends in a traceback."""

import io
import json
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenhand.errors import UsageError
from evenhand.row_files import read_rows
from evenhand.row_files.opening import refuse_twice
from evenhand.row_files.records import check, records

BEYOND_PYTHON = pa.array([2**62, 1], pa.int64()).cast(pa.timestamp("us"), safe=False)  # microseconds: year 148,000


@pytest.fixture
def read(tmp_path):
    """read("a.csv", bytes, or the columns of a parquet file) → its Rows."""

    def call(name, content, **options):
        path = tmp_path / name
        if isinstance(content, dict):
            pq.write_table(pa.table(content), path)
        else:
            path.write_bytes(content)
        return read_rows(path, "text", "texts", **options)

    return call


@pytest.mark.parametrize(
    ("cells", "came"),
    [
        ([b"She leads.", None], "bytes"),
        ([["She", "leads."], []], "an array"),
        ([{"en": "She leads."}, {"en": "He helps."}], "an object"),
    ],
)
def test_columns_that_hold_no_texts_are_refused_where_texts_are_expected(read, cells, came):
    """And read as they came by whoever takes them."""
    rows = read("a.parquet", {"text": cells, "gender": ["m", "f"]})
    assert rows.cells("text") == cells
    assert rows.words("gender") == ["m", "f"]
    for expecting in (rows.column, rows.words):
        with pytest.raises(UsageError, match=rf"a.parquet has {came} in every cell of its column 'text', expected"):
            expecting("text")


def test_nested_json_is_refused_too_but_single_cells_are_not(read):
    lines = [{"text": ["a"], "mixed": ["a"]}, {"text": {"b": 1}, "mixed": "b"}, {"mixed": None}]
    rows = read("a.jsonl", "\n".join(map(json.dumps, lines)).encode())
    assert rows.column("mixed") == [["a"], "b", None]
    with pytest.raises(UsageError, match="has an array or an object in every cell of its column 'text'"):
        rows.column("text")


@pytest.mark.parametrize("edited", [False, True])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_csv_is_read_alike_everywhere(read, edited, encoding, separator):
    """As spreadsheets of different countries write it."""
    content = separator.join(("text", "gender")) + "\r\n" + separator.join(('"Zoë, she; leads.\t\n"', "f")) + "\r\n"
    rows = read("a.csv", content.encode(encoding), edited=edited, known={"text"})
    assert (rows.columns, rows.cells("text"), rows.cells("gender")) == (
        ["text", "gender"],
        ["Zoë, she; leads.\t\n"],
        ["f"],
    )


@pytest.mark.parametrize("edited", [False, True])
def test_broken_csv_is_named_by_its_line(read, monkeypatch, edited):
    monkeypatch.setattr("evenhand.row_files.rows.LONGEST", 100_000)
    for content, message in (
        ("a,b\n1,2\n1,\0\n", "NUL character at line 3"),
        ('a,b\n1,2\n1,"2\n1,2\n', "row at line 3, whose quotation mark is never closed"),
        ('a,b\n1,"2"x\n', "in the row at line 2"),
        ("a,b\n1,2\n1," + "x" * 100_001, r"field larger than field limit \(100000\) in the row at line 3"),
        ("a,b\n1,2,3\n", "line 2 has not the header's 2 fields but 3"),
    ):
        with pytest.raises(UsageError, match=message):
            read("a.csv", content.encode(), edited=edited)


def test_one_file_under_two_names_is_one(tmp_path):
    (tmp_path / "a.csv").touch()
    (tmp_path / "b.csv").symlink_to(tmp_path / "a.csv")
    refuse_twice([tmp_path / "a.csv", tmp_path / "c.csv"], "texts")
    with pytest.raises(UsageError, match=r"b\.csv is given twice, also as .*a\.csv; name each file of texts once"):
        refuse_twice([tmp_path / "a.csv", tmp_path / "b.csv"], "texts")


def test_columns_without_a_cell_are_missing_texts(read):
    assert read("a.parquet", {"text": pa.nulls(2, pa.list_(pa.string()))}).words("text") == ["", ""]


def test_values_that_python_has_not_are_an_error_only_where_they_are_asked_for(read, tmp_path):
    rows = read("a.parquet", {"text": ["a", "b"], "when": BEYOND_PYTHON})
    assert rows.column("text") == ["a", "b"]
    with pytest.raises(UsageError, match="is broken parquet: date value out of range; fix the file"):
        rows.column("when")
    [skipped, row] = records(tmp_path / "a.parquet", ("when",), "texts")
    assert skipped.reason == "with a value that can't be read"
    assert row["when"].year == 1970


def test_names_that_can_not_be_printed_are_made_so(read):
    rows = read("a.jsonl", rb'{"\ud83d": 1}')
    assert (list(rows.columns), rows.cells("?")) == (["?"], [1])


def test_pipes_and_impossible_names_are_refused_at_once(tmp_path):
    """Nobody waits for whoever fills the pipe."""
    os.mkfifo(tmp_path / "pipe.jsonl")
    for refused in (lambda path: read_rows(path, "text", "texts"), lambda path: check(path, ("text",), "texts")):
        with pytest.raises(UsageError, match="is a pipe or a device; save the texts in a file"):
            refused(tmp_path / "pipe.jsonl")
        with pytest.raises(UsageError, match="does not exist; name a file of texts"):
            refused(tmp_path / "a\0.jsonl")


CELLS = st.none() | st.integers(-9, 9) | st.text(max_size=5)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.fixed_dictionaries({"a": CELLS, "b": CELLS}), min_size=1, max_size=5), st.sampled_from([None, 1]))
def test_whole_files_and_records_are_the_same_values(read, tmp_path, rows, indent):
    """Integers beside null stay integers, "" is no null, and null no ""."""
    for name, content in (
        ("a.jsonl", "\n".join(map(json.dumps, rows))),
        ("a.json", json.dumps(rows, indent=indent)),
    ):
        whole = read(name, content.encode())
        assert [whole.cells("a"), whole.cells("b")] == [[row[name] for row in rows] for name in "ab"]
        assert list(records(tmp_path / name, ("a", "b"), "texts")) == rows


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_parquet_that_was_damaged_is_a_usage_error_or_read(read, data):
    file = io.BytesIO()
    pq.write_table(pa.table({"text": ["a", "é", None], "n": [[1], [], None]}), file)
    content = bytearray(file.getvalue())
    for place in data.draw(st.lists(st.integers(0, len(content) - 1), max_size=8)):
        content[place] = data.draw(st.integers(0, 255))
    try:
        rows = read("a.parquet", bytes(content))
        assert all(len(rows.cells(name)) == rows.n for name in rows.columns)
    except UsageError:
        return
