"""JSON values out of a text of any size, one a line or in one array; broken ones are named, not fatal.

The standard library decodes each value: pandas and pyarrow give up the whole file for a broken line, don't tell the
lines of the others, and change values (a column of 1 and null is 1.0 and NaN). Of the text, no more than a value and a
chunk is in memory.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TextIO

CHUNK = 2**20  # characters
LONGEST = 2**26  # of one value

_NO_BLANK = re.compile(r"[^ \t\n\r]")
_OUTSIDE, _STRING, _ESCAPE = map(re.compile, (r'["\[\]{},]', r'["\\\n]', r"[\s\S]"))  # what changes where we are
_NOT_UTF_8 = re.compile("[\udc80-\udcff]")  # what surrogateescape makes of such bytes
_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class Skipped:
    """What can't be read, and why. more: of this one, such as the decoder's words; of one reason, all are equal."""

    reason: str
    more: str = field(default="", compare=False)


NOT_JSON = Skipped("not JSON")
NOT_UTF_8 = Skipped("not UTF-8")
TOO_LONG = Skipped(f"longer than {LONGEST:,} characters")
CUT_OFF = Skipped("cut off, with all that follows")
AFTER_THE_ARRAY = Skipped("after the end of the array")


def json_values(file: TextIO) -> Iterator[tuple[str, object]]:
    """Where each value stands ("line 7"), and the value, or in place of a broken one a Skipped. Blank lines are none.

    file: at its beginning; only "\\n" ends its lines, and bytes that are not UTF-8 are escaped ("surrogateescape").
    """
    head = file.read(2**20)
    file.seek(0)
    return numbered(_Array(file).values()) if is_array(head) else lines(file)


def is_array(head: str) -> bool:
    """By what stands there: both kinds are called .json and .jsonl. Lines may hold arrays, too."""
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


def json_value(text: str, first_line: int = 1) -> object:
    if not text.isascii() and _NOT_UTF_8.search(text):
        return NOT_UTF_8
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        more = f"{error.msg.removesuffix(' at')} at line {first_line + error.lineno - 1}, column {error.colno}"
    except (ValueError, RecursionError) as error:  # a number of too many digits, too deep a nesting
        more = f"{error} at line {first_line}"
    return Skipped(NOT_JSON.reason, more)


class _Array:
    """The elements of a top-level array. After a broken one, reading goes on behind the comma that ends it."""

    def __init__(self, file: TextIO):
        self._file = file
        self._text = ""
        self._at = 0  # of the text, what stands before has been read
        self._too_long = False

    def values(self) -> Iterator[object]:
        self._next()
        self._at += 1  # the bracket
        while (character := self._next()) not in ("]", ""):
            if character == ",":
                self._at += 1
            elif (element := self._element()) is not CUT_OFF:
                yield element
        self._at += 1
        if not character:
            yield CUT_OFF
        elif self._next():
            yield AFTER_THE_ARRAY

    def _next(self) -> str:
        """The next character that is not blank; "" at the end of the file."""
        found = self._find(_NO_BLANK, self._at)
        self._at = found.start() if found else len(self._text)
        return found.group() if found else ""

    def _find(self, what: re.Pattern[str], place: int) -> re.Match[str] | None:
        """With another chunk, in place of what has been read, until it is there; None at the end of the file."""
        while (found := what.search(self._text, place)) is None:
            if len(self._text) - self._at > LONGEST:
                self._at, self._too_long = len(self._text), True
            place = len(self._text) - self._at
            chunk = self._file.read(CHUNK)
            self._text, self._at = self._text[self._at :] + chunk, 0
            if not chunk:
                return None
        return found

    def _element(self) -> object:
        try:
            value, end = _DECODER.raw_decode(self._text, self._at)
            follows = _NO_BLANK.search(self._text, end)
        except (ValueError, RecursionError):
            follows = None
        # A number may go on in the next chunk, and only what a comma or the bracket follows is an element.
        if follows is None or follows.group() not in ",]":
            return self._measured_element()
        begin, self._at = self._at, follows.start()
        return NOT_UTF_8 if not self._text.isascii() and _NOT_UTF_8.search(self._text, begin, end) else value

    def _measured_element(self) -> object:
        """Of an element that is broken, or not yet read whole, the end is sought first: each character once."""
        place, depth, within, self._too_long = self._at, 0, _OUTSIDE, False
        while found := self._find(within, place):
            token, place = found.group(), found.end()
            if within is _OUTSIDE:
                if depth == 0 and token in ",]":
                    begin, self._at = self._at, found.start()
                    return TOO_LONG if self._too_long else json_value(self._text[begin : self._at])
                within = _STRING if token == '"' else _OUTSIDE
                depth += (token in "[{") - (depth > 0 and token in "]}")
            elif token == "\n" or (within is _STRING and token == '"'):
                within = _OUTSIDE  # a string can't hold a line's end, so that one ends a string without a quote, too
            else:
                within = _ESCAPE if within is _STRING else _STRING
        last, self._at = self._text[self._at :], len(self._text)
        value = CUT_OFF if self._too_long else json_value(last)
        return CUT_OFF if isinstance(value, Skipped) else value
