"""From a visitor's table to what a metric's `compute` takes, or a sentence that says what is wrong with it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evenhand.errors import UsageError
from evenhand.hub.apps.declared import PREDICTION, Column, Declared
from evenhand.row_files.rows import Rows, as_text, rows_in

LARGEST = 2 * 2**20  # bytes of a table: some 25,000 answers, each of which evaluate checks
MOST_GROUPS = 50  # of a column by which figures are split: each is scored with intervals of its own
BETWEEN = "|"  # of a list in a cell
_SAME_AS_PREDICTION = ("predictions", "answer", "answers")
_NUMBER = re.compile(r"-?(0|[1-9]\d{0,17})(\.\d{1,18})?([eE][-+]?\d{1,3})?")


@dataclass(frozen=True)
class Given:
    """Arguments of `compute`. columns: those beside. places: where each row stands ("line 7"), for errors.
    unused: names of the table's columns that the metric doesn't know.
    """

    predictions: list[Any]
    references: list[dict[str, Any]]
    columns: Mapping[str, Any]
    places: Sequence[str]
    unused: tuple[str, ...] = field(default=())


def of_table(content: bytes, name: str, declared: Declared) -> Given:
    """Of a file, or of what was pasted. name: its suffix says what it is, and errors call it so.

    Raises UsageError for what is too large, empty, broken, lacks a column, or has cells that can't be read.
    """
    refuse_too_large(len(content), name)
    known = {each.name for each in declared.needed} | {*_SAME_AS_PREDICTION}
    rows = rows_in(content, Path(name), "answer", edited=True, known=known)
    places = _by_column(rows, declared)
    if missing := [each.name for each in declared.needed if each.name not in places]:
        raise UsageError(
            f"{name} has no column {', '.join(missing)}; its first row must name "
            f"{', '.join(each.name for each in declared.needed)} (it names {_listed(rows.columns)})"
        )
    given = {column.name: _cells(rows, places[column.name], column) for column in declared.needed}
    beside: dict[str, Any] = {
        column.name: _values(rows.cells(places[column.name])) for column in declared.beside if column.name in places
    }
    crossed = _crossed(rows, declared)
    beside |= {keyword: {inner: cells for inner, _, cells in found} for keyword, found in crossed.items()}
    used = {*places.values(), *(header for found in crossed.values() for _, header, _ in found)}
    keys = [column.name for column in declared.references]
    return Given(
        predictions=given[PREDICTION],
        references=[dict(zip(keys, values)) for values in zip(*(given[key] for key in keys))],
        columns=beside,
        places=rows.places,
        unused=tuple(header for header in rows.columns if header not in used and header.strip()),
    )


def of_answers(text: str, asked: Mapping[str, str], declared: Declared) -> Given:
    """Of answers to one question, one a line. asked: the cell of each reference's column. Raises UsageError."""
    refuse_too_large(len(text.encode()), "the text")
    if not text.strip():
        raise UsageError("no answer came; paste at least one, one a line")
    if empty := [column.name for column in declared.references if not asked.get(column.name, "").strip()]:
        raise UsageError(f"{', '.join(empty)} is empty; say what was asked")
    lines = text.strip("\r\n").splitlines()
    places = [f"answer {number}" for number in range(1, len(lines) + 1)]
    reference = {each.name: _cell(asked[each.name].strip(), each, each.name) for each in declared.references}
    answers = [_cell(line.strip(), declared.prediction, place) for line, place in zip(lines, places)]
    return Given(answers, [reference] * len(answers), {}, places)


def refuse_too_large(n_bytes: int, name: str) -> None:
    if n_bytes > LARGEST:
        raise UsageError(
            f"{name} has {n_bytes / 2**20:.1f} MiB; up to {LARGEST // 2**20} are accepted here. For more, load the "
            "metric in Python: its README says how"
        )


def _by_column(rows: Rows, declared: Declared) -> dict[str, str]:
    """{a declared column's name: the header's, as it is written there}. Raises UsageError for one that came twice."""
    found: dict[str, str] = {}
    for header in rows.columns:
        name = header.strip().casefold()
        name = PREDICTION if name in _SAME_AS_PREDICTION else name
        if name in _keywords(declared):
            raise UsageError(f"{rows.path} has a column {header!r}; name it {name}:COLUMN, after what it holds")
        if name not in {each.name for each in (*declared.needed, *declared.beside)}:
            continue
        if name in found:
            raise UsageError(f"{rows.path} has the column {name} twice; take one out")
        found[name] = header
    return found


def _crossed(rows: Rows, declared: Declared) -> dict[str, list[tuple[str, str, list[str]]]]:
    """{keyword: (column, its header, its cells)} of headers like "by:axis". Raises UsageError for too many values."""
    found: dict[str, list[tuple[str, str, list[str]]]] = {}
    for keyword in _keywords(declared):
        for header in rows.columns:
            if not _is_of(header, keyword):
                continue
            cells = [as_text(cell).strip() for cell in rows.cells(header)]
            if (n := len(set(cells))) > MOST_GROUPS:
                raise UsageError(f"{header} has {n:,} different values; up to {MOST_GROUPS} are accepted here")
            found.setdefault(keyword, []).append((header.partition(":")[2].strip(), header, cells))
    return found


def _keywords(declared: Declared) -> list[str]:
    return [each.name.partition(":")[0] for each in declared.crossings]


def _is_of(header: str, keyword: str) -> bool:
    before, _, inner = header.partition(":")
    return before.strip().casefold() == keyword and bool(inner.strip())


def _cells(rows: Rows, header: str, column: Column) -> list[Any]:
    return [_cell(cell, column, place) for cell, place in zip(rows.cells(header), rows.places)]


def _cell(cell: object, column: Column, place: str) -> Any:
    """A text, or a list of texts or whole numbers. Raises UsageError saying where."""
    if column.kind == "text":
        return as_text(cell)
    values = _list(cell)
    if column.kind == "list of texts" and all(isinstance(each, str) for each in values or []):
        return values
    whole = [int(each) if str(each).strip() in ("0", "1") or _is_whole(each) else None for each in values or []]
    if column.kind == "list of whole numbers" and None not in whole:
        return whole
    example = f"1{BETWEEN}0{BETWEEN}1" if "numbers" in column.kind else f"John{BETWEEN}Emily"
    raise UsageError(f"{place}: {column.name} is {_short(cell)}; a {column.kind} is accepted, such as {example}")


def _list(cell: object) -> list[Any] | None:
    """A list as it is, or as JSON or with bars between its values; None for what is none."""
    if isinstance(cell, list):
        return cell
    text = as_text(cell).strip()
    if text.startswith("["):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            return [None]
        return found if isinstance(found, list) else [None]
    return [each.strip() for each in text.split(BETWEEN)] if text else []


def _is_whole(value: object) -> bool:
    text = as_text(value).strip() if not isinstance(value, bool) else ""
    return bool(re.fullmatch(r"-?\d{1,9}", text))


def _values(cells: Sequence[object]) -> list[Any]:
    """Of a column beside: numbers, with None where a cell is blank; where any is none, all are texts, or lists."""
    if any(isinstance(cell, list) or as_text(cell).lstrip().startswith("[") for cell in cells):
        return [_list(cell) for cell in cells]
    texts = [as_text(cell).strip() for cell in cells]
    if all(not text or _NUMBER.fullmatch(text) for text in texts) and any(texts):
        return [None if not text else int(text) if text.lstrip("-").isdigit() else float(text) for text in texts]
    return texts


def _listed(names: Sequence[str]) -> str:
    return _short(", ".join(names), 200).strip("'") or "none"


def _short(value: object, longest: int = 80) -> str:
    text = repr(as_text(value))
    return text if len(text) <= longest else f"{text[:longest]} …"
