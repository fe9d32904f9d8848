"""Tables of texts: datasets, runs and files that people label, and the files that annotation reads and writes.

Spreadsheets and labelling tools add byte order marks, choose semicolons or tabs, reorder rows, drop empty cells at the
end of a line and add columns: all of that is read. Every cell is a text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from evenhand.errors import UsageError, unknown_name
from evenhand.flow.run_folder import RunFolder
from evenhand.library import dataset_names, load_dataset, packaged_dataset_names
from evenhand.paths import typed_path
from evenhand.report.tables import csv_text, unescaped
from evenhand.row_files import as_text, read_rows
from evenhand.tools.annotation.dataset_items import Item, Shown
from evenhand.whole_files import write_whole

if TYPE_CHECKING:
    import datasets

TABLES = (".csv", ".jsonl", ".parquet")


@dataclass(frozen=True)
class Sheet:
    """Rows of a table, and the place of each in its file ("line 7"), for errors."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[Mapping[str, str], ...]
    places: tuple[str, ...]

    def column(self, name: str, option: str = "") -> str:
        """Find a column by its name, ignoring case and surrounding blanks. Raises UsageError listing the columns."""
        found = [column for column in self.columns if column.strip().casefold() == name.casefold()]
        if len(found) == 1:
            return found[0]
        what = f"has {len(found)} columns {name!r}" if found else f"has no column {name!r}"
        columns = ", ".join(self.columns[:20]) or "none"
        raise UsageError(f"{self.name} {what}; its columns: {columns}" + (f" ({option} names one)" if option else ""))


def read_sheet(path: Path, verbatim: bool = False) -> Sheet:
    """Read a CSV (separated by commas, semicolons or tabs), JSONL, JSON or parquet file, in UTF-8 or UTF-16.

    Args:
        verbatim: keep the apostrophe that `write_rows` puts before a text that looks like a formula: for files that
            evenhand did not write.

    Raises:
        UsageError: for a file that is absent, of another kind, broken or without rows.
        EvenhandError: for a file that can't be opened.
    """
    read = read_rows(path, "entry", "entries", edited=True, known=("id", "entry"))
    plain = str if verbatim or path.suffix.casefold() not in (".csv", ".tsv") else unescaped
    cells = {plain(name): [plain(as_text(cell)) for cell in read.cells(name)] for name in dict.fromkeys(read.columns)}
    rows = tuple({name: column[row] for name, column in cells.items()} for row in range(read.n))
    return Sheet(str(path), tuple(map(plain, read.columns)), rows, tuple(read.places))


def write_rows(path: Path, columns: Sequence[str], rows: Sequence[Mapping[str, str]]) -> None:
    """Write a CSV, JSONL or parquet file, by its suffix."""
    check_suffix(path, TABLES)
    write_whole(path, format_rows(path.suffix, columns, rows))


def format_rows(suffix: str, columns: Sequence[str], rows: Sequence[Mapping[str, str]]) -> bytes:
    """Return the content of a CSV file (which computes nothing in a spreadsheet), a JSONL or a parquet file."""
    cells = [[row[name] for name in columns] for row in rows]
    if suffix.casefold() == ".parquet":
        return bytes(pd.DataFrame(cells, columns=list(columns), dtype=str).to_parquet())
    if suffix.casefold() == ".csv":
        return ("\ufeff" + csv_text(columns, cells)).encode()  # without the mark Excel takes é for Ã©
    return format_jsonl(dict(zip(columns, row)) for row in cells).encode()


def format_jsonl(rows: Iterable[Mapping[str, object]]) -> str:
    """Return one JSON object a line."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def write_jsonl(path: Path, rows: Iterable[Mapping[str, object]]) -> None:
    write_whole(path, format_jsonl(rows))


def check_suffix(path: Path, accepted: Sequence[str]) -> None:
    if path.suffix.casefold() not in accepted:
        raise UsageError(f"--output must end in {' or '.join(accepted)}, got {path}")


def read_source(source: str, rows_from: str = "evenhand") -> Sheet:
    """Read the rows of a dataset (NAME[:CONFIG[:SPLIT]]), a file or a finished run.

    Args:
        rows_from: of a dataset, "evenhand" (packaged rows) or "official" (published rows).
    """
    if _is_dataset(source):
        rows = [{name: as_text(cell) for name, cell in row.items()} for row in _read_dataset(source, rows_from)]
        if not rows:
            raise UsageError(f"{source} has no rows")
        return Sheet(source, tuple(rows[0]), tuple(rows), tuple(f"row {number}" for number in range(1, len(rows) + 1)))
    if rows_from != "evenhand":
        raise UsageError(f"--source {rows_from} has no effect on a file or a run ({source}); remove it")
    path = typed_path(source)
    return read_sheet(RunFolder.open(path).predictions_file) if path.is_dir() else read_sheet(path, verbatim=True)


def is_shown(source: str, shown: Shown) -> bool:
    """Whether the source is the packaged dataset that a scheme is for."""
    return _is_dataset(source) and source.partition(":")[0] == shown.dataset


def read_items(source: str, shown: Shown, rows_from: str = "evenhand") -> list[Item]:
    """Read the entries of the packaged dataset that a scheme is for."""
    items: list[Item] = []
    try:
        for row in _read_dataset(source, rows_from, shown.config, shown.reads):
            items.extend(shown.items(row))
    except KeyError as error:
        where = f"{shown.dataset}:{shown.config}"
        raise UsageError(f"{source} has no column {error}, which is judged; {where} has it") from error
    if not items:
        raise UsageError(f"{source} has no rows")
    return items


def _is_dataset(source: str) -> bool:
    path = typed_path(source)
    return not (path.suffix or path.exists())


def _read_dataset(
    source: str, rows_from: str, default: str | None = None, columns: Sequence[str] | None = None
) -> Iterator[dict[str, Any]]:
    """Read rows of all splits unless one is named, with class names instead of numbers.

    default: the configuration where none is named. columns: those read, pictures undecoded; None: all but pictures.
    """
    import datasets

    for split in _load_splits(source, rows_from, default):
        pictures = [name for name, kind in split.features.items() if isinstance(kind, datasets.Image)]
        if columns is None:
            split = split.remove_columns(pictures)
        else:
            split = split.select_columns([name for name in columns if name in split.features])
            for name in {*pictures} & {*columns}:
                split = split.cast_column(name, datasets.Image(decode=False))
        classes = {name: kind.names for name, kind in split.features.items() if isinstance(kind, datasets.ClassLabel)}
        for row in split:
            yield row | {name: names[row[name]] for name, names in classes.items() if row[name] is not None}


def _load_splits(source: str, rows_from: str, default: str | None) -> list[datasets.Dataset]:
    name, config, split, *more = [*source.split(":"), "", ""]
    if any(more):
        raise UsageError(f"a dataset is NAME, NAME:CONFIG or NAME:CONFIG:SPLIT, got {source!r}")
    if rows_from != "official" and name in dataset_names() and name not in packaged_dataset_names():
        raise UsageError(f"{name} has published rows only; add --source official to read them")
    splits = load_dataset(name, config or default, source=rows_from)
    if split and split not in splits:
        raise unknown_name(f"split of {name}", split, list(splits))
    return [splits[split]] if split else list(splits.values())
