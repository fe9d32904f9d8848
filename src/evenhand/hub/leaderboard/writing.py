"""The board's folder: index.html, leaderboard.csv, refused.csv, reports and records, and what makes it a Space.

A figure opens its address where there is one, else a page or a copy next to the board. A run's report is written anew
from its answers, in which everything is escaped: anyone may have written the one in its folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from evenhand.errors import UsageError
from evenhand.flow.foreign_files import as_written
from evenhand.flow.run_folder import RunFolder, is_run_folder
from evenhand.hub.cards.metric import GRADIO
from evenhand.hub.contents import Contents, files_of, matches, repository_id
from evenhand.hub.leaderboard.board import Board
from evenhand.hub.leaderboard.page import GENERATOR, REHEARSAL, TEMPLATES, Links, find_link, render_card, render_page
from evenhand.hub.leaderboard.records import FAULTS, Record
from evenhand.hub.leaderboard.sources import build_run_record, read_record
from evenhand.report.pages import write_report
from evenhand.report.tables import escaped
from evenhand.terminal import shown
from evenhand.whole_files import explained, write_whole

PAGE, TABLE, REFUSED, APP, CARD = "index.html", "leaderboard.csv", "refused.csv", "app.py", "README.md"
REPORTS, RECORDS = "reports", "records"
WRITTEN = {PAGE, TABLE, REFUSED, APP, CARD, REPORTS, RECORDS}
OWNED = (PAGE, APP, TABLE, f"{REPORTS}/*.html", f"{RECORDS}/*.json")
COLUMNS = (
    "model", "base", "benchmark", "task", "metric", "unit", "value", "interval_low", "interval_high", "rank", "ranked",
    "lower_is_better", "n_read", "dataset", "setting", "library", "date", "notes", "link",
)  # fmt: skip


def check_output(folder: Path) -> None:
    """Raise UsageError for what is no folder, a run's, or one that holds anything but an earlier board."""
    if os.path.lexists(folder) and not folder.is_dir():
        raise UsageError(f"{folder} is no folder; choose another --output")
    if any(is_run_folder(each) for each in (folder, *folder.absolute().parents)):
        raise UsageError(f"{folder} is inside a run folder, where only its own command writes; choose another --output")
    found = {each.name for each in folder.iterdir()} - {".DS_Store"} if folder.is_dir() else set()
    if found and (GENERATOR not in _read_head(folder) or found - WRITTEN):
        other = min(found - WRITTEN, default=PAGE)
        raise UsageError(f"{folder} holds other files than an earlier leaderboard's ({other}); choose another --output")


def _read_head(folder: Path) -> str:
    """Return the beginning of a board's page, which names its generator; "" where there is no page."""
    path = folder / PAGE
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return file.read(1000).decode(errors="replace")


def write_board(board: Board, folder: Path, title: str, say: Callable[[str], None], reports: bool = True) -> None:
    """Write the folder next to its final place, then move it there, so that an interruption keeps an earlier board.

    Args:
        say: prints a sentence about a result whose page can't be written.
        reports: write runs' reports; otherwise figures link to a run's record.
    """
    folder = folder.resolve()
    beside, earlier = (folder.with_name(f".{folder.name}.{of}") for of in ("part", "earlier"))
    with explained(folder):
        for left in (beside, earlier):  # by a process that was killed
            shutil.rmtree(left, ignore_errors=True)
        beside.mkdir(parents=True)
        write_whole(beside / REFUSED, to_csv(("source", "place", "reason"), map(vars, board.gathered.refused)))
        links = _write_opened([cell.record for cell in board.cells.values()], beside, say, reports)
        write_whole(beside / TABLE, to_csv(COLUMNS, _list_results(board, links)))
        write_whole(beside / APP, (TEMPLATES / "app.py.txt").read_text(encoding="utf-8"))
        write_whole(beside / CARD, render_card(board, title, GRADIO))
        write_whole(beside / PAGE, render_page(board, title, links))
        if folder.exists():
            folder.rename(earlier)
        beside.rename(folder)
        shutil.rmtree(earlier, ignore_errors=True)


def _write_opened(records: Sequence[Record], folder: Path, say: Callable[[str], None], reports: bool) -> Links:
    """Write the pages of results without an address; return {(source, place): path in the folder}."""
    links: dict[tuple[str, str], str] = {}
    for place, record in {(of.origin.source, of.origin.place): of for of in records if not of.origin.link}.items():
        name, run = hashlib.sha256("\n".join(place).encode()).hexdigest()[:16], record.origin.run
        within = f"{REPORTS}/{name}.html" if run and reports else f"{RECORDS}/{name}.json"
        (folder / within).parent.mkdir(exist_ok=True)
        try:
            if run and reports:
                with as_written(run):
                    write_report(RunFolder.open(run), folder / within)
            else:  # a run was checked when it was read
                file = record.origin.file or Path()
                content = build_run_record(run, record.model, rehearsal=True)[0] if run else read_record(file)
                write_whole(folder / within, json.dumps(content, indent=2))
        except FAULTS as error:
            say(f"No page of {', '.join(place)}: {error}")
        else:
            links[place] = within
    return links


def _list_results(board: Board, links: Links) -> Iterator[dict[str, object]]:
    """Yield each result, with the keys of COLUMNS and others."""
    for column in board.columns:
        for row in board.rows:
            if (cell := board.cells.get((column, row.name))) is not None:
                record, (low, high) = cell.record, cell.record.interval or (None, None)
                found = {**vars(column), **vars(record), "model": row.name, "base": row.base, "interval_low": low}
                found |= {"interval_high": high, "rank": str(cell.rank), "ranked": cell.rank.n}
                yield found | {"link": find_link(record.origin, links)}


def to_csv(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """Return CSV whose texts are on one line and no formulas."""

    def safe(cell: object) -> object:
        return escaped(" ".join(shown(cell).split())) if isinstance(cell, str) else cell

    cells = [{name: safe(row[name]) for name in columns} for row in rows]
    return str(pd.DataFrame(cells, columns=list(columns), dtype=object).to_csv(index=False, lineterminator="\n"))


def leaderboard_contents(
    folder: Path, namespace: str, private: bool = False, repository: str | None = None
) -> Contents:
    """Return the files of a board's Space.

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
        "leaderboard", repository_id(namespace, repository or folder.resolve().name), dict(files),
        title="Publish a leaderboard with evenhand", private=private, owned=OWNED,
    )  # fmt: skip
