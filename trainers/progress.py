"""How far a training is: what it tells, and a bar of that."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tqdm import tqdm

OnProgress = Callable[[str, int, int], None]
"""Told what is being done, how many of its steps are done, and of how many; 0 of 0: it has no steps to count."""


def unheard(what: str, done: int, steps: int) -> None:
    """For those who don't listen."""


class TrainingBar:
    """A line for each thing that is done, or a bar of its steps and the time left; on standard error."""

    def __init__(self) -> None:
        self._what = ""
        self._bar: tqdm[None] | None = None

    def update(self, what: str, done: int, steps: int) -> None:
        from tqdm import tqdm

        from evenhand.terminal import drawn_every, shown

        what = shown(what)
        if what != self._what:
            self._close()
            self._what = what
            if steps:
                self._bar = tqdm(
                    total=steps,
                    initial=done,
                    desc=what,
                    unit="step",
                    dynamic_ncols=True,
                    mininterval=drawn_every(),
                )
            else:
                tqdm.write(what, file=sys.stderr)
        if self._bar is not None:
            self._bar.update(done - self._bar.n)

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def __enter__(self) -> TrainingBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()
