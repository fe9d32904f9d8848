"""How far a training is: what it tells, and bars of that."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType

from evenhand.progress import AtWork, Bar, Ticking, write_line
from evenhand.terminal import shown

OnProgress = Callable[[str, int, int], None]
"""Told what is being done, how many of its steps are done, and of how many; 0 of 0: it has no steps to count."""

Heard = Callable[[int, int], None]
"""Likewise, of the one thing that is being done."""


def unheard(what: str, done: int, steps: int) -> None:
    """For those who don't listen."""


def unheard_steps(done: int, steps: int) -> None:
    """For those who don't listen."""


class TrainingBar:
    """A line for each thing that is done, or a bar of its steps and the time left; on standard error.

    What is shown before another's last step stands below it and goes with its end, as a measurement within a training.
    The time moves between steps, too.
    """

    def __init__(self) -> None:
        self._bars: list[Bar] = []
        self._without_steps: tuple[str, AtWork] | None = None
        self._lock = threading.Lock()
        self._ticking = Ticking(self._tick)

    def update(self, what: str, done: int, steps: int) -> None:
        what = shown(what)
        with self._lock:
            if steps:
                self._counted(what, done, steps)
            elif self._without_steps is None or self._without_steps[0] != what:
                self._begin_without_steps(what)

    def _begin_without_steps(self, what: str) -> None:
        self._close(lambda bar: bar.n >= bar.total)
        write_line(what)
        self._without_steps = what, AtWork(what)
        self._without_steps[1].__enter__()

    def _counted(self, what: str, done: int, steps: int) -> None:
        if what in [bar.desc for bar in self._bars]:
            self._close(lambda bar: bar.desc != what)
        else:
            self._close(lambda bar: bar.n >= bar.total)
            self._bars.append(
                Bar(
                    total=steps,
                    initial=done,
                    desc=what,
                    unit="step",
                    smoothing=0,  # the time left is by all steps, with what is measured between them
                    leave=not self._bars,
                )
            )
        self._bars[-1].update(done - self._bars[-1].n)

    def _close(self, ended: Callable[[Bar], bool]) -> None:
        """What has no steps, and the newest bars that have ended."""
        if self._without_steps is not None:
            self._without_steps[1].__exit__()
            self._without_steps = None
        while self._bars and ended(self._bars[-1]):
            self._bars.pop().close()

    def _tick(self) -> None:
        with self._lock:
            if self._bars and self._without_steps is None:
                self._bars[-1].refresh()

    def __enter__(self) -> TrainingBar:
        self._ticking.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ticking.__exit__()
        with self._lock:
            self._close(lambda bar: True)
