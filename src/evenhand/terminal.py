"""Printing to a terminal: control characters in texts are shown, never obeyed.

Texts of models, files and servers may hold escape sequences that clear the screen, overwrite it or rename the window,
and marks that reverse the order of letters.
"""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Iterable
from contextlib import nullcontext, suppress
from typing import IO, Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

_STRANGE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls except tab and newline; ESC and \x9b begin escape sequences
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction marks
    "\u2028\u2029\ufff9-\ufffb\ud800-\udfff]"  # line separators, annotations, surrogates
)
_COMMAND = re.compile(r"::(?=[a-z-]+(?: [^\n]*)?::)")  # GitHub obeys lines such as "::error::text" in a log
_PICTURES = 0x2400  # of the controls from 0 on, one column wide: ␛


def discard(stream: IO[str]) -> None:
    """Send further output to /dev/null: its reader has gone, or it can't be written."""
    with suppress(Exception):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def shown(text: str) -> str:
    """Replace what a terminal, or the log of a CI job, would obey by characters that look like it."""
    return _COMMAND.sub("\u2237", _STRANGE.sub(_picture, text))


def _picture(found: re.Match[str]) -> str:
    code = ord(found.group())
    return chr(_PICTURES + code) if code < 0x20 else "␡" if code == 0x7F else "�"


class Terminal(Console):
    """A console without markup, emoji codes and controls but rich's own; it prints above progress bars."""

    def __init__(
        self, *, stderr: bool = False, soft_wrap: bool = False, width: int | None = None, file: IO[str] | None = None
    ):
        super().__init__(
            stderr=stderr, soft_wrap=soft_wrap, width=width, file=file, highlight=False, markup=False, emoji=False
        )

    def on_broken_pipe(self) -> None:
        """The work goes on: rich's own ends the process."""
        discard(self.file)

    def print(self, *objects: Any, **how: Any) -> None:
        tqdm = sys.modules.get("tqdm")  # not imported: there is no bar
        with tqdm.tqdm.external_write_mode() if tqdm else nullcontext():
            super().print(*objects, **how)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Called for everything that is printed, before rich adds colours."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(shown(segment.text), segment.style)


class ShownFormatter(logging.Formatter):
    """A formatter of log lines, which may repeat what a server said."""

    def format(self, record: logging.LogRecord) -> str:
        return shown(super().format(record))
