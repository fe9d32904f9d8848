"""The board's folder: index.html, leaderboard.csv, refused.csv, reports and records, and what makes it a Space.

A figure opens its address where there is one, else a page or a copy beside the board. A run's report is written anew
from its answers, in which everything is escaped: the one in its folder may be anybody's. A spreadsheet takes what
begins with = + - @ for a formula: in CSV such texts get a '.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.errors import EvenhandError, UsageError
from evenhand.flow.foreign_files import as_written
from evenhand.flow.run_folder import RunFolder, is_run_folder
from evenhand.hub.contents import Contents, files_of, matches, repository_id
from evenhand.hub.leaderboard.board import Board, board
from evenhand.hub.leaderboard.places import read_json, read_text, record_of_run
from evenhand.hub.leaderboard.records import Record, Refusal, Refused
from evenhand.terminal import shown
from evenhand.whole_files import explained, write_whole

if TYPE_CHECKING:
    from evenhand.hub.leaderboard.gathering import Gathered

PAGE, TABLE, REFUSED, APP, CARD = "index.html", "leaderboard.csv", "refused.csv", "app.py", "README.md"
GENERATOR = b'<meta name="generator" content="evenhand leaderboard'
_HEAD = 1000  # bytes
REPORTS, RECORDS = "reports", "records"
OPENED = re.compile(r"[0-9a-f]{16}\.(html|json|txt)")
_FORMULA = ("=", "+", "-", "@", "|", "%")
COLUMNS = (
    "model", "base", "benchmark", "task", "metric", "unit", "value", "interval_low", "interval_high", "rank", "ranked",
    "lower_is_better", "n_read", "dataset", "setting", "library", "date", "notes", "link",
)  # fmt: skip
OWNED = (PAGE, APP, TABLE, f"{REPORTS}/*.html", f"{RECORDS}/*.json", f"{RECORDS}/*.txt")


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
    write_whole(folder / REFUSED, _refused_csv(gathered.refused))
    links = _write_opened(gathered.records, folder, say, reports)
    write_whole(folder / TABLE, _board_csv(made, links))
    write_whole(folder / APP, (TEMPLATES / "app.py.txt").read_text(encoding="utf-8"))
    write_whole(folder / CARD, card(made, title, GRADIO))
    write_whole(folder / PAGE, page(made, title, links))
    return made


def _write_opened(
    records: Sequence[Record], folder: Path, say: Callable[[str], None], reports: bool = True
) -> dict[tuple[str, str], str]:
    """{(source, place): path beside the page}. reports: of runs; without them a run's record is opened."""
    links: dict[tuple[str, str], str] = {}
    written: set[Path] = set()
    for each in records:
        key = (each.source, each.place)
        if each.link is not None or key in links:
            continue
        try:
            path = _write(each, folder, reports)
        except (EvenhandError, Refusal) as error:
            say(f"No page of {each.source}, {each.place}: {error}")
            continue
        if path is not None:
            links[key] = path.relative_to(folder).as_posix()
            written.add(path)
    for place in (folder / REPORTS, folder / RECORDS):
        for old in place.glob("*"):
            if OPENED.fullmatch(old.name) and old not in written:
                old.unlink()
    return links


def _write(record: Record, folder: Path, reports: bool) -> Path | None:
    name = hashlib.sha256(f"{record.source}\n{record.place}\n{record.row}".encode()).hexdigest()[:16]
    if record.run is not None and not reports:
        path = _place(folder / RECORDS) / f"{name}.json"  # it was looked at when it was read
        write_whole(path, json.dumps(record_of_run(Path(record.run), record.model, rehearsal=True)[0], indent=2))
        return path
    if record.run is not None:
        from evenhand.report.pages import write_report

        path = _place(folder / REPORTS) / f"{name}.html"
        with as_written(Path(record.run)):
            write_report(RunFolder.open(Path(record.run)), path)
        return path
    if record.file is None:
        return None
    source = Path(record.file)
    if source.suffix == ".json":
        path, content = _place(folder / RECORDS) / f"{name}.json", json.dumps(read_json(source), indent=2)
    else:
        path, content = _place(folder / RECORDS) / f"{name}.txt", read_text(source)
    write_whole(path, content)
    return path


def _place(folder: Path) -> Path:
    with explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def _cell(value: object) -> object:
    """Of a text what no spreadsheet takes for a formula, in one line; a number as it is."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    text = " ".join(shown(str(value)).split())
    return f"'{text}" if text.startswith(_FORMULA) else text


def _board_csv(board: Board, links: dict[tuple[str, str], str]) -> str:
    """A line a result. links: where a result is opened beside the page, by (source, place)."""
    rows = []
    for column in board.columns:
        for row in board.rows:
            if found := board.cells.get((column, row.name)):
                record = found.record
                low, high = record.interval or (None, None)
                rows.append(
                    [
                        row.name, row.base, column.benchmark, column.task, column.metric, column.unit, record.value,
                        low, high, found.rank, board.ranks[column].n, column.lower_is_better, record.n_read,
                        column.dataset, column.setting, column.library, record.date, record.notes,
                        record.link or links.get((record.source, record.place)),
                    ]
                )  # fmt: skip
    return _csv(COLUMNS, rows)


def _refused_csv(refused: Sequence[Refused]) -> str:
    return _csv(("source", "place", "reason"), ((each.source, each.place, each.reason) for each in refused))


def _csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([_cell(each) for each in row] for row in rows)
    return file.getvalue()


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
