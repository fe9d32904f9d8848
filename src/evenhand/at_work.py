"""A sign of life of work that takes long between two of its steps, or whose steps nobody counts; on standard error."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

from evenhand.terminal import drawn_every, on_terminal, shown

if TYPE_CHECKING:
    from evenhand.bars import Bar

SILENT_FOR = 10.0  # seconds: what is done by then needs no word
_LAST_DRAWING = 5.0  # seconds: who waits longer for it waits for a lock that nobody gives back


class Ticking:
    """While it is entered, tick() is called each second in a thread of its own; for a file or a CI's log less often."""

    def __init__(self, tick: Callable[[], None], silent_for: float = 1.0):
        self._tick = tick
        self._silent_for = silent_for
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="ticking", daemon=True)

    def _run(self) -> None:
        wait = self._silent_for
        while not self._ended.wait(wait):
            self._tick()
            wait = max(1.0, drawn_every())

    def __enter__(self) -> Ticking:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        self._ended.set()
        if self._thread.ident is not None:  # it may never have been entered
            self._thread.join(_LAST_DRAWING)


class AtWork(Ticking):
    """From the tenth second on a line that says what is being done, and for how long; it goes at the end."""

    def __init__(self, what: str, silent_for: float = SILENT_FOR):
        super().__init__(self._draw, silent_for)
        self._what = what
        self._began = time.monotonic()
        self._line: Bar | None = None

    def tell(self, what: str) -> None:
        """What is being done from now on."""
        self._what = what

    def __enter__(self) -> AtWork:
        self._began = time.monotonic()
        super().__enter__()
        return self

    def _draw(self) -> None:
        """On a terminal over what stood there; in a log each is a line."""
        from evenhand.bars import Bar, write_line

        said = f"{shown(self._what)}: at work for {Bar.format_interval(time.monotonic() - self._began)}"
        if not on_terminal():
            write_line(said)
        elif self._line is None:
            self._line = Bar(bar_format="{desc}", desc=said, leave=False)
        else:
            self._line.set_description_str(said)

    def __exit__(self, *of_error: object) -> None:
        super().__exit__()
        if self._line is not None:
            self._line.close()
