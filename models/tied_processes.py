"""Processes that end with the one that forked them, however that one ends: a killed command leaves no engine behind."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_PR_SET_PDEATHSIG = 1  # of linux/prctl.h: the signal that a process gets when its parent ends

_tying = threading.local()  # parent: of what this thread forks, its own process's id, where they are to be tied


@contextmanager
def ending_with_us() -> Iterator[None]:
    """What this thread forks meanwhile, on Linux; what is spawned anew, or forked elsewhere, stays as it is.

    The thread has to go on for as long as they: for Linux it is their parent.
    """
    _tying.parent = os.getpid()
    try:
        yield
    finally:
        _tying.parent = None


def _tie() -> None:
    parent, _tying.parent = getattr(_tying, "parent", None), None  # what this process forks itself is its own affair
    if parent is None:
        return
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it has ended meanwhile
        os._exit(1)


if sys.platform == "linux":
    _libc = ctypes.CDLL(None)
    os.register_at_fork(after_in_child=_tie)
