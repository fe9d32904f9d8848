"""Processes that end with the one that started them, however that one ends: a killed command leaves no engine behind.

Linux sends a signal of choice to a process whose parent has ended, if the process has asked for it. One that is forked
asks as it begins; one that is started anew asks where somebody calls `tie`: vLLM does, by setup.cfg's entry point.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_PR_SET_PDEATHSIG = 1  # of linux/prctl.h
_PARENT = "EVENHAND_TIED_TO"  # environment variable: the process id of who starts processes that are to be tied


@contextmanager
def tie_children() -> Iterator[None]:
    """Let the processes that are started meanwhile end with this one, on Linux.

    The thread that starts it has to go on for as long as it does: for Linux that thread is its parent.
    """
    os.environ[_PARENT] = str(os.getpid())
    try:
        yield
    finally:
        os.environ.pop(_PARENT, None)


def tie() -> None:
    """End this process with its parent, where that has asked for it; what this one starts is not tied."""
    parent = os.environ.get(_PARENT)
    if _libc is None or parent is None or int(parent) == os.getpid():
        return
    del os.environ[_PARENT]
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != int(parent):  # it has ended meanwhile
        os._exit(1)


_libc = ctypes.CDLL(None) if sys.platform == "linux" else None
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=tie)
