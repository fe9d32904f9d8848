"""Progress on standard error: bars, and a sign of life of work whose steps are not counted."""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext, suppress
from types import SimpleNamespace
from typing import IO, TYPE_CHECKING, Any

from tqdm import tqdm

from evenhand.terminal import shown

if TYPE_CHECKING:
    from evenhand.flow.runner import Step

SILENT_FOR = 10.0  # seconds: what is done by then needs no word
_IN_A_LOG = 30.0  # seconds between two lines: in a file or a CI's log every drawing stays
_LAST_DRAWING = 5.0  # seconds to wait for a drawing at the end
_WITHOUT_SIZE = {"ncols": 80, "nrows": 24}  # of a terminal that doesn't say how large it is


def on_terminal() -> bool:
    """Whether standard error is a terminal; it may be closed, missing, or any object that can be written to."""
    with suppress(Exception):
        return bool(sys.stderr.isatty())
    return False


def drawing_interval() -> float:
    """Seconds between two drawings of a bar."""
    return 0.1 if on_terminal() else _IN_A_LOG


class Bar(tqdm):  # type: ignore[misc]  # tqdm has no types
    """A tqdm that several threads draw, that Ctrl-C may interrupt anywhere, and whose reader may go away.

    In a log, which is no terminal, it is a plain line now and then.
    """

    _last: tuple[float, str] = (-math.inf, "")

    def __init__(self, iterable: Any = None, **options: Any):
        self._in_log = not on_terminal()
        if self._in_log and options.get("total"):
            options["bar_format"] = (
                "{desc}: {percentage:3.0f}%, {n_fmt} of {total_fmt} [{elapsed}<{remaining}{postfix}]"
            )
        columns: int | None = None
        with suppress(Exception):
            columns = os.get_terminal_size(sys.stderr.fileno()).columns
        size = _WITHOUT_SIZE if columns == 0 else {"dynamic_ncols": True}
        output = _Output(sys.stderr, self._in_log)
        super().__init__(iterable, file=output, **{"mininterval": drawing_interval(), **size, **options})

    @staticmethod
    def status_printer(file: Any) -> Callable[[str], None]:
        """Without tqdm's flush of standard output and error, which may be closed."""
        printer: Callable[[str], None] = tqdm.status_printer(SimpleNamespace(write=file.write, flush=file.flush))
        return printer

    def display(self, msg: str | None = None, pos: int | None = None) -> bool:
        if not self._in_log:
            return bool(super().display(msg, pos))
        now, text = time.monotonic(), str(self) if msg is None else msg
        due = now - self._last[0] >= 0.9 * drawing_interval() or self.n == self.total
        if due and text and text != self._last[1]:
            self._last = now, text
            self.fp.write(text)
            self.fp.flush()
        return due

    def moveto(self, n: int) -> None:
        if not self._in_log:
            super().moveto(n)

    def refresh(self, nolock: bool = False, lock_args: Any = None) -> bool:
        """Draw; tqdm's own keeps the lock of all bars where drawing is interrupted."""
        if self.disable:
            return False
        with nullcontext() if nolock else self.get_lock():
            self.display()
        return True


class _Output:
    """A stream that may be missing, closed or without a reader: progress stops no work."""

    def __init__(self, stream: IO[str] | None, in_lines: bool = False):
        """in_lines: leave out what moves a terminal's cursor, and end each text's line."""
        self._wrapped = stream  # the name by which tqdm's wrappers compare streams
        self._in_lines = in_lines

    def write(self, text: str) -> None:
        if self._in_lines:
            text = text.strip() and f"{text.strip()}\n"
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


def write_line(text: str) -> None:
    """Write a line above the bars."""
    output = _Output(sys.stderr)
    with tqdm.external_write_mode(file=output):
        output.write(f"{text}\n")
        output.flush()


class Ticking:
    """Call tick() each second in a thread while it is entered; in a log less often."""

    def __init__(self, tick: Callable[[], None], silent_for: float = 1.0):
        self._tick = tick
        self._silent_for = silent_for
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="ticking", daemon=True)

    def _run(self) -> None:
        wait = self._silent_for
        while not self._ended.wait(wait):
            self._tick()
            wait = max(1.0, drawing_interval())

    def __enter__(self) -> Ticking:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        if self._thread.ident is not None:  # it has begun
            self._thread.join(_LAST_DRAWING)


class AtWork(Ticking):
    """A line that says what is being done and for how long, from the tenth second to the end."""

    def __init__(self, what: str, silent_for: float = SILENT_FOR):
        super().__init__(self._draw, silent_for)
        self._what = what
        self._began = time.monotonic()
        self._line: Bar | None = None

    def tell(self, what: str) -> None:
        """Say that this is done from now on."""
        self._what = what

    def __enter__(self) -> AtWork:
        self._began = time.monotonic()
        super().__enter__()
        return self

    def _draw(self) -> None:
        """On a terminal in place of the line before; in a log as another line."""
        text = f"{shown(self._what)}: running for {Bar.format_interval(time.monotonic() - self._began)}"
        if not on_terminal():
            write_line(text)
        elif self._line is None:
            self._line = Bar(bar_format="{desc}", desc=text, leave=False)
        else:
            self._line.set_description_str(text)

    def __exit__(self, *error: object) -> None:
        super().__exit__()
        if self._line is not None:
            self._line.close()


class ProgressBar:
    """The progress of a run: rows done and time left, what is asked and written, and how fast.

    Rows that are stored already count as done immediately; the speed is of what is asked now. Before the run begins
    nothing is drawn but a line where that takes long, so that an error is a sentence alone.
    """

    def __init__(self, name: str, delay: float = 0.0):
        """delay: seconds of a run before which nothing is drawn."""
        self._name = shown(name)
        self._delay = delay
        self._bar: Bar | None = None
        self._lock = threading.Lock()  # any thread counts tokens
        self._preparing = AtWork(f"preparing {name}")
        self._ticking = Ticking(self._draw)
        self._rows = self._finished = self._replied = self._tokens = 0
        self._doing = ""
        self._began: float | None = None
        self.took: tuple[str, ...] = ()
        """What was paid for, in words, once the run has ended."""

    def update(self, rows: int, step: Step) -> None:
        """Count what was done since the last call. rows: in all."""
        with self._lock:
            if self._began is None:
                self._preparing.__exit__()
                self._began = time.monotonic()
            self.took = self.took or step.took
            self._doing = step.doing or self._doing
            self._rows = rows
            self._finished += step.finished
            self._replied += step.replied
            self._tokens += step.tokens
            self._count()

    def _count(self, refresh: bool = False) -> None:
        """Show what was counted, once the delay is over."""
        if self._began is None or (seconds := time.monotonic() - self._began) < self._delay:
            return
        if self._bar is None:
            self._bar = Bar(total=self._rows, unit="row", desc=self._name, smoothing=0.1, miniters=0)
            self._bar.start_t -= seconds
        speed = 1 / max(1e-9, seconds)
        text = f"{self._replied:,} replies, {self._replied * speed:.1f}/s"
        if self._tokens:
            text += f", {self._tokens:,} tokens written, {self._tokens * speed:.0f}/s"
        self._bar.set_description_str(", ".join(filter(None, (self._name, shown(self._doing)))), refresh=False)
        self._bar.set_postfix_str(text, refresh=False)
        self._bar.update(self._finished - self._bar.n)
        if refresh:
            self._bar.refresh()

    def _draw(self) -> None:
        with self._lock:
            self._count(refresh=True)

    def __enter__(self) -> ProgressBar:
        self._preparing.__enter__()
        self._ticking.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._preparing.__exit__()
        self._ticking.__exit__()
        if self._bar is not None:
            self._bar.close()
