"""Files that are written whole or not at all: to a temporary file beside their place first, which is then moved.

The temporary file has a random name and is opened exclusively, so that no link is written through. What a killed
process left is recognized by its name.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from evenhand.errors import EvenhandError

PREFIX, SUFFIX = ".evenhand-", ".part"  # of what lies beside; tempfile takes them for folders
_REMAINS = re.compile(re.escape(PREFIX) + r"[a-z0-9_]+" + re.escape(SUFFIX))
_EXCLUSIVELY = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a text in UTF-8, or bytes. Raises EvenhandError where that fails; `path` is then as it was."""
    with explained(path), whole_file(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file that replaces `path` at the end of the block; after an error nothing is left of it.

    A link at `path` is replaced, not followed. Raises OSError, also where `path` is a folder or a device.
    """
    _refuse_what_is_no_file(path)
    beside = path.with_name(f"{PREFIX}{secrets.token_hex(8)}{SUFFIX}")
    descriptor = os.open(beside, _EXCLUSIVELY, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
        os.replace(beside, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise


def _refuse_what_is_no_file(path: Path) -> None:
    """Replacing a device such as /dev/null would remove it for all processes."""
    with suppress(FileNotFoundError):
        mode = os.lstat(path).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
            what = "a folder" if stat.S_ISDIR(mode) else "a pipe or a device"
            raise OSError(errno.EINVAL, f"it is {what}", str(path))


def is_remains(path: Path) -> bool:
    """Whether it is a temporary file or folder that a killed process left."""
    return _REMAINS.fullmatch(path.name) is not None and not path.is_symlink()


def remove_remains(folder: Path) -> None:
    """Remove temporary files in a folder and below it. Hold the folder's lock: others may be writing theirs."""
    for place, folders, files in os.walk(folder):
        for name in [each for each in folders if is_remains(Path(place, each))]:
            folders.remove(name)
            shutil.rmtree(Path(place, name), ignore_errors=True)
        for name in files:
            if is_remains(Path(place, name)):
                with suppress(OSError):
                    os.unlink(Path(place, name))


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Raise EvenhandError with advice for OSError."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            message = f"the disk is full at {path}: free space and run the same command again; what was stored is kept"
        else:
            message = f"can't write {path}: {error.strerror or error}; choose another --output, or fix this one"
        raise EvenhandError(message) from error
