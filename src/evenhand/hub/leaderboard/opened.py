"""Where a cell's run is opened: an address where there is one, else a page or a copy beside the board.

A run's report is written anew from its answers, in which everything is escaped: the one in its folder may be anybody's.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from evenhand.errors import EvenhandError
from evenhand.flow.foreign_files import as_written
from evenhand.flow.run_folder import RunFolder
from evenhand.hub.leaderboard.reading import json_of, text_of
from evenhand.hub.leaderboard.records import Record, Refusal
from evenhand.hub.leaderboard.run_folders import record_of_run
from evenhand.whole_files import explained, write_whole

REPORTS, RECORDS = "reports", "records"
OURS = re.compile(r"[0-9a-f]{16}\.(html|json|txt)")


def write_opened(
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
            if OURS.fullmatch(old.name) and old not in written:
                old.unlink()
    return links


def _write(record: Record, folder: Path, reports: bool) -> Path | None:
    name = hashlib.sha256(f"{record.source}\n{record.place}\n{record.row}".encode()).hexdigest()[:16]
    if record.run is not None and not reports:
        path = _place(folder / RECORDS) / f"{name}.json"  # it was looked at when it was read
        write_whole(path, json.dumps(record_of_run(Path(record.run), record.model, rehearsal=True), indent=2))
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
        path, content = _place(folder / RECORDS) / f"{name}.json", json.dumps(json_of(source), indent=2)
    else:
        path, content = _place(folder / RECORDS) / f"{name}.txt", text_of(source)
    write_whole(path, content)
    return path


def _place(folder: Path) -> Path:
    with explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
    return folder
