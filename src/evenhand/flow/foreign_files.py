"""A run folder's files as other people may have left them: damaged, edited, of another version. Never a traceback."""

from __future__ import annotations

import json
import math
import os
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


class NotRead(ValueError):
    """Why a file was not read."""


def read_regular(path: Path, largest: int | None = None) -> bytes:
    """Read a regular file, or a link to one.

    Raises OSError, and NotRead for a pipe or device, which may never end, and for more bytes than `largest`.
    """
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0))) as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise NotRead("it is a folder, a pipe or a device, not a regular file")
        content = file.read(-1 if largest is None else largest + 1)
    if largest is not None and len(content) > largest:
        raise NotRead(f"it has {max(found.st_size, len(content)):,} bytes, more than {largest:,}")
    return content


def read_object(path: Path, advice: str, largest: int | None = None, encoding: str = "utf-8") -> dict[str, Any]:
    """Read the JSON object of a file that evenhand wrote.

    NaN, infinity, half characters, deep nesting and names that come twice in one object are refused: evenhand writes
    none, and readers differ in what they make of them.

    Args:
        advice: the end of an error.
        largest: bytes of the file.
        encoding: utf-8-sig also reads a byte order mark, as other people's editors write it.

    Raises:
        EvenhandError: for everything else.
    """
    try:
        text = read_regular(path, largest).decode(encoding)
        record = json.loads(text, parse_constant=_finite, parse_float=_finite, object_pairs_hook=_unique)
        json.dumps(record, ensure_ascii=False).encode()  # a half character has no bytes
        if not isinstance(record, dict):
            raise NotRead("it is no JSON object")
        _refuse_deep(record)
    except OSError as error:
        raise EvenhandError(f"can't read {path}: {error.strerror or error}; fix that, or name another run") from error
    except NotRead as error:
        raise EvenhandError(f"can't read {path}: {error}; {advice}") from error
    except (ValueError, RecursionError) as error:
        raise EvenhandError(f"{path} is no JSON ({shortened(error)}); {advice}") from error
    return record


@contextmanager
def as_written(*paths: Path) -> Iterator[None]:
    """Raise EvenhandError naming these run folders for whatever trips over their contents within the block."""
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
    """Level by level: what the parser can bear, others need not."""
    level = [record]
    for _ in range(_DEEPEST):
        inner = [each.values() if isinstance(each, dict) else each for each in level if isinstance(each, (dict, list))]
        if not (level := [value for values in inner for value in values]):
            return
    raise ValueError(f"it is nested more than {_DEEPEST} levels deep")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"{textwrap.shorten(repr(name), 80)} comes twice in one object")
        found[name] = value
    return found


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {textwrap.shorten(text, 40, placeholder=' …')} is not finite")
    return number
