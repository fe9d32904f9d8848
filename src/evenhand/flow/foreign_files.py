"""A run folder's files as somebody else may have left them: damaged, edited, of another version. Never a traceback."""

from __future__ import annotations

import json
import math
import re
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from evenhand.errors import EvenhandError

AGAIN = "repeat the evenhand command that made it, which asks nothing twice"
AWAY = "move the folder away and run again, or choose another --output"
_DEEPEST = 64  # levels of nesting; ours have fewer than ten
_WRONG = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError, pa.ArrowException)
"""What code raises that meets other keys, types and columns than were written."""
_HALF_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")


def read_object(path: Path, advice: str) -> dict[str, Any]:
    """The JSON object of a file that evenhand wrote. Raises EvenhandError, ending in advice, for everything else.

    NaN, infinity and half characters are refused, too: evenhand writes none, and nothing else reads them.
    """
    try:
        text = path.read_text(encoding="utf-8")
        record = json.loads(text, parse_constant=_no_number, parse_float=_finite)
        if _HALF_CHARACTER.search(text):
            json.dumps(record, ensure_ascii=False).encode()
        _refuse_deep(record)
    except OSError as error:
        raise EvenhandError(f"can't read {path}: {error.strerror or error}; mend that, or name another run") from error
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


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON's")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {textwrap.shorten(text, 40, placeholder=' …')} is too large")
    return number
