"""A run folder's files as somebody else may have left them: damaged, edited, of another version. Never a traceback."""

from __future__ import annotations

import json
import math
import os
import re
import stat
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evenhand.errors import EvenhandError

AGAIN = "repeat the evenhand command that made it, which asks nothing twice"
AWAY = "move the folder away and run again, or choose another --output"
_DEEPEST = 64  # levels of nesting; ours have fewer than ten
_WRONG = (ArithmeticError, AttributeError, LookupError, NotImplementedError, RecursionError, TypeError, ValueError)
"""What code raises that meets other keys, types and columns than were written."""
_HALF_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")


class NotRead(ValueError):
    """Why nothing of a file was read, in words."""


def read_regular(path: Path, largest: int | None = None) -> bytes:
    """Of a regular file, or a link to one. Raises OSError, and NotRead for anything else and for more bytes than
    largest: a pipe would wait for ever, a device may never end.
    """
    is_none = "it is a folder, a pipe or a device, and regular files are read"
    if not stat.S_ISREG(path.stat().st_mode):
        raise NotRead(is_none)
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0))) as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):  # it may have been exchanged
            raise NotRead(is_none)
        content = file.read() if largest is None else file.read(largest + 1)
    if largest is not None and len(content) > largest:
        raise NotRead(f"it has {max(found.st_size, len(content)):,} bytes, and {largest:,} are accepted")
    return content


def read_object(path: Path, advice: str, largest: int | None = None, encoding: str = "utf-8") -> dict[str, Any]:
    """The JSON object of a file that evenhand wrote. Raises EvenhandError, ending in advice, for everything else.

    NaN, infinity, half characters and names that come twice in one object are refused, too: evenhand writes none, and
    readers differ in what they make of them. largest: bytes of the file. encoding: utf-8-sig also takes a byte order
    mark, as other people's editors write it.
    """
    try:
        text = read_regular(path, largest).decode(encoding)
        record = json.loads(text, parse_constant=_no_number, parse_float=_finite, object_pairs_hook=_once_each)
        if _HALF_CHARACTER.search(text):
            json.dumps(record, ensure_ascii=False).encode()
        _refuse_deep(record)
    except OSError as error:
        raise EvenhandError(f"can't read {path}: {error.strerror or error}; mend that, or name another run") from error
    except NotRead as error:
        raise EvenhandError(f"can't read {path}: {error}; {advice}") from error
    except (ValueError, RecursionError) as error:
        raise EvenhandError(f"{path} is no JSON ({shortened(error)}); {advice}") from error
    if not isinstance(record, dict):
        raise EvenhandError(f"{path} is no JSON object; {advice}")
    return record


@contextmanager
def as_written(*paths: Path) -> Iterator[None]:
    """Within, whatever trips over what these run folders hold raises EvenhandError naming it."""
    try:
        yield
    except EvenhandError:
        raise
    except _WRONG as error:
        what = f"it has no {error}" if isinstance(error, KeyError) else f"{type(error).__name__}: {shortened(error)}"
        folders = " or ".join(map(str, paths))
        raise EvenhandError(
            f"{folders} was written by another version of evenhand, or changed ({what}); {AGAIN}"
        ) from error


def shortened(error: object) -> str:
    """An error's words in one line: some quote what they could not read."""
    return textwrap.shorten(str(error), 200, placeholder=" …")


def _refuse_deep(record: object) -> None:
    """Level by level, for what parsing could bear others need not."""
    level = [record]
    for _ in range(_DEEPEST):
        inner = [each.values() if isinstance(each, dict) else each for each in level if isinstance(each, (dict, list))]
        level = [value for values in inner for value in values]
        if not level:
            return
    raise ValueError(f"it is nested more than {_DEEPEST} levels deep")


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        name = next(name for k, (name, _) in enumerate(pairs) if name in dict(pairs[:k]))
        raise ValueError(f"{textwrap.shorten(repr(name), 80)} stands twice in one object")
    return found


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON's")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {textwrap.shorten(text, 40, placeholder=' …')} is too large")
    return number
