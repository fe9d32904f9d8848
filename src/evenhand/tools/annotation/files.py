"""Tables of texts in files: those that annotators' tools hand back, and those that are written for them.

Spreadsheets and labelling tools add byte order marks, choose semicolons or tabs, reorder rows, drop empty cells at the
end of a line and add columns: all of that is read. Every cell is a text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from evenhand.errors import UsageError
from evenhand.row_files import as_text, read_rows
from evenhand.row_files.spreadsheets import csv_text, unescaped
from evenhand.whole_files import write_whole

TABLES = (".csv", ".jsonl", ".parquet")  # that are written
KEYS = ("id", "entry")  # columns of which our sheets have one


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


def read_sheet(path: Path, verbatim: bool = False) -> Sheet:
    """A CSV (separated by commas, semicolons or tabs), JSONL, JSON or parquet file, in UTF-8 or UTF-16.

    An apostrophe before what looks like a formula is no part of a text, since `write_rows` put it there; unless
    `verbatim`, for files that somebody else wrote.
    Raises UsageError for a file that is absent, of another kind, broken or without rows, and EvenhandError for one that
    the system does not let us read.
    """
    read = read_rows(path, "entry", "entries", edited=True, known=KEYS)
    plain = str if verbatim or path.suffix.casefold() not in (".csv", ".tsv") else unescaped
    cells = {plain(name): [plain(as_text(cell)) for cell in read.cells(name)] for name in dict.fromkeys(read.columns)}
    rows = tuple({name: column[row] for name, column in cells.items()} for row in range(read.n))
    return Sheet(str(path), tuple(map(plain, read.columns)), rows, tuple(read.places))


def write_rows(path: Path, columns: Sequence[str], rows: Sequence[Mapping[str, str]]) -> None:
    """A CSV that computes nothing in a spreadsheet, JSONL or parquet file, by its suffix.

    Raises UsageError for another suffix, and EvenhandError where it can't be written.
    """
    check_suffix(path, TABLES)
    cells = [[row[name] for name in columns] for row in rows]
    if path.suffix.casefold() == ".jsonl":
        write_whole(path, "".join(json.dumps(dict(zip(columns, row)), ensure_ascii=False) + "\n" for row in cells))
        return
    if path.suffix.casefold() == ".csv":
        write_whole(path, "\ufeff" + csv_text(columns, cells))  # or Excel takes é for Ã©
        return
    write_whole(path, pd.DataFrame(cells, columns=list(columns), dtype=str).to_parquet())


def check_suffix(path: Path, accepted: Sequence[str]) -> None:
    if path.suffix.casefold() not in accepted:
        raise UsageError(f"--output {path} came; a file that ends in {' or '.join(accepted)} is accepted")
