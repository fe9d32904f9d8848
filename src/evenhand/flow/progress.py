"""The progress bar of a run: rows done and time left, what is asked and written, and how fast."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from tqdm import tqdm

from evenhand.at_work import AtWork, Ticking
from evenhand.terminal import drawn_every, shown

if TYPE_CHECKING:
    from evenhand.flow.runner import Step


class ProgressBar:
    """Rows that come out of the store count as done at once; the speed is of what is asked now.

    A row may take minutes to write: tokens move the bar's figures, too, and time moves by itself. Nothing is drawn
    before the run has begun, but for a line where that takes long: what is refused until then is a sentence alone.
    """

    def __init__(self, name: str):
        self._name = shown(name)
        self._bar: tqdm[None] | None = None
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
                self._bar = tqdm(
                    total=rows,
                    unit="row",
                    desc=self._name,
                    dynamic_ncols=True,
                    smoothing=0.1,
                    mininterval=drawn_every(),
                    miniters=0,
                )
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
            if self._bar is not None:
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
