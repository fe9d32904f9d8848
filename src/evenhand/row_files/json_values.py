"""JSON values of a file, one a line or in one array; broken lines are named, not fatal.

The standard library decodes each value: pandas and pyarrow give up the whole file for a broken line, don't tell the
lines of the others, and change values (a column of 1 and null is 1.0 and NaN).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TextIO

CHUNK = 2**20  # characters
LONGEST = 2**26  # of one value

_NOT_UTF_8 = re.compile("[\udc80-\udcff]")  # what surrogateescape makes of such bytes


@dataclass(frozen=True)
class Skipped:
    """A value that can't be read, and why. more: what the decoder said; those of one reason are equal."""

    reason: str
    more: str = field(default="", compare=False)


NOT_JSON = Skipped("not JSON")
NOT_UTF_8 = Skipped("not UTF-8")
TOO_LONG = Skipped(f"longer than {LONGEST:,} characters")


def json_values(file: TextIO) -> Iterator[tuple[str, object]]:
    """Yield the place of each value ("line 7") and the value, or a Skipped for a broken one; blank lines are left out.

    An array is read whole, and is one Skipped where it is broken.

    file: at its beginning; only "\\n" ends its lines, and bytes that are not UTF-8 are escaped ("surrogateescape").
    """
    head = file.read(2**20)
    file.seek(0)
    if not is_array(head):
        yield from lines(file)
        return
    text = file.read()
    array = json_value(text, checked=False)
    foreign = not text.isascii() and _NOT_UTF_8.search(text)
    for place, value in numbered(array if isinstance(array, list) else [array]):
        is_foreign = foreign and _NOT_UTF_8.search(json.dumps(value, ensure_ascii=False, default=str))
        yield place, NOT_UTF_8 if is_foreign else value


def is_array(head: str) -> bool:
    """Whether a file is one array, by its head: both kinds are called .json and .jsonl. Lines may hold arrays, too."""
    head = head.lstrip(" \t\n\r")
    first_line, _, more = head.partition("\n")
    return head.startswith("[") and not (more.strip() and isinstance(json_value(first_line), list))


def numbered(array: Iterable[object]) -> Iterator[tuple[str, object]]:
    return ((f"element {number} of the array", value) for number, value in enumerate(array, start=1))


def lines(file: TextIO) -> Iterator[tuple[str, object]]:
    number = 0
    while line := file.readline(LONGEST + 1):
        number += 1
        if len(line) > LONGEST:
            while line and not line.endswith("\n"):
                line = file.readline(CHUNK)
            yield f"line {number}", TOO_LONG
        elif not line.isspace():
            yield f"line {number}", json_value(line.rstrip("\n"), number)


def json_value(text: str, first_line: int = 1, checked: bool = True) -> object:
    """Decode a value, or say why it can't be. checked: for bytes that are not UTF-8."""
    if checked and not text.isascii() and _NOT_UTF_8.search(text):
        return NOT_UTF_8
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        more = f"{error.msg.removesuffix(' at')} at line {first_line + error.lineno - 1}, column {error.colno}"
    except (ValueError, RecursionError) as error:  # a number of too many digits, too deep a nesting
        more = f"{error} at line {first_line}"
    return Skipped(NOT_JSON.reason, more)
