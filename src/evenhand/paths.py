"""Paths as people type them, checked before anything is done."""

from __future__ import annotations

import os
from pathlib import Path

from evenhand.errors import UsageError

LONGEST_NAME, LONGEST_PATH = 255, 4095  # bytes, of nearly every file system, and of Linux


def typed_path(text: str | os.PathLike[str]) -> Path:
    """Expand "~" and "~NAME" in a path.

    Raises UsageError for an empty path, a missing home folder, names that are too long, and characters that no name can
    have.
    """
    text = os.fspath(text)
    said = repr(text[:80] + (" …" if len(text) > 80 else ""))
    if not text:
        raise UsageError("the path is empty; name a file or a folder (. is this one)")
    if unreadable := unreadable_characters(text):
        raise UsageError(f"{said} can't be a path: {unreadable}; name another")
    expanded = os.path.expanduser(text)
    if text.startswith("~") and expanded == text and not os.path.lexists(text.partition("/")[0][:LONGEST_NAME]):
        raise UsageError(f"{said} names a home folder that is not there; write the path in full, or ./~…")
    path = Path(expanded)
    if len(os.fsencode(path)) > LONGEST_PATH or any(len(os.fsencode(name)) > LONGEST_NAME for name in path.parts):
        raise UsageError(f"{said} is too long: names may have {LONGEST_NAME} bytes, paths {LONGEST_PATH}")
    return path


def unreadable_characters(text: str) -> str:
    """Why a text can't be stored or printed; "" where it can."""
    if "\0" in text:
        return "it holds a NUL character"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "it is not valid UTF-8"
    return ""
