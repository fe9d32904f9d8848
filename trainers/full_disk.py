"""A full disk, which each library tells in words of its own, said in a sentence."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from evenhand.whole_files import explained

_SIGNS = (
    os.strerror(errno.ENOSPC),  # of safetensors and pyarrow within other words, and of OSError itself
    os.strerror(errno.EDQUOT),
    "PytorchStreamWriter failed writing",  # torch.save, which doesn't say why; a disk is why where it writes to one
    "unexpected pos",  # its second error, on the way out of the first
)


@contextmanager
def full_disk_explained(folder: Path) -> Iterator[None]:
    """EvenhandError in place of what torch, safetensors and others raise; all else passes."""
    try:
        yield
    except Exception as error:
        if not any(sign in str(each) for each in _with_causes(error) for sign in _SIGNS):
            raise
        with explained(folder):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from error


def _with_causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
