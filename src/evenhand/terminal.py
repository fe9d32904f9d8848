"""The one way of texts to a terminal: whatever characters they hold, they are shown and never obeyed.

Texts of models, files, people and servers may hold what a terminal takes for orders: escape sequences that clear the
screen, write over what stands there or name the window, and marks that turn the order of letters around.
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
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls but for tab and new line; ESC and \x9b begin orders
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks that turn the direction of what stands around them
    "\u2028\u2029\ufff9-\ufffb\ud800-\udfff]"  # other ends of lines, notes between lines, half characters
)
_PICTURES = 0x2400  # of the controls from 0 on, one column wide: ␛


def discard(stream: IO[str]) -> None:
    """Let what is written from now on go nowhere: nobody reads it, or it can't be written."""
    with suppress(Exception):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def shown(text: str) -> str:
    """With a picture in the place of each character that a terminal would obey, of the same number of characters."""
    return _STRANGE.sub(_picture, text)


def _picture(found: re.Match[str]) -> str:
    code = ord(found.group())
    return chr(_PICTURES + code) if code < 0x20 else "␡" if code == 0x7F else "�"


class Terminal(Console):
    """A console that shows texts as they are: no markup, no emoji codes, no controls but rich's own.

    What it prints stands above progress bars.
    """

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
        tqdm = sys.modules.get("tqdm")  # where nobody has imported it, nobody draws a bar
        with tqdm.tqdm.external_write_mode() if tqdm else nullcontext():
            super().print(*objects, **how)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """All that is printed passes here, before rich adds its colours."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(shown(segment.text), segment.style)


class ShownFormatter(logging.Formatter):
    """Of log lines, which may repeat what a server said."""

    def format(self, record: logging.LogRecord) -> str:
        return shown(super().format(record))
