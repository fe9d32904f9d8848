"""Ctrl-C as a message, in place of an exception that may strike between receiving a reply and storing it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def call_on_ctrl_c(tell: Callable[[], None]) -> Iterator[None]:
    """Let the first Ctrl-C call `tell`, in the main thread; a second one does what it did before.

    In other threads, and where Ctrl-C is ignored, nothing changes. Raises KeyboardInterrupt at its end if Ctrl-C was
    pressed.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before in (signal.SIG_IGN, None):
        yield
        return
    pressed = threading.Event()

    def once(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, before)
        pressed.set()
        tell()

    signal.signal(signal.SIGINT, once)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is once:
            signal.signal(signal.SIGINT, before)
    if pressed.is_set():
        raise KeyboardInterrupt
