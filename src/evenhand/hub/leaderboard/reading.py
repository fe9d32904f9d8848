"""Files that anybody may have written, as JSON and YAML of bounded size; `Refusal` for all else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from evenhand.errors import EvenhandError
from evenhand.flow.foreign_files import NotRead, read_object, read_regular, shortened
from evenhand.hub.leaderboard.checking import LONGEST_NAME
from evenhand.hub.leaderboard.records import Refusal
from evenhand.plain_yaml import plain_yaml

ENCODING = "utf-8-sig"  # editors on Windows begin a file with a byte order mark
LARGEST, LARGEST_YAML = 2_000_000, 200_000  # bytes of a file
_FRONT = re.compile(r"\A---\r?\n(.*?)\r?\n---\s*$", re.DOTALL | re.MULTILINE)


def json_of(path: Path) -> Mapping[str, object]:
    """A JSON object without NaN. Raises Refusal."""
    try:
        return read_object(path, "it is left out", LARGEST, ENCODING)
    except EvenhandError as error:
        raise Refusal(str(error).replace(str(path), "it").partition("; ")[0]) from error


def yaml_of(path: Path) -> object:
    """What a YAML file holds, of plain types. Raises Refusal."""
    return _plain(_text(path, LARGEST_YAML))


def text_of(path: Path) -> str:
    """A text as it stands there. Raises Refusal."""
    return _text(path, LARGEST)


def base_named(card: Path) -> str | None:
    """`base_model` of a model's card, the first where there are several; None where none is readable."""
    try:
        front = _FRONT.match(_text(card, LARGEST))
        told = _plain(front[1]) if front and len(front[1]) <= LARGEST_YAML else None
    except Refusal:
        return None
    named = told.get("base_model") if isinstance(told, Mapping) else None
    if isinstance(named, list):
        named = named[0] if named else None
    usable = isinstance(named, str) and named.strip() and named.isprintable() and len(named) <= LONGEST_NAME
    return str(named).strip() if usable else None


def _plain(text: str) -> object:
    try:
        return plain_yaml(text)
    except ValueError as error:
        raise Refusal(f"it is no YAML that is read here ({shortened(error)})") from error


def _text(path: Path, largest: int) -> str:
    try:
        return read_regular(path, largest).decode(ENCODING)
    except OSError as error:
        raise Refusal(f"it can't be read ({error.strerror or error})") from error
    except NotRead as error:
        raise Refusal(str(error)) from error
    except ValueError as error:
        raise Refusal(f"it is no text in UTF-8 ({shortened(error)})") from error
