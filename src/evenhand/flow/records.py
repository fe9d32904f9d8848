"""Dataclasses from the JSON that was made of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import dacite

from evenhand.errors import EvenhandError

T = TypeVar("T")


def from_record(kind: type[T], record: object) -> T:
    """Raises EvenhandError for unknown keys and values of another type: a damaged file, or another version's."""
    try:
        if not isinstance(record, Mapping):
            raise TypeError(f"an object is expected, {type(record).__name__} came")
        return dacite.from_dict(kind, _tupled(record), config=dacite.Config(strict=True, cast=[tuple]))  # type: ignore[type-var]
    except (dacite.DaciteError, TypeError, ValueError) as error:
        raise EvenhandError(
            f"a record that this version of evenhand can't read ({error}): it is damaged, or another version's; repeat "
            "the evenhand run command with another --output"
        ) from error


def _tupled(value: Any) -> Any:
    """Lists as tuples, inner ones too: JSON knows no tuples, our dataclasses no lists."""
    if isinstance(value, Mapping):
        return {str(key): _tupled(each) for key, each in value.items()}
    return tuple(map(_tupled, value)) if isinstance(value, (list, tuple)) else value
