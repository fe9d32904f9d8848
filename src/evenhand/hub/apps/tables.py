"""Turn a visitor's table into the arguments of a metric's `compute`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.errors import UsageError
from evenhand.hub.apps.declared import BETWEEN, PREDICTION, Column, Declared
from evenhand.row_files.rows import Rows, as_text, rows_in

LARGEST = 2 * 2**20  # bytes of a table: about 25,000 answers, each of which evaluate checks
MOST_GROUPS = 50  # values of a column by which figures are split: each is scored with intervals of its own
_SAME_AS_PREDICTION = ("predictions", "answer", "answers")
_NUMBER = re.compile(r"-?(0|[1-9]\d{0,17})(\.\d{1,18})?([eE][-+]?\d{1,3})?")
_WHOLE = re.compile(r"-?\d{1,9}")


@dataclass(frozen=True)
class Inputs:
    """Arguments of `compute`, and what errors and notes need.

    Attributes:
        columns: keyword columns, and {keyword: {column: values}} of crossings.
        places: where each row is in the table ("line 7").
        unused: headers that the metric doesn't know.
    """

    predictions: list[Any]
    references: list[dict[str, Any]]
    columns: Mapping[str, Any]
    places: Sequence[str]
    unused: Sequence[str] = ()


def read_table(content: bytes, name: str, declared: Declared) -> Inputs:
    """Read a file, or what was pasted.

    Args:
        name: the file's name for errors; its suffix tells the format.

    Raises:
        UsageError: the table is too large, empty or broken, lacks a column, or has a cell that can't be read.
    """
    if len(content) > LARGEST:
        raise UsageError(
            f"{name} has {len(content) / 2**20:.1f} MiB; the limit is {LARGEST // 2**20} MiB. Load the metric in "
            "Python to score more: its README says how"
        )
    known = [each.name for each in declared.needed]
    rows = rows_in(content, Path(name), "answer", edited=True, known={*_SAME_AS_PREDICTION, *known})
    headers = _match_headers(rows, declared)
    if missing := [each for each in known if each not in headers]:
        named = ", ".join(rows.columns)[:200]
        must = f"its first row must name {', '.join(known)} (it names {named})"
        raise UsageError(f"{name} has no column {', '.join(missing)}; {must}")
    needed = [
        [_parse_cell(cell, each, place) for cell, place in zip(rows.cells(headers[each.name]), rows.places)]
        for each in declared.needed
    ]
    columns: dict[str, Any] = {
        each.name: _parse_column(rows.cells(headers[each.name])) for each in declared.beside if each.name in headers
    }
    for keyword, inner, header in ((*key.split(":", 1), header) for key, header in headers.items() if ":" in key):
        groups = [as_text(cell).strip() for cell in rows.cells(header)]
        if (n := len(set(groups))) > MOST_GROUPS:
            raise UsageError(f"{header} has {n:,} different values; the limit is {MOST_GROUPS}")
        columns.setdefault(keyword, {})[inner] = groups
    references = [dict(zip(known[1:], values)) for values in zip(*needed[1:])]
    unused = [header for header in rows.columns if header.strip() and header not in headers.values()]
    return Inputs(needed[0], references, columns, rows.places, unused)


def _match_headers(rows: Rows, declared: Declared) -> dict[str, str]:
    """{a declared column's name, or "by:axis": the header as it is written}. Raises UsageError for a column twice."""
    known = {each.name for each in (*declared.needed, *declared.beside)}
    crossings = {each.name.partition(":")[0] for each in declared.crossings}
    found: dict[str, str] = {}
    for header in rows.columns:
        name = header.strip().casefold()
        keyword, inner = name.partition(":")[0].strip(), header.partition(":")[2].strip()
        if keyword in crossings and not inner:
            raise UsageError(f"{rows.path} has a column {header!r}; name it {keyword}:COLUMN, after what it holds")
        name = f"{keyword}:{inner}" if keyword in crossings else PREDICTION if name in _SAME_AS_PREDICTION else name
        if name in found:
            raise UsageError(f"{rows.path} has the column {name} twice; remove one")
        if name in known or keyword in crossings:
            found[name] = header
    return found


def _parse_cell(cell: object, column: Column, place: str) -> Any:
    """A text, or a list of texts or whole numbers. Raises UsageError naming the place."""
    if column.kind == "text":
        return as_text(cell)
    values = _parse_list(cell)
    if column.kind == "list of texts" and all(isinstance(each, str) for each in values):
        return values
    texts = [as_text(each).strip() for each in values]
    if column.kind == "list of whole numbers" and all(map(_WHOLE.fullmatch, texts)):
        return [int(text) for text in texts]
    example = f"1{BETWEEN}0{BETWEEN}1" if "numbers" in column.kind else f"John{BETWEEN}Emily"
    raise UsageError(f"{place}: {column.name} is {as_text(cell)[:80]!r}; it must be a {column.kind}, such as {example}")


def _parse_list(cell: object) -> list[Any]:
    """A list as it is, as JSON, or with bars between its values; broken JSON is a list of nothing known."""
    if isinstance(cell, list):
        return cell
    text = as_text(cell).strip()
    if not text.startswith("["):
        return [each.strip() for each in text.split(BETWEEN)] if text else []
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return [None]
    return found if isinstance(found, list) else [None]


def _parse_column(cells: Sequence[object]) -> list[Any]:
    """An optional column: lists; numbers, with None where a cell is blank; else texts."""
    texts = [as_text(cell).strip() for cell in cells]
    if any(isinstance(cell, list) or text.startswith("[") for cell, text in zip(cells, texts)):
        return [_parse_list(cell) for cell in cells]
    if any(texts) and all(not text or _NUMBER.fullmatch(text) for text in texts):
        return [json.loads(text) if text else None for text in texts]
    return texts
