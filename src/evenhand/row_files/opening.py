"""Open a file of rows, or say what it is instead."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from evenhand.errors import EvenhandError, UsageError

UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # how Excel's "Unicode text" begins
PARQUET_ERRORS = (pa.ArrowException, OSError, ValueError, OverflowError)  # the last for dates that Python has not


@contextmanager
def opened(path: Path, suffixes: Sequence[str], plural: str, one: str = "one file") -> Iterator[BinaryIO]:
    """Open a file within the block.

    Args:
        plural: what its rows are, for errors ("texts").
        one: how many files a folder's name should be replaced by.

    Raises UsageError for a missing file, a folder or device, and another suffix; EvenhandError where it can't be read.
    """
    if os.path.isdir(path):  # Path.is_dir raises for some paths that can't be one
        raise UsageError(f"{path} is a folder; name {one} of {plural} in it")
    if path.suffix.casefold() not in suffixes:
        raise UsageError(f"{path} must end in {' or '.join(suffixes)}: save the {plural} as one of these")
    if os.path.exists(path) and not os.path.isfile(path):  # opening a pipe would wait for whoever fills it
        raise UsageError(f"{path} is a pipe or a device; save the {plural} in a file, and name that")
    try:
        file = path.open("rb")
    except (FileNotFoundError, NotADirectoryError, ValueError):  # the last for a NUL in the name
        raise UsageError(f"{path} does not exist; name a file of {plural}") from None
    except OSError as error:
        raise EvenhandError(f"can't read {path}: {error.strerror or error}; fix that, or name another file") from error
    with file:
        yield file


def refuse_twice(paths: Iterable[Path], plural: str) -> None:
    """Raise UsageError where a file is given twice, by any names."""
    seen: dict[str, Path] = {}
    for path in paths:
        try:
            before = seen.setdefault(os.path.realpath(path), path)
        except ValueError:  # a NUL in the name: no such file, as its opening says
            continue
        if before is not path:
            also = "" if str(before) == str(path) else f", also as {before}"
            raise UsageError(f"{path} is given twice{also}; name each file of {plural} once")


def broken(path: Path, kind: str, what: str) -> UsageError:
    return UsageError(f"{path} is broken {kind}: {what}; fix the file, or write it again")


@contextmanager
def reading_parquet(path: Path) -> Iterator[None]:
    """Raise UsageError for what pyarrow can't read within the block."""
    try:
        yield
    except PARQUET_ERRORS as error:
        raise broken(path, "parquet", textwrap.shorten(str(error).rstrip("."), 200, placeholder=" …")) from error
