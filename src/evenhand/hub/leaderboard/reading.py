"""Files that anybody may have written, as JSON and YAML of bounded size; `Refusal` for all else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from evenhand.errors import EvenhandError
from evenhand.flow.foreign_files import read_object, shortened
from evenhand.hub.leaderboard.checking import LONGEST_NAME
from evenhand.hub.leaderboard.records import Refusal

LARGEST, LARGEST_YAML = 2_000_000, 200_000  # bytes of a file
_DEEPEST = 20  # levels of nesting in YAML
_FRONT = re.compile(r"\A---\r?\n(.*?)\r?\n---\s*$", re.DOTALL | re.MULTILINE)


def refuse_large(size: int, largest: int = LARGEST) -> None:
    if size > largest:
        raise Refusal(f"it has {size:,} bytes; {largest:,} are accepted")


def json_of(path: Path) -> Mapping[str, object]:
    """A JSON object without NaN. Raises Refusal."""
    refuse_large(_size(path))
    try:
        return read_object(path, "it is left out")
    except EvenhandError as error:
        raise Refusal(str(error).replace(str(path), "it").partition("; ")[0]) from error


def yaml_of(path: Path) -> object:
    """What a YAML file holds, of plain types. Raises Refusal."""
    refuse_large(_size(path), LARGEST_YAML)
    try:
        return _yaml(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Refusal(f"it is no YAML ({shortened(error)})") from error


def base_named(card: Path) -> str | None:
    """`base_model` of a model's card, the first where there are several; None where none is readable."""
    try:
        refuse_large(_size(card))
        front = _FRONT.match(card.read_text(encoding="utf-8"))
        told = _yaml(front[1]) if front and len(front[1]) <= LARGEST_YAML else None
    except (OSError, ValueError):
        return None
    named = told.get("base_model") if isinstance(told, Mapping) else None
    if isinstance(named, list):
        named = named[0] if named else None
    usable = isinstance(named, str) and named.strip() and named.isprintable() and len(named) <= LONGEST_NAME
    return str(named).strip() if usable else None


def _yaml(text: str) -> object:
    """Raises ValueError."""
    import yaml  # type: ignore[import-untyped]

    try:
        _refuse_bombs(text)
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ArithmeticError) as error:
        raise ValueError(shortened(error)) from error


def _refuse_bombs(text: str) -> None:
    """A few lines of aliases can stand for more than any memory holds, and deep nesting takes the parser minutes."""
    import yaml

    depth = 0
    for event in yaml.parse(text, yaml.SafeLoader):
        depth += isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent))
        depth -= isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent))
        if isinstance(event, yaml.AliasEvent) or depth > _DEEPEST:
            raise ValueError(f"it has aliases, or is nested more than {_DEEPEST} levels deep")


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError as error:
        raise Refusal(f"it can't be read ({error.strerror or error})") from error
