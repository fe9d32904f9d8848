"""Records of a JSONL or parquet file of any size, or of a JSON array; what can't be read is named, not fatal."""

from __future__ import annotations

import difflib
import io
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from evenhand.errors import UsageError
from evenhand.row_files.json_values import NOT_UTF_8, Skipped, json_values
from evenhand.row_files.opening import PARQUET_ERRORS, UTF_16, opened, reading_parquet

SUFFIXES = (".json", ".jsonl", ".parquet")
UNREADABLE_ROW_GROUP = Skipped("row groups that can't be read, with all their rows")
NO_VALUE = Skipped("with a value that can't be read")
_ROWS = 1024  # of a parquet row group in memory together


def check(path: Path, columns: Sequence[str], plural: str) -> None:
    """Check a file before the first is read.

    Raises as `opened` does, and UsageError for UTF-16, broken parquet, and parquet that has none of the columns.
    """
    with opened(path, SUFFIXES, plural, "files") as file:
        if _is_parquet(path):
            _parquet(path, columns)
        elif file.read(2) in UTF_16:
            raise UsageError(f"{path} is UTF-16: save it as UTF-8")


def records(path: Path, columns: Sequence[str], plural: str) -> Iterator[object]:
    """Yield every record of a file that was checked, or a Skipped. Raises EvenhandError where it can't be read on.

    columns: those to read of parquet. plural: what records are, for errors ("captions").
    """
    with opened(path, SUFFIXES, plural) as file:
        if _is_parquet(path):
            yield from _parquet_rows(*_parquet(path, columns))
        else:
            values = json_values(io.TextIOWrapper(file, "utf-8-sig", "surrogateescape", newline="\n"))
            yield from (value for _, value in values)


def listed(names: Iterable[object]) -> str:
    """List names in one line, without half characters, which can't be printed."""
    some = ", ".join(str(name) for name, _ in zip(names, range(20)))
    return textwrap.shorten(some.encode("utf-8", "replace").decode("utf-8"), 200, placeholder=" …") or "none"


def _is_parquet(path: Path) -> bool:
    return path.suffix.casefold() == ".parquet"


def _parquet(path: Path, columns: Sequence[str]) -> tuple[pq.ParquetFile, list[str]]:
    with reading_parquet(path):
        parquet = pq.ParquetFile(path)  # by its path: of Python's files it has more in memory
        names = list(parquet.schema_arrow.names)
    if found := [name for name in columns if name in names]:
        return parquet, found
    close = difflib.get_close_matches(columns[0], names, n=1) if len(columns) == 1 else []
    advice = f"did you mean {close[0]!r}?" if close else f"its columns: {listed(names)}; --column names one"
    raise UsageError(f"{path} has no column {' or '.join(map(repr, columns))}; {advice}")


def _parquet_rows(file: pq.ParquetFile, columns: list[str]) -> Iterator[object]:
    for group in range(file.num_row_groups):
        try:
            for batch in file.iter_batches(batch_size=_ROWS, row_groups=[group], columns=columns):
                yield from _batch_rows(batch)
        except PARQUET_ERRORS:
            yield UNREADABLE_ROW_GROUP


def _batch_rows(batch: pa.RecordBatch) -> list[object]:
    try:
        return list(batch.to_pylist())
    except PARQUET_ERRORS as error:  # a value is none of Python's: row by row, then
        if batch.num_rows > 1:
            return [row for place in range(batch.num_rows) for row in _batch_rows(batch.slice(place, 1))]
        return [NOT_UTF_8 if isinstance(error, UnicodeDecodeError) else NO_VALUE]
