"""Tables of texts in files: those that annotators' tools hand back, and those that are written for them.

Spreadsheets and labelling tools add byte order marks, choose semicolons or tabs, reorder rows, drop empty cells at the
end of a line and add columns: all of that is read. Every cell is a text.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from evenhand.errors import EvenhandError, UsageError
from evenhand.run_folder import write_whole

SEPARATORS = ",;\t"
_LONGEST_FIELD = 2**31 - 1  # csv's own limit is 131,072 characters


@dataclass(frozen=True)
class Sheet:
    """Rows of a file, and where each of them begins ("line 7"), for errors."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[Mapping[str, str], ...]
    places: tuple[str, ...]

    def column(self, name: str, option: str = "") -> str:
        """The column of that name, blanks and case aside. Raises UsageError naming those there are."""
        found = [column for column in self.columns if column.strip().casefold() == name.casefold()]
        if len(found) == 1:
            return found[0]
        what = f"has {len(found)} columns {name!r}" if found else f"has no column {name!r}"
        named = ", ".join(self.columns[:20]) or "none"
        raise UsageError(f"{self.name} {what}; its columns: {named}" + (f" ({option} names one)" if option else ""))


def read_sheet(path: Path) -> Sheet:
    """A CSV (separated by commas, semicolons or tabs), JSONL, JSON or parquet file, in UTF-8 or UTF-16.

    Raises UsageError for a file that is absent, of another kind, broken or without rows, and EvenhandError for one that
    the system does not let us read.
    """
    if path.suffix.casefold() not in _READERS:
        raise UsageError(f"{path} came; a file that ends in {', '.join(_READERS)} is accepted: save it as one of these")
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise UsageError(f"{path} does not exist; name a file") from None
    except OSError as error:
        raise EvenhandError(f"can't read {path}: {error.strerror or error}; mend that, or name another file") from error
    sheet = _READERS[path.suffix.casefold()](path, content)
    if not sheet.rows:
        raise UsageError(f"{path} has no rows; give a file with one entry a row")
    return sheet


def as_text(cell: object) -> str:
    """A cell as people read it: a conversation as its turns, other lists and objects as JSON, "" for a missing one."""
    if isinstance(cell, str):
        return cell.encode("utf-8", "replace").decode("utf-8")  # half characters, which only JSON can spell
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if (
        isinstance(cell, list)
        and cell
        and all(isinstance(turn, dict) and {"role", "content"} <= {*turn} for turn in cell)
    ):
        return "\n\n".join(f"{turn['role']}: {as_text(turn['content'])}" for turn in cell)
    return as_text(json.dumps(cell, ensure_ascii=False, default=str)) if isinstance(cell, (list, dict)) else str(cell)


def _broken(path: Path, kind: str, what: str) -> UsageError:
    return UsageError(f"{path} is broken {kind}: {what}; mend the file, or write it again")


def _decoded(path: Path, content: bytes) -> str:
    utf_16 = content.startswith((b"\xff\xfe", b"\xfe\xff"))  # Excel's "Unicode text"
    try:
        return content.decode("utf-16" if utf_16 else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{path} is not UTF-8: byte {content[error.start]:#04x} at position {error.start:,}; save it as UTF-8 "
            "(in Excel: CSV UTF-8)"
        ) from error


def _read_csv(path: Path, content: bytes) -> Sheet:
    text = _decoded(path, content)
    lines = _lines(path, text, _separator(text))
    header = list(lines[0][0]) if lines else []
    while header and not header[-1].strip():
        header.pop()
    rows, places = [], []
    for cells, line in lines[1:]:
        if any(cell.strip() for cell in cells[len(header) :]):
            what = f"the row at line {line} has not the header's {len(header)} fields but {len(cells)}"
            raise _broken(path, "CSV", what)
        rows.append(dict(zip(header, cells + [""] * len(header))))
        places.append(f"line {line}")
    return Sheet(str(path), tuple(header), tuple(rows), tuple(places))


def _separator(text: str) -> str:
    """The one that parts the header into most names, and first of all finds our column of ids or entries there."""

    def names(separator: str) -> tuple[bool, int]:
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        header = next((cells for cells in lines if any(cell.strip() for cell in cells)), [])
        return not {"id", "entry"}.isdisjoint(name.strip().casefold() for name in header), len(header)

    with _long_fields():
        return max(SEPARATORS, key=names)


def _lines(path: Path, text: str, separator: str) -> list[tuple[list[str], int]]:
    """Rows that hold anything, and the line where each begins; the reader only knows where it ends."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    found, begins = [], 1
    with _long_fields():
        try:
            for cells in reader:
                if any(cell.strip() for cell in cells):
                    found.append((cells, begins))
                begins = reader.line_num + 1
        except csv.Error as error:
            raise _broken(path, "CSV", f"{error} in the row at line {begins}") from error
    return found


@contextmanager
def _long_fields() -> Iterator[None]:
    """The csv module's limit is the whole process's: put back afterwards."""
    before = csv.field_size_limit(_LONGEST_FIELD)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _read_json(path: Path, content: bytes) -> Sheet:
    """Objects, one a line or in one array, whatever the suffix says: both are called .json and .jsonl."""
    text = _decoded(path, content)
    if text.lstrip().startswith("["):
        array = _loads(path, text, 1)
        values = [(f"element {number}", value) for number, value in enumerate(array, start=1)]  # type: ignore[var-annotated, arg-type]
    else:  # str.splitlines would split inside strings, too
        lines = enumerate(text.split("\n"), start=1)
        values = [(f"line {number}", _loads(path, line, number)) for number, line in lines if line.strip()]
    for place, value in values:
        if not isinstance(value, dict):
            raise _broken(path, "JSON", f"{place} is no object")
    return _sheet(path, [value for _, value in values], [place for place, _ in values])


def _loads(path: Path, text: str, line: int) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        at = line + error.lineno - 1 if isinstance(error, json.JSONDecodeError) else line
        raise _broken(path, "JSON", f"{getattr(error, 'msg', error)} at line {at}") from error


def _read_parquet(path: Path, content: bytes) -> Sheet:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        rows = pq.ParquetFile(pa.BufferReader(content)).read().to_pylist()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _broken(path, "parquet", str(error).splitlines()[0].rstrip(".")) from error
    return _sheet(path, rows, [f"row {number}" for number in range(1, len(rows) + 1)])


def _sheet(path: Path, rows: Sequence[Mapping[str, object]], places: Sequence[str]) -> Sheet:
    columns = tuple(dict.fromkeys(name for row in rows for name in row))
    texts = tuple({name: as_text(row.get(name)) for name in columns} for row in rows)
    return Sheet(str(path), columns, texts, tuple(places))


_READERS: dict[str, Callable[[Path, bytes], Sheet]] = {
    ".csv": _read_csv,
    ".tsv": _read_csv,
    ".jsonl": _read_json,
    ".json": _read_json,
    ".parquet": _read_parquet,
}


def write_rows(path: Path, columns: Sequence[str], rows: Sequence[Mapping[str, str]]) -> None:
    """A CSV (with a byte order mark, without which Excel takes é for Ã©), JSONL or parquet file, by its suffix.

    Raises UsageError for another suffix, and EvenhandError where it can't be written.
    """
    check_suffix(path, (".csv", ".jsonl", ".parquet"))
    if path.suffix.casefold() == ".parquet":
        content = io.BytesIO()
        pd.DataFrame([[row[name] for name in columns] for row in rows], columns=list(columns), dtype=str).to_parquet(
            content
        )
        try:
            path.write_bytes(content.getvalue())
        except OSError as error:
            raise EvenhandError(f"can't write {path}: {error.strerror or error}; choose another --output") from error
        return
    write_whole(path, _csv(columns, rows) if path.suffix.casefold() == ".csv" else _jsonl(columns, rows))


def check_suffix(path: Path, accepted: Sequence[str]) -> None:
    if path.suffix.casefold() not in accepted:
        raise UsageError(f"--output {path} came; a file that ends in {' or '.join(accepted)} is accepted")


def _csv(columns: Sequence[str], rows: Sequence[Mapping[str, str]]) -> str:
    file = io.StringIO(newline="")
    writer = csv.writer(file)  # its \r\n makes it quote both characters inside cells
    writer.writerow(columns)
    writer.writerows([row[name] for name in columns] for row in rows)
    return "\ufeff" + file.getvalue()


def _jsonl(columns: Sequence[str], rows: Sequence[Mapping[str, str]]) -> str:
    return "".join(json.dumps({name: row[name] for name in columns}, ensure_ascii=False) + "\n" for row in rows)
