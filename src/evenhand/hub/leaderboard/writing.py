"""The board's folder: index.html, leaderboard.csv, refused.csv, reports and records, and what makes it a Space.

A figure opens its address where there is one, else a page or a copy next to the board. A run's report is written anew
from its answers, in which everything is escaped: anyone may have written the one in its folder. A spreadsheet takes
what begins with = + - @ for a formula: in CSV such texts get a '.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple
from pathlib import Path

from evenhand.errors import UsageError
from evenhand.flow.foreign_files import as_written
from evenhand.flow.run_folder import RunFolder, is_run_folder
from evenhand.hub.contents import Contents, files_of, matches, repository_id
from evenhand.hub.leaderboard.board import Board
from evenhand.hub.leaderboard.files import FAULTS, build_run_record, read_content
from evenhand.hub.leaderboard.page import GENERATOR, REHEARSAL, TEMPLATES, Links, find_link, render_card, render_page
from evenhand.hub.leaderboard.records import Record
from evenhand.terminal import shown
from evenhand.whole_files import explained, write_whole

PAGE, TABLE, REFUSED, APP, CARD = "index.html", "leaderboard.csv", "refused.csv", "app.py", "README.md"
REPORTS, RECORDS = "reports", "records"
OWNED = (PAGE, APP, TABLE, f"{REPORTS}/*.html", f"{RECORDS}/*.json")
OPENED = re.compile(r"[0-9a-f]{16}\.(html|json)")
COLUMNS = (
    "model", "base", "benchmark", "task", "metric", "unit", "value", "interval_low", "interval_high", "rank", "ranked",
    "lower_is_better", "n_read", "dataset", "setting", "library", "date", "notes", "link",
)  # fmt: skip
_FORMULA = ("=", "+", "-", "@", "|", "%")


def check_output(folder: Path) -> None:
    """Raise UsageError for what is no folder, a run's, or one that holds anything but an earlier board."""
    if os.path.lexists(folder) and not folder.is_dir():
        raise UsageError(f"{folder} is no folder; choose another --output")
    if any(is_run_folder(each) for each in (folder, *folder.absolute().parents)):
        raise UsageError(f"{folder} is inside a run folder, where only its own command writes; choose another --output")
    if folder.is_dir() and any(folder.iterdir()) and GENERATOR not in _read_head(folder):
        raise UsageError(f"{folder} holds other files, and no earlier leaderboard; choose another --output")


def _read_head(folder: Path) -> str:
    """The beginning of a board's page, which names what wrote it; nothing where there is no page."""
    path = folder / PAGE
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return file.read(1000).decode(errors="replace")


def write_board(board: Board, folder: Path, title: str, say: Callable[[str], None], reports: bool = True) -> None:
    """Write the folder, the page last: a folder is a board when all of it is there.

    Args:
        say: prints a sentence about a result that can't be opened.
        reports: write runs' reports; otherwise a run's record is opened.
    """
    from evenhand.hub.cards.metric import GRADIO

    with explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
    write_csv(folder / REFUSED, ("source", "place", "reason"), map(astuple, board.gathered.refused))
    links = _write_opened([cell.record for cell in board.cells.values()], folder, say, reports)
    write_csv(folder / TABLE, COLUMNS, _list_results(board, links))
    write_whole(folder / APP, (TEMPLATES / "app.py.txt").read_text(encoding="utf-8"))
    write_whole(folder / CARD, render_card(board, title, GRADIO))
    write_whole(folder / PAGE, render_page(board, title, links))


def _write_opened(
    records: Sequence[Record], folder: Path, say: Callable[[str], None], reports: bool
) -> dict[tuple[str, str], str]:
    """Write what figures open where they have no address; {(source, place): path in the folder}."""
    links: dict[tuple[str, str], str] = {}
    for record in {(each.origin.source, each.origin.place): each for each in records if not each.origin.link}.values():
        origin = record.origin
        name = hashlib.sha256(f"{origin.source}\n{origin.place}".encode()).hexdigest()[:16]
        is_report = origin.run is not None and reports
        path = folder / (f"{REPORTS}/{name}.html" if is_report else f"{RECORDS}/{name}.json")
        try:
            with explained(folder):
                path.parent.mkdir(exist_ok=True)
            _write_opened_file(record, path, is_report)
        except FAULTS as error:
            say(f"No page of {origin.source}, {origin.place}: {error}")
        else:
            links[origin.source, origin.place] = path.relative_to(folder).as_posix()
    for old in (*folder.glob(f"{REPORTS}/*"), *folder.glob(f"{RECORDS}/*")):
        if OPENED.fullmatch(old.name) and old.relative_to(folder).as_posix() not in links.values():
            old.unlink()
    return links


def _write_opened_file(record: Record, path: Path, is_report: bool) -> None:
    """A run's report, or a record as JSON. Raises one of FAULTS."""
    origin = record.origin
    if origin.run is None:
        content = read_content(origin.file or Path())
    elif is_report:
        from evenhand.report.pages import write_report

        with as_written(origin.run):
            return write_report(RunFolder.open(origin.run), path)
    else:
        content, _ = build_run_record(origin.run, record.model, rehearsal=True)  # it was checked when it was read
    write_whole(path, json.dumps(content, indent=2, skipkeys=True, default=str))
    return None


def _list_results(board: Board, links: Links) -> Iterator[tuple[object, ...]]:
    """A row of COLUMNS for each result."""
    for column in board.columns:
        for row in board.rows:
            if (cell := board.cells.get((column, row.name))) is not None:
                record, (low, high) = cell.record, cell.record.interval or (None, None)
                yield (
                    row.name, row.base, column.benchmark, column.task, column.metric, column.unit, record.value, low,
                    high, str(cell.rank), cell.rank.n, column.lower_is_better, record.n_read, column.dataset,
                    column.setting, column.library, record.date, record.notes, find_link(record.origin, links),
                )  # fmt: skip


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    import pandas as pd

    cells = [[_as_cell(each) for each in row] for row in rows]
    write_whole(path, pd.DataFrame(cells, columns=list(header), dtype=object).to_csv(index=False, lineterminator="\n"))


def _as_cell(value: object) -> object:
    """A text in one line that no spreadsheet takes for a formula; anything else as it is."""
    if not isinstance(value, str):
        return value
    text = " ".join(shown(value).split())
    return f"'{text}" if text.startswith(_FORMULA) else text


def leaderboard_contents(
    folder: Path, namespace: str, private: bool = False, repository: str | None = None
) -> Contents:
    """The files of a board's Space.

    Args:
        repository: its name on the Hub, the folder's by default.

    Raises:
        UsageError: the folder is no board, is a rehearsal, or holds other files.
    """
    head = _read_head(folder)
    if GENERATOR not in head:
        raise UsageError(f"{folder} is no leaderboard; evenhand leaderboard SOURCE … --output {folder} makes one")
    if GENERATOR + REHEARSAL in head:
        raise UsageError(f"{folder} is a rehearsal (--rehearsal): it is not published; make it of runs of all rows")
    files = {path: file for path, file in files_of(folder).items() if path != REFUSED}
    if others := [path for path in files if not matches(path, (*OWNED, CARD))]:
        raise UsageError(f"{folder} holds what is not of a leaderboard ({others[0]}); remove it first")
    return Contents(
        "leaderboard",
        repository_id(namespace, repository or folder.resolve().name),
        dict(files),
        title="Publish a leaderboard with evenhand",
        private=private,
        owned=OWNED,
    )
