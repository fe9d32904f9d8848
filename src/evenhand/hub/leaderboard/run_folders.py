"""A run folder: read as the record that `evenhand submit` would make of it, under its checks."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from evenhand.errors import EvenhandError
from evenhand.flow.foreign_files import as_written, shortened
from evenhand.hub.leaderboard.every_eval_ever import Found, Origin, results_of
from evenhand.hub.leaderboard.records import Refusal
from evenhand.hub.submission.dates import of_seconds
from evenhand.hub.submission.every_eval_ever import About, record
from evenhand.hub.submission.figures import collection
from evenhand.hub.submission.finished_run import FinishedRun
from evenhand.hub.submission.identity import commit_of, shown
from evenhand.hub.submission.validation import check_figures, check_run


def results_of_run(path: Path, model: str | None, origin: Origin, now: datetime) -> Iterator[tuple[str, Found]]:
    """model: its id on the Hub, where that was said. Raises Refusal for what is not published either."""
    return results_of(record_of_run(path, model, origin.rehearsal), replace(origin, run=str(path)), now)


def record_of_run(path: Path, model: str | None, rehearsal: bool = False) -> dict[str, Any]:
    """Of Every Eval Ever, without anything of this machine. rehearsal: of any finished run. Raises Refusal."""
    odd = sorted(each.name for each in path.iterdir() if not (each.is_file() or each.is_dir()))
    if odd:
        raise Refusal(f"{odd[0]} in it is a pipe, a device or a broken link; regular files are read")
    try:
        run = FinishedRun.read(path)
        with as_written(path):
            of = model or _name(run)
            if not rehearsal:
                check_run(run, of, under_another_name=True)
            found = collection(run).figures
            check_figures(run, found)
            return record(run, found, About(of, of_seconds(run.finished), "unknown", "other", None, None))
    except (EvenhandError, OSError, OverflowError) as error:
        raise Refusal(shortened(error)) from error


def _name(run: FinishedRun) -> str:
    """A folder may have the name of any model: what didn't come from the Hub is told apart by its fingerprint."""
    name = shown(run.results.model)
    if commit_of(run) or name.startswith("stub:"):
        return name
    return f"{name} (not from the Hub, {hashlib.sha256(run.results.model_identity.encode()).hexdigest()[:8]})"
