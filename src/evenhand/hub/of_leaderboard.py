"""A leaderboard's Space: the folder that `evenhand leaderboard` wrote, without what was refused."""

from __future__ import annotations

from pathlib import Path

from evenhand.errors import UsageError
from evenhand.hub.contents import Contents, files_of, matches, repository_id
from evenhand.hub.leaderboard.opened import RECORDS, REPORTS
from evenhand.hub.leaderboard.writing import APP, CARD, PAGE, REFUSED, TABLE, is_board, is_rehearsal

OWNED = (PAGE, APP, TABLE, f"{REPORTS}/*.html", f"{RECORDS}/*.json", f"{RECORDS}/*.txt")


def leaderboard_contents(
    folder: Path, namespace: str, private: bool = False, repository: str | None = None
) -> Contents:
    """repository: its name on the Hub, the folder's by default.

    Raises UsageError for a folder that is no board, or holds what isn't of it.
    """
    if not is_board(folder):
        raise UsageError(f"{folder} is no leaderboard; evenhand leaderboard SOURCE … --output {folder} makes one")
    if is_rehearsal(folder):
        raise UsageError(f"{folder} is a rehearsal (--rehearsal): it is not published; make it of runs of all rows")
    files = {path: file for path, file in files_of(folder).items() if path != REFUSED}
    if others := [path for path in files if not matches(path, (*OWNED, CARD))]:
        raise UsageError(f"{folder} holds what is not of a leaderboard ({others[0]}); take it out first")
    return Contents(
        "leaderboard",
        repository_id(namespace, repository or folder.resolve().name),
        dict(files),
        title="Publish a leaderboard with evenhand",
        private=private,
        owned=OWNED,
    )
