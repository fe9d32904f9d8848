"""Progress bars and lines on standard error, whoever reads it: a terminal, a log, or nobody any more."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from types import SimpleNamespace
from typing import IO, Any

from tqdm import tqdm

from evenhand.terminal import drawn_every

_WITHOUT_SIZE = {"ncols": 80, "nrows": 24}  # as a terminal is taken that doesn't say how large it is


def _columns() -> int | None:
    """Of the terminal; None where there is none."""
    with suppress(Exception):
        return os.get_terminal_size(sys.stderr.fileno()).columns
    return None


class Bar(tqdm):  # type: ignore[misc]  # tqdm has no types
    """A tqdm that several threads may draw, that may be interrupted anywhere, and whose reader may go away.

    tqdm's own keeps the lock of all bars where drawing fails; who draws next then waits for ever.
    """

    _drawn = False

    def __init__(self, iterable: Any = None, **options: Any):
        size = _WITHOUT_SIZE if _columns() == 0 else {"dynamic_ncols": True}
        super().__init__(iterable, file=_Said(sys.stderr), **{"mininterval": drawn_every(), **size, **options})

    def display(self, msg: str | None = None, pos: int | None = None) -> bool:
        """Nothing before the delay is over, whatever else is written above it."""
        if self.delay and self._time() < self.start_t + self.delay:
            return False
        self._drawn = True
        return bool(super().display(msg, pos))

    def clear(self, nolock: bool = False) -> None:
        if self._drawn:
            super().clear(nolock)

    def close(self) -> None:
        if self._drawn:
            self.delay = 0  # tqdm's own leaves what a refresh alone has drawn
        super().close()

    @staticmethod
    def status_printer(file: Any) -> Callable[[str], None]:
        """tqdm's own, which would write what waits in standard output and error, too: they may be closed."""
        printer: Callable[[str], None] = tqdm.status_printer(SimpleNamespace(write=file.write, flush=file.flush))
        return printer

    def refresh(self, nolock: bool = False, lock_args: Any = None) -> bool:
        if self.disable:
            return False
        if nolock:
            self.display()
        else:
            with self.get_lock():
                self.display()
        return True


def write_line(text: str) -> None:
    """Above the bars."""
    said = _Said(sys.stderr)
    with tqdm.external_write_mode(file=said):
        said.write(f"{text}\n")
        said.flush()


class _Said:
    """A stream that may be missing, closed, without a reader or anybody's own: progress stops no work."""

    def __init__(self, stream: IO[str] | None):
        self._wrapped = stream  # named so in tqdm's wrappers, which compare it

    def write(self, text: str) -> None:
        with suppress(Exception):
            self._wrapped.write(text)  # type: ignore[union-attr]

    def flush(self) -> None:
        with suppress(Exception):
            self._wrapped.flush()  # type: ignore[union-attr]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._wrapped, name)

    def __eq__(self, other: object) -> bool:
        return self._wrapped is getattr(other, "_wrapped", other)

    def __hash__(self) -> int:
        return id(self._wrapped)
