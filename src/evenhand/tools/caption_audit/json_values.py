"""JSON values out of a file of any size, one a line or in one array; broken ones are named, not fatal.

The standard library decodes each value; of the file, no more than a value and a chunk is in memory.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

CHUNK = 2**20  # bytes
LONGEST = 2**26  # of one value: 64 MiB

_BLANKS = re.compile(r"[ \t\n\r]*")
_OUTSIDE_STRINGS = re.compile(r'["\[\]{},]')
# A string can't hold a line's end, so that one ends a string whose quote is missing, too: the next line is read.
_IN_STRING = re.compile(r'"|\n|\\[^\n]')
_NO_CHARACTERS = re.compile("[\udc80-\udcff]")  # what surrogateescape makes of bytes that are not UTF-8
_DECODER = json.JSONDecoder()


class Skipped(NamedTuple):
    """What can't be read, and why; came: the columns that it has, where that tells more."""

    reason: str
    came: str = ""


NOT_JSON = Skipped("not JSON")
NOT_UTF_8 = Skipped("not UTF-8")
TOO_LONG = Skipped(f"longer than {LONGEST // 2**20} MiB")
CUT_OFF = Skipped("cut off, with all that follows")
AFTER_THE_ARRAY = Skipped("after the end of the array")


def json_values(file: BinaryIO) -> Iterator[object]:
    """The values of a file in UTF-8, or in place of each broken one a Skipped. Blank lines are none.

    file: at its beginning, buffered by at least CHUNK bytes.
    """
    return _Array(file).values() if _is_array(_peek(file)) else _lines(file)


def is_utf_16(file: BinaryIO) -> bool:
    return _peek(file).startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))


def _peek(file: BinaryIO) -> bytes:
    return file.peek(CHUNK)  # type: ignore[attr-defined, no-any-return]  # of io.BufferedReader


def _is_array(head: bytes) -> bool:
    """By what stands there: both kinds are called .json and .jsonl. Lines may hold arrays, too."""
    head = head.removeprefix(codecs.BOM_UTF8).lstrip()
    first_line, _, more = head.partition(b"\n")
    return head.startswith(b"[") and not (more.strip() and isinstance(_value(first_line), list))


def _lines(file: BinaryIO) -> Iterator[object]:
    first = True
    while line := file.readline(LONGEST + 1):
        if first:
            line, first = line.removeprefix(codecs.BOM_UTF8), False
        if len(line) > LONGEST:
            while line and not line.endswith(b"\n"):
                line = file.readline(CHUNK)
            yield TOO_LONG
        elif not line.isspace():
            yield _value(line)


def _value(text: bytes | str) -> object:
    try:
        return json.loads(text.decode() if isinstance(text, bytes) else text)
    except UnicodeDecodeError:
        return NOT_UTF_8
    except (ValueError, RecursionError):  # a number of too many digits and too deep a nesting, too
        return NOT_JSON


class _Array:
    """The elements of a top-level array. After a broken one, reading goes on behind the comma that ends it."""

    def __init__(self, file: BinaryIO):
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape")
        self._text = ""
        self._at = 0  # of the text, what stands before has been read

    def values(self) -> Iterator[object]:
        self._next()
        self._at += 1  # the bracket
        while (character := self._next()) not in ("]", ""):
            if character == ",":
                self._at += 1
            else:
                element = self._element()
                yield element
                if element is CUT_OFF:
                    return
        if not character:
            yield CUT_OFF
            return
        self._at += 1
        if self._next():
            yield AFTER_THE_ARRAY

    def _next(self) -> str:
        """The next character that is not blank; "" at the end of the file."""
        while (at := self._skip_blanks(self._at)) == len(self._text):
            self._at = at
            if not self._read_on():
                return ""
        self._at = at
        return self._text[at]

    def _skip_blanks(self, at: int) -> int:
        blanks = _BLANKS.match(self._text, at)
        return blanks.end() if blanks else at

    def _read_on(self) -> bool:
        """Another chunk, in place of what has been read; False at the end of the file."""
        chunk = self._file.read(CHUNK)
        more = self._decoder.decode(chunk, final=not chunk)
        self._text = self._text[self._at :] + more
        self._at = 0
        return bool(chunk or more)

    def _element(self) -> object:
        try:
            value, end = _DECODER.raw_decode(self._text, self._at)
        except (ValueError, RecursionError):
            return self._measured_element()
        end = self._skip_blanks(end)
        # A number may go on in the next chunk, and only what a comma or the bracket follows is an element.
        if end == len(self._text) or self._text[end] not in ",]":
            return self._measured_element()
        begin, self._at = self._at, end
        return NOT_UTF_8 if _NO_CHARACTERS.search(self._text, begin, end) else value

    def _measured_element(self) -> object:
        """Of an element that is broken, or not yet read whole, the end is sought first: each character once."""
        place, depth, in_string, too_long = self._at, 0, False, False
        while True:
            found = (_IN_STRING if in_string else _OUTSIDE_STRINGS).search(self._text, place)
            if found is None:
                # A backslash at the very end belongs to the next character.
                left = 1 if in_string and self._text.endswith("\\") and place < len(self._text) else 0
                if too_long or len(self._text) - self._at > LONGEST:
                    self._at, too_long = len(self._text) - left, True
                place = len(self._text) - self._at - left
                if not self._read_on():
                    last, self._at = self._text[self._at :], len(self._text)
                    value = CUT_OFF if too_long else self._whole(last)
                    return CUT_OFF if isinstance(value, Skipped) else value
                continue
            token, place = found.group(), found.end()
            if in_string:
                in_string = token not in ('"', "\n")
            elif token == '"':
                in_string = True
            elif token in "[{":
                depth += 1
            elif depth == 0 and token in ",]":
                begin, self._at = self._at, found.start()
                return TOO_LONG if too_long else self._whole(self._text[begin : self._at])
            elif depth and token in "]}":
                depth -= 1

    @staticmethod
    def _whole(element: str) -> object:
        return NOT_UTF_8 if _NO_CHARACTERS.search(element) else _value(element)
