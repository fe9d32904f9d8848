"""The board's folder: index.html, leaderboard.csv, refused.csv, reports and records, and what makes it a Space."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.errors import UsageError
from evenhand.flow.run_folder import is_run_folder
from evenhand.hub.leaderboard.board import Board, board
from evenhand.hub.leaderboard.csv_files import board_csv, refused_csv
from evenhand.hub.leaderboard.opened import write_opened
from evenhand.whole_files import explained, write_whole

if TYPE_CHECKING:
    from evenhand.hub.leaderboard.gathering import Gathered

PAGE, TABLE, REFUSED, APP, CARD = "index.html", "leaderboard.csv", "refused.csv", "app.py", "README.md"
GENERATOR = b'<meta name="generator" content="evenhand leaderboard'
_HEAD = 1000  # bytes


def check_output(folder: Path) -> None:
    """Raises UsageError for what is no folder, a run's, or one that holds anything but an earlier board."""
    if os.path.lexists(folder) and not folder.is_dir():
        raise UsageError(f"{folder} is no folder; choose another --output")
    if any(is_run_folder(each) for each in (folder, *folder.absolute().parents)):
        raise UsageError(f"{folder} is inside a run folder, where only its own command writes; choose another --output")
    if folder.is_dir() and any(folder.iterdir()) and not is_board(folder):
        raise UsageError(f"{folder} holds other files, and no earlier leaderboard; choose another --output")


def is_board(folder: Path) -> bool:
    """Whether `write_board` wrote it."""
    path = folder / PAGE
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return GENERATOR in file.read(_HEAD)


def is_rehearsal(folder: Path) -> bool:
    """Of a board: whether stubs, or parts of the rows, are on it."""
    with (folder / PAGE).open("rb") as file:
        return GENERATOR + b', a rehearsal">' in file.read(_HEAD)


def write_board(
    gathered: Gathered, folder: Path, title: str, now: datetime, say: Callable[[str], None], reports: bool = True
) -> Board:
    """The page last, so that a folder is a board when all of it is there."""
    from evenhand.hub.cards.metric import GRADIO
    from evenhand.hub.leaderboard.page import TEMPLATES, card, page

    made = board(gathered.records, len(gathered.refused), now, gathered.rehearsal)
    with explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / REFUSED, refused_csv(gathered.refused))
    links = write_opened(gathered.records, folder, say, reports)
    write_whole(folder / TABLE, board_csv(made, links))
    write_whole(folder / APP, (TEMPLATES / "app.py.txt").read_text(encoding="utf-8"))
    write_whole(folder / CARD, card(made, title, GRADIO))
    write_whole(folder / PAGE, page(made, title, links))
    return made
