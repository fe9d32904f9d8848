"""The progress bar of a run: rows done and time left, what is asked and written, and how fast."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from evenhand.at_work import AtWork, Ticking
from evenhand.bars import Bar
from evenhand.terminal import shown

if TYPE_CHECKING:
    from evenhand.flow.runner import Step


class ProgressBar:
    """Rows that come out of the store count as done at once; the speed is of what is asked now.

    A row may take minutes to write: tokens move the bar's figures, too, and time moves by itself. Nothing is drawn
    before the run has begun, but for a line where that takes long: what is refused until then is a sentence alone.
    """

    def __init__(self, name: str, delay: float = 0.0):
        """delay: seconds of a run before which nothing is drawn."""
        self._name = shown(name)
        self._delay = delay
        self._bar: Bar | None = None
        self._lock = threading.Lock()  # tokens are told from any thread
        self._preparing = AtWork(f"preparing {name}")
        self._ticking = Ticking(self._tick)
        self._replied = self._tokens = 0
        self._began = time.monotonic()
        self.took: tuple[str, ...] = ()
        """What was paid for, in words, once the run has ended."""

    def update(self, rows: int, step: Step) -> None:
        """`rows` in all; what has come to pass since the last time."""
        with self._lock:
            if self._bar is None:
                self._preparing.__exit__()
                self._bar = Bar(total=rows, unit="row", desc=self._name, smoothing=0.1, miniters=0, delay=self._delay)
                self._began = time.monotonic()
            self.took = self.took or step.took
            self._replied += step.replied
            self._tokens += step.tokens
            seconds = max(1e-9, time.monotonic() - self._began)
            said = f"{self._replied:,} replies, {self._replied / seconds:.1f}/s"
            if step.doing:
                self._bar.set_description_str(f"{self._name}, {shown(step.doing)}", refresh=False)
            if self._tokens:
                said += f", {self._tokens:,} tokens written, {self._tokens / seconds:.0f}/s"
            self._bar.set_postfix_str(said, refresh=False)
            self._bar.update(step.finished)

    def _tick(self) -> None:
        with self._lock:
            if self._bar is not None and time.monotonic() - self._began >= self._delay:
                self._bar.refresh()

    def __enter__(self) -> ProgressBar:
        self._preparing.__enter__()
        self._ticking.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._preparing.__exit__()
        self._ticking.__exit__()
        if self._bar is not None:
            self._bar.close()
