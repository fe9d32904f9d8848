"""Folders of pictures that people have: what lies in them, and in words what of it is left out, and why."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path

from evenhand.errors import EvenhandError, UsageError

OF_PICTURES: Mapping[str, str] = {
    "missing": "not there",
    "size": "a picture too large, or too narrow",
    "broken": "a picture that can't be decoded",
}
"""Why a picture can't be used: the reasons of faces.pictures.unusable."""

_NAMED, _LONGEST = 3, 80  # of those that a message gives as examples: how many, and characters of each


def names_in(folder: Path, accepted: str, not_file: str = "name the folder") -> list[str]:
    """Of everything in the folder, in no order. accepted: what it should hold; not_file: what to do with a file's path.

    Raises UsageError for a folder that does not exist or is none, EvenhandError where the system does not let us read.
    """
    try:
        return os.listdir(folder)
    except FileNotFoundError:
        raise UsageError(f"{folder} does not exist; {accepted}: name one") from None
    except NotADirectoryError:
        raise UsageError(f"{folder} is a file; {accepted}: {not_file}") from None
    except (OSError, ValueError) as error:  # ValueError: a name with a null character
        reason = getattr(error, "strerror", None) or error
        raise EvenhandError(f"can't read {folder}: {reason}; mend that, or name another folder") from error


def in_words(left_out: Mapping[str, int], reasons: Mapping[str, str]) -> str:
    """ "a picture that can't be decoded: 3; not there: 1"."""
    return "; ".join(f"{reasons[reason]}: {n:,}" for reason, n in left_out.items())


def left_out_sentences(
    what: str, left_out: Mapping[str, int], read: int, reasons: Mapping[str, str]
) -> tuple[str, ...]:
    """For a report: how many of those read were left out, and why; none where all are used. what: "Faces"."""
    if not left_out:
        return ()
    return (f"{what} left out: {sum(left_out.values()):,} of {read:,} ({in_words(left_out, reasons)}).",)


def some(names: Collection[str]) -> str:
    """The first by name; a file's name may be no text at all, and a table's cell a whole story."""
    shown = [printable(name) for name in sorted(names)[:_NAMED]]
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…" for name in shown) + more


def printable(name: str) -> str:
    return name if name.strip() and name.isprintable() else ascii(name)
