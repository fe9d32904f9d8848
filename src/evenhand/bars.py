"""Progress bars and lines on standard error, whoever reads it: a terminal, a log, or nobody any more."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import IO, Any

from tqdm import tqdm

from evenhand.terminal import drawn_every


class Bar(tqdm):  # type: ignore[misc]  # tqdm has no types
    """A tqdm that several threads may draw, that may be interrupted anywhere, and whose reader may go away.

    tqdm's own keeps the lock of all bars where drawing fails; who draws next then waits for ever.
    """

    def __init__(self, iterable: Any = None, **options: Any):
        given = {"dynamic_ncols": True, "mininterval": drawn_every(), **options}
        super().__init__(iterable, file=_Said(sys.stderr), **given)

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
    """A stream to which nothing comes once it is closed, or its reader is gone: progress stops no work."""

    def __init__(self, stream: IO[str] | None):
        self._wrapped = stream  # named so in tqdm's wrappers, which compare it

    def write(self, text: str) -> None:
        with suppress(OSError, ValueError):
            if self._wrapped is not None:
                self._wrapped.write(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            if self._wrapped is not None:
                self._wrapped.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._wrapped, name)

    def __eq__(self, other: object) -> bool:
        return self._wrapped is getattr(other, "_wrapped", other)

    def __hash__(self) -> int:
        return id(self._wrapped)
