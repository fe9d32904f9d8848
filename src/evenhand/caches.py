"""Cache folders, and the error where one can't be written."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from evenhand.errors import EvenhandError

_OF_THE_PLACE = {
    errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST, errno.ENOSPC, errno.EDQUOT, errno.ENAMETOOLONG,
}  # fmt: skip


@contextmanager
def cache_written(folder: Path, variable: str) -> Iterator[None]:
    """Make a cache folder, and raise EvenhandError where it can't be written, now or within the block.

    variable: the environment variable that names another folder.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, "it is read-only", str(folder))
        yield
    except OSError as error:
        if error.errno not in _OF_THE_PLACE:
            raise
        raise EvenhandError(
            f"the cache {folder} can't be written ({error.strerror}); fix that, or name another folder in the "
            f"environment variable {variable}"
        ) from error


def cache_folder() -> Path:
    """Return the folder of unpacked models, trained classifiers and hashes."""
    if "EVENHAND_CACHE" in os.environ:
        return Path(os.environ["EVENHAND_CACHE"])
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "evenhand"
