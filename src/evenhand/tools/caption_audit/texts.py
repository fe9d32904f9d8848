"""The texts of a file, one after another: a caption, or all questions and answers of a conversation.

A text is a record, for LCS-558K is a set of image-text pairs (paper 004, section 6): one question, one answer, counted
together ("question-answer pairs", Table A9).
"""

from __future__ import annotations

import difflib
import os
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from evenhand.errors import UsageError
from evenhand.tools.caption_audit.json_values import CHUNK, NOT_UTF_8, Skipped, is_utf_16, json_values

COLUMNS = ("conversations", "caption", "text", "value")  # LLaVA's, and those of simple rows: the first that has text
SUFFIXES = (".json", ".jsonl", ".parquet")
ACCEPTED = f"a file that ends in {', '.join(SUFFIXES)}"
BETWEEN_TURNS = "\n\0\n"  # no word and no blank: "… in flight" and "attendant …" are not a flight attendant

_ROWS = 1024  # of a parquet row group in memory at once
_TURN = ("value", "content")  # LLaVA's text of a turn, and that of chat messages

NO_RECORD = Skipped("not an object")
NO_TEXT = Skipped("without a text in their column")
BLANK = Skipped("blank")
UNREADABLE_ROW_GROUP = Skipped("row groups that can't be read, with all their rows")


def check(path: Path, column: str | None = None) -> None:
    """Raises UsageError for what is absent, a folder, of another kind, not readable, or a parquet without the column.

    For all files before the first is read.
    """
    if os.path.isdir(path):
        raise UsageError(f"{path} is a folder; name files of captions in it")
    if path.suffix.casefold() not in SUFFIXES:
        raise UsageError(f"{path} came; {ACCEPTED} is accepted: save the captions as one of these")
    parquet = path.suffix.casefold() == ".parquet"
    try:
        with path.open("rb", buffering=CHUNK) as file:
            utf_16 = not parquet and is_utf_16(file)
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: no file can have that name
        raise UsageError(f"{path} does not exist; name a file of captions") from None
    except OSError as error:
        raise _unreadable(path, error) from error
    if utf_16:
        raise UsageError(f"{path} is UTF-16; UTF-8 is accepted: save it as UTF-8")
    if parquet:
        with _open_parquet(path) as file:
            _parquet_columns(path, file, column)


def texts(path: Path, column: str | None = None) -> Iterator[str | Skipped]:
    """Of every record its text, or why it has none.

    path: one that was checked; JSON (an array of objects), JSONL or parquet. column: where texts are (default: the
    first of COLUMNS that holds one): each cell a text, a list of texts, or of turns with a `value` (or `content`) each.
    Raises UsageError for a file that can't be read on.
    """
    for record in _parquet_rows(path, column) if path.suffix.casefold() == ".parquet" else _json_records(path):
        yield record if isinstance(record, Skipped) else text_of(record, column)


def text_of(record: object, column: str | None = None) -> str | Skipped:
    if isinstance(record, dict):
        names = [name for name in _sought(column) if name in record]
        if not names:
            return Skipped(f"without a column {_or(column)}", _listed(list(record)))
        found = [_text(record[name]) for name in names]
        # Of several columns, the first that has text; of several reasons, that of the first column.
        return next((text for text in found if isinstance(text, str)), found[0])
    return NO_RECORD


def _text(cell: object) -> str | Skipped:
    parts = [cell] if isinstance(cell, str) else []
    if isinstance(cell, list):
        turns = [_turn(part) if isinstance(part, dict) else part for part in cell]
        parts = [part for part in turns if isinstance(part, str)]
    if not parts:
        return NO_TEXT
    return BETWEEN_TURNS.join(parts) if any(map(str.strip, parts)) else BLANK


def _turn(turn: dict[str, object]) -> object:
    return next((turn[name] for name in _TURN if isinstance(turn.get(name), str)), None)


def _sought(column: str | None) -> tuple[str, ...]:
    return COLUMNS if column is None else (column,)


def _or(column: str | None) -> str:
    return " or ".join(map(repr, _sought(column)))


def _listed(names: Sequence[object]) -> str:
    return textwrap.shorten(", ".join(map(str, names[:20])), 200, placeholder=" …") or "none"


def _unreadable(path: Path, error: OSError) -> UsageError:
    return UsageError(f"can't read {path}: {error.strerror or error}; mend that, or name another file")


def _json_records(path: Path) -> Iterator[object]:
    try:
        with path.open("rb", buffering=CHUNK) as file:
            yield from json_values(file)
    except OSError as error:
        raise _unreadable(path, error) from error


def _open_parquet(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path)
    except (pa.ArrowException, OSError, ValueError) as error:
        what = textwrap.shorten(str(error).rstrip("."), 200, placeholder=" …")
        raise UsageError(f"{path} is broken parquet: {what}; mend the file, or write it again") from error


def _parquet_columns(path: Path, file: pq.ParquetFile, column: str | None) -> list[str]:
    names = list(file.schema_arrow.names)
    found = [name for name in _sought(column) if name in names]
    if found:
        return found
    close = difflib.get_close_matches(column, names, n=1) if column is not None else []
    advice = f"did you mean {close[0]!r}?" if close else f"its columns: {_listed(names)}; --column names one"
    raise UsageError(f"{path} has no column {_or(column)}; {advice}")


def _parquet_rows(path: Path, column: str | None) -> Iterator[object]:
    with _open_parquet(path) as file:
        columns = _parquet_columns(path, file, column)
        for group in range(file.num_row_groups):
            try:
                for batch in file.iter_batches(batch_size=_ROWS, row_groups=[group], columns=columns):
                    yield from _batch_rows(batch)
            except (pa.ArrowException, OSError, ValueError):
                yield UNREADABLE_ROW_GROUP


def _batch_rows(batch: pa.RecordBatch) -> list[object]:
    try:
        return list(batch.to_pylist())
    except ValueError:  # somewhere bytes are not UTF-8, or a value is none of Python's: row by row, then
        return [_row(batch.slice(row, 1)) for row in range(batch.num_rows)]


def _row(one: pa.RecordBatch) -> object:
    try:
        return one.to_pylist()[0]
    except UnicodeDecodeError:
        return NOT_UTF_8
    except ValueError:
        return NO_TEXT
