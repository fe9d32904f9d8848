"""A file of rows read whole, cells unchanged: texts, annotations, labels, shares."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from evenhand.errors import UsageError
from evenhand.row_files.json_values import LONGEST, Skipped, is_array, json_value, lines, numbered
from evenhand.row_files.opening import UTF_16, broken, opened, reading_parquet

SUFFIXES = (".csv", ".jsonl", ".json", ".parquet")
SEPARATORS = ",;\t"
_NO_TEXTS: dict[type, str] = {list: "an array", dict: "an object", bytes: "bytes"}
_KINDS = _NO_TEXTS | {str: "a string", bool: "true or false", type(None): "null"}


@dataclass(frozen=True)
class Rows:
    """columns: their names in order; a CSV or parquet file may have one twice. cells(name): its first's, as they stand
    in the file.

    places: where each row begins ("line 7"), for errors. sha256: of the file's bytes, in hexadecimal.
    """

    path: Path
    columns: Sequence[str]
    cells: Callable[[str], list[object]]
    places: Sequence[str]
    sha256: str

    @property
    def n(self) -> int:
        return len(self.places)

    def column(self, name: str) -> list[object]:
        """The cells of a column of texts or numbers. Raises UsageError where each is an array, an object or bytes."""
        cells = self.cells(name)
        kinds = {type(cell) for cell in cells if cell is not None}
        if kinds and kinds <= _NO_TEXTS.keys():
            found = " or ".join(sorted(_NO_TEXTS[kind] for kind in kinds))
            raise UsageError(
                f"{self.path} has {found} in every cell of its column {name!r}, expected texts or numbers: name "
                "another column, or write these as texts"
            )
        return cells

    def words(self, name: str) -> list[str]:
        """A column's cells as people read them, without blanks around them."""
        return [as_text(cell).strip() for cell in self.column(name)]


def as_text(cell: object) -> str:
    """A cell as people read it: a conversation as its turns, other lists and objects as JSON, "" for a missing one."""
    if isinstance(cell, str):
        return cell.encode("utf-8", "replace").decode("utf-8")  # half characters, which only JSON can spell: \ud83d
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    turns = cell if isinstance(cell, list) else []
    if turns and all(isinstance(turn, dict) and {"role", "content"} <= {*turn} for turn in turns):
        return "\n\n".join(f"{turn['role']}: {as_text(turn['content'])}" for turn in turns)
    return as_text(json.dumps(cell, ensure_ascii=False, default=str)) if isinstance(cell, (list, dict)) else str(cell)


def read_rows(path: Path, of: str, plural: str, edited: bool = False, known: Collection[str] = ()) -> Rows:
    """Read the rows of a CSV, JSONL, JSON (an array of objects) or parquet file, in UTF-8 or Excel's UTF-16.

    CSV is separated by commas, semicolons or tabs, of which the header tells, by the most names or one of those
    `known`. of, plural: what a row is, for errors ("text", "texts"). edited: as spreadsheets and labelling tools leave
    files: with rows of blanks, empty cells at the end of a line, or these cut off.
    Raises UsageError for a file that is absent, of another kind, broken or without rows, and EvenhandError for one that
    the system does not let us read.
    """
    with opened(path, (*SUFFIXES, ".tsv") if edited else SUFFIXES, plural) as file:
        content = file.read()
    return rows_in(content, path, of, edited, known)


def rows_in(content: bytes, path: Path, of: str, edited: bool = False, known: Collection[str] = ()) -> Rows:
    """Read rows of a file's bytes. path: its suffix decides the format; its name is for errors."""
    if not content.strip():
        raise UsageError(f"{path} has no rows, it is empty; give a file with one {of} a row")
    suffix = path.suffix.casefold()
    if suffix == ".parquet":
        found = _of_parquet(path, content)
    elif suffix in (".jsonl", ".json"):
        found = _of_json(path, _decoded(path, content))
    else:
        found = _of_csv(path, _decoded(path, content), edited, known)
    columns, cells, places = found
    if not places:
        raise UsageError(f"{path} has no rows; give a file with one {of} a row")
    return Rows(path, columns, cells, places, hashlib.sha256(content).hexdigest())


_Found = tuple[Sequence[str], Callable[[str], list[object]], Sequence[str]]  # Rows' columns, cells and places


def _decoded(path: Path, content: bytes) -> str:
    encoding = "utf-16" if content.startswith(UTF_16) else "utf-8-sig"  # the latter with or without its mark
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        if encoding == "utf-16":
            raise UsageError(
                f"{path} is broken UTF-16: {error.reason} at position {error.start:,}; save it as UTF-8"
            ) from error
        at = f"byte {content[error.start]:#04x} at position {error.start:,}"
        how = " (in Excel: CSV UTF-8)" if path.suffix.casefold() in (".csv", ".tsv") else ""
        raise UsageError(f"{path} is not UTF-8: {at}; save it as UTF-8{how}") from error


def _of_csv(path: Path, text: str, edited: bool, known: Collection[str]) -> _Found:
    """By the standard library's reader, since pandas' and pyarrow's don't tell lines and take broken rows for whole.

    A short row is filled (pandas), text behind a quote added to it, and after a quote that is never closed all rows of
    the file are one cell.
    """
    header: list[str] = []
    rows: list[list[str]] = []
    places: list[str] = []
    if (nul := text.find("\0")) >= 0:
        line = text.count("\n", 0, nul) + 1
        raise broken(path, "CSV", f"a NUL character at line {line:,}, as in UTF-16 without its mark; save it as UTF-8")
    begins, limit = 1, csv.field_size_limit(LONGEST)  # instead of 131,072; the whole process's: put back below
    try:
        separator = _separator(text, known)
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        for row in reader:
            line, begins = begins, reader.line_num + 1  # the reader only knows where a row ends
            if not (any(map(str.strip, row)) if edited else row):  # a blank line
                continue
            while edited and len(row) > len(header) and not row[-1].strip():
                row.pop()
            if not header:
                header = row
                continue
            row += [""] * (len(header) - len(row) if edited else 0)
            if len(row) != len(header):
                what = f"the row at line {line} has not the header's {len(header)} fields but {len(row)}"
                raise broken(path, "CSV", what)
            rows.append(row)
            places.append(f"line {line}")
    except csv.Error as error:
        why = ", whose quotation mark is never closed" if str(error) == "unexpected end of data" else ""
        raise broken(path, "CSV", f"{error} in the row at line {begins}{why}") from error
    finally:
        csv.field_size_limit(limit)

    def cells(name: str) -> list[object]:
        place = header.index(name)
        return [row[place] for row in rows]

    return header, cells, places


def _separator(text: str, known: Collection[str]) -> str:
    """Return the separator that gives the header most names, a known one among them if possible."""

    def names(separator: str) -> tuple[bool, int]:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        try:
            header = next((row for row in reader if any(map(str.strip, row))), [])
        except csv.Error:  # said with its line by whoever reads all
            return False, 0
        return any(name.strip().casefold() in known for name in header), len(header)

    return max(SEPARATORS, key=names)


def _of_json(path: Path, text: str) -> _Found:
    """Objects, one a line or in one array, whatever the suffix says: both are called .json and .jsonl."""
    values = lines(io.StringIO(text))
    if is_array(text):  # decoded whole, for a comma too many is an error here
        array = json_value(text)
        values = numbered(array if isinstance(array, list) else [array])
    objects: list[dict[str, object]] = []
    places: list[str] = []
    for place, value in values:
        if isinstance(value, Skipped):
            raise broken(path, "JSON", value.more or f"{place} is {value.reason}")
        if not isinstance(value, dict):
            raise broken(path, "JSON", f"{place} is {_KINDS.get(type(value), 'a number')}, not an object")
        objects.append(value)
        places.append(place)

    def storable(cell: object) -> object:
        return as_text(cell) if isinstance(cell, str) else cell

    names = {as_text(name): name for each in objects for name in each}
    return list(names), lambda name: [storable(each.get(names[name])) for each in objects], places


def _of_parquet(path: Path, content: bytes) -> _Found:
    with reading_parquet(path):
        table = pq.ParquetFile(pa.BufferReader(content)).read()
        table.validate(full=True)  # strings that are not UTF-8 would fail later

    def cells(name: str) -> list[object]:
        with reading_parquet(path):
            return list(table.column(table.column_names.index(name)).to_pylist())

    return table.column_names, cells, [f"row {number}" for number in range(1, table.num_rows + 1)]
