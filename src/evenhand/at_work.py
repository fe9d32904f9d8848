"""A sign of life of work that takes long between two of its steps, or whose steps nobody counts; on standard error."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

from evenhand.terminal import drawn_every, shown

if TYPE_CHECKING:
    from tqdm import tqdm

SILENT_FOR = 10.0  # seconds: what is done by then needs no word


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
        self._thread.join()


class AtWork(Ticking):
    """From the tenth second on a line that says what is being done, and for how long; it goes at the end."""

    def __init__(self, what: str, silent_for: float = SILENT_FOR):
        super().__init__(self._draw, silent_for)
        self._what = what
        self._line: tqdm[None] | None = None

    def tell(self, what: str) -> None:
        """What is being done from now on."""
        self._what = what

    def _draw(self) -> None:
        from tqdm import tqdm

        if self._line is None:
            self._line = tqdm(bar_format="{desc}: at work for {elapsed}", leave=False, delay=1e9)
            self._line.start_t -= self._silent_for
        self._line.set_description_str(shown(self._what), refresh=False)
        self._line.refresh()
        if not sys.stderr.isatty():
            print(file=sys.stderr, flush=True)

    def __exit__(self, *of_error: object) -> None:
        super().__exit__()
        if self._line is not None:
            self._line.close()
