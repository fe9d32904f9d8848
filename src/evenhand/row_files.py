"""Files of rows, CSV, JSON or parquet, with their cells as they came: one reader for texts and for annotations."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import textwrap
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from evenhand.errors import EvenhandError, UsageError

SUFFIXES = (".csv", ".jsonl", ".json", ".parquet")
SEPARATORS = ",;\t"  # of edited files
_LONGEST_FIELD = 2**31 - 1  # csv's own limit is 131,072 characters
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # how Excel's "Unicode text" begins


@dataclass(frozen=True)
class Rows:
    """columns: their names in order; a CSV or parquet file may have one twice. column(name): its first's cells.

    places: where each row begins ("line 7"), for errors. sha256: of the file's bytes, in hexadecimal.
    """

    columns: Sequence[str]
    column: Callable[[str], list[object]]
    places: Sequence[str]
    sha256: str

    @property
    def n(self) -> int:
        return len(self.places)


def read_rows(path: Path, of: str, plural: str, edited: bool = False, known: Collection[str] = ()) -> Rows:
    """The rows of a CSV, JSONL, JSON (an array of objects) or parquet file, in UTF-8.

    of, plural: what a row is, for errors ("text", "texts"). edited: as spreadsheets and labelling tools leave files:
    separated by semicolons or tabs, too, of which the header tells, by the most names or one of those `known`; in
    UTF-16, too; with rows of blanks, empty cells at the end of a line, or these cut off.
    Raises UsageError for a file that is absent, of another kind, broken or without rows, and EvenhandError for one that
    the system does not let us read.
    """
    if os.path.isdir(path):  # Path.is_dir raises for some paths that can't be one
        raise UsageError(f"{path} is a folder; name one file of {plural} in it")
    suffix, suffixes = path.suffix.casefold(), (*SUFFIXES, ".tsv") if edited else SUFFIXES
    if suffix not in suffixes:
        accepted = f"a file that ends in {', '.join(suffixes)} is accepted"
        raise UsageError(f"{path} came; {accepted}: save the {plural} as one of these")
    content = _content(path, of, plural)
    sha256 = hashlib.sha256(content).hexdigest()
    if suffix == ".parquet":
        rows = _of_parquet(path, content, sha256)
    elif suffix in (".jsonl", ".json"):
        rows = _of_json(path, _decoded(path, content, edited), sha256)
    else:
        rows = _of_csv(path, _decoded(path, content, edited), sha256, edited, known)
    if not rows.n:
        raise UsageError(f"{path} has no rows; give a file with one {of} a row")
    return rows


def _content(path: Path, of: str, plural: str) -> bytes:
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise UsageError(f"{path} does not exist; name a file of {plural}") from None
    except OSError as error:
        raise EvenhandError(f"can't read {path}: {error.strerror or error}; mend that, or name another file") from error
    if not content.strip():
        raise UsageError(f"{path} has no rows, it is empty; give a file with one {of} a row")
    return content


def _broken(path: Path, kind: str, what: str) -> UsageError:
    return UsageError(f"{path} is broken {kind}: {what}; mend the file, or write it again")


def _decoded(path: Path, content: bytes, edited: bool) -> str:
    try:
        # With or without a byte order mark.
        return content.decode("utf-16" if edited and content.startswith(_UTF_16) else "utf-8-sig")
    except UnicodeDecodeError as error:
        at = f"byte {content[error.start]:#04x} at position {error.start:,}"
        how = " (in Excel: CSV UTF-8)" if path.suffix.casefold() in (".csv", ".tsv") else ""
        raise UsageError(f"{path} is not UTF-8: {at}; save it as UTF-8{how}") from error


def _of_csv(path: Path, text: str, sha256: str, edited: bool, known: Collection[str]) -> Rows:
    header: list[str] = []
    cells: list[list[str]] = []
    places: list[str] = []
    with _long_fields():
        for row, line in _lines(path, text, _separator(text, known) if edited else SEPARATORS[0]):
            if not (any(map(str.strip, row)) if edited else row):  # a blank line
                continue
            if not header:
                header = _without_blank_end(row) if edited else row
                continue
            if edited:
                row = _without_blank_end(row, len(header)) + [""] * (len(header) - len(row))
            if len(row) != len(header):
                what = f"the row at line {line} has not the header's {len(header)} fields but {len(row)}"
                raise _broken(path, "CSV", what)
            cells.append(row)
            places.append(f"line {line}")

    def column(name: str) -> list[object]:
        place = header.index(name)
        return [row[place] for row in cells]

    return Rows(header, column, places, sha256)


def _without_blank_end(row: Sequence[str], least: int = 0) -> list[str]:
    """Without the blank cells at its end, of which as many stay as make `least`."""
    n = len(row)
    while n > least and not row[n - 1].strip():
        n -= 1
    return list(row[:n])


def _separator(text: str, known: Collection[str]) -> str:
    """The one that parts the header into most names, and first of all into one that is known."""

    def names(separator: str) -> tuple[bool, int]:
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        header = next((row for row in lines if any(map(str.strip, row))), [])
        return any(name.strip().casefold() in known for name in header), len(header)

    return max(SEPARATORS, key=names)


def _lines(path: Path, text: str, separator: str) -> Iterator[tuple[list[str], int]]:
    """Rows, and the line where each begins; the reader only knows where it ends."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    begins = 1
    try:
        for row in reader:
            yield row, begins
            begins = reader.line_num + 1
    except csv.Error as error:
        raise _broken(path, "CSV", f"{error} in the row at line {begins}") from error


@contextmanager
def _long_fields() -> Iterator[None]:
    """The csv module's limit is the whole process's: put back afterwards."""
    before = csv.field_size_limit(_LONGEST_FIELD)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _of_json(path: Path, text: str, sha256: str) -> Rows:
    """Objects, one a line or in one array, whatever the suffix says: both are called .json and .jsonl."""
    objects: list[dict[str, object]] = []
    places: list[str] = []
    for place, value in _json_values(path, text):
        if not isinstance(value, dict):
            raise _broken(path, "JSON", f"{place} is {_KINDS.get(type(value), 'a number')}, not an object")
        objects.append(value)
        places.append(place)
    names = list(dict.fromkeys(name for each in objects for name in each))
    return Rows(names, lambda name: [_storable(each.get(name)) for each in objects], places, sha256)


_KINDS = {list: "an array", str: "a string", bool: "true or false", type(None): "null"}


def _json_values(path: Path, text: str) -> Iterator[tuple[str, object]]:
    """Every value, and where it stands."""
    if text.lstrip().startswith("[") and text.rstrip().endswith("]"):
        array = _loads(path, text)
        assert isinstance(array, list)
        yield from ((f"element {number} of the array", value) for number, value in enumerate(array, start=1))
        return
    for number, line in enumerate(text.split("\n"), start=1):  # str.splitlines would split inside strings, too
        if line.strip():
            yield f"line {number}", _loads(path, line, number)


def _loads(path: Path, text: str, first_line: int = 1) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        what = f"{error.msg} at line {first_line + error.lineno - 1}, column {error.colno}"
    except (ValueError, RecursionError) as error:  # a number of too many digits, too deep a nesting
        what = f"{error} at line {first_line}"
    raise _broken(path, "JSON", what)


def _storable(cell: object) -> object:
    """Half characters, which only JSON can spell (a lone \\ud83d), become question marks, as in the store."""
    return cell.encode("utf-8", "replace").decode("utf-8") if isinstance(cell, str) else cell


def _of_parquet(path: Path, content: bytes, sha256: str) -> Rows:
    try:
        table = pq.ParquetFile(pa.BufferReader(content)).read()
        table.validate(full=True)  # strings that are not UTF-8 would fail later
    except (pa.ArrowException, OSError, ValueError) as error:
        what = textwrap.shorten(str(error).rstrip("."), 200, placeholder=" …")
        raise _broken(path, "parquet", what) from error

    def column(name: str) -> list[object]:
        return list(table.column(table.column_names.index(name)).to_pylist())

    return Rows(table.column_names, column, [f"row {number}" for number in range(1, table.num_rows + 1)], sha256)
