"""What lies in a folder, or in a repository that was fetched into one: runs, records, and results of models.

Anybody may have written the files: they are JSON and YAML of bounded size, and `Refusal` for all else.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from evenhand.errors import EvenhandError
from evenhand.flow.foreign_files import NotRead, as_written, read_object, read_regular, shortened
from evenhand.flow.run_folder import is_run_folder
from evenhand.hub.contents import matches
from evenhand.hub.leaderboard import eval_results, every_eval_ever
from evenhand.hub.leaderboard.checking import LONGEST_NAME
from evenhand.hub.leaderboard.every_eval_ever import Found, Origin
from evenhand.hub.leaderboard.records import Record, Refusal, Refused
from evenhand.hub.submission.eval_results import FOLDER as EVAL_RESULTS
from evenhand.hub.submission.every_eval_ever import FOLDER as RECORDS
from evenhand.hub.submission.every_eval_ever import About
from evenhand.hub.submission.every_eval_ever import record as submitted_record
from evenhand.hub.submission.figures import SubmittedFigure, submitted_figures
from evenhand.hub.submission.finished_run import FinishedRun, commit_of, shown
from evenhand.hub.submission.validation import check_figures, check_run, date_of
from evenhand.plain_yaml import plain_yaml
from evenhand.report.differences import FigureKey

CARD = "README.md"
OWN = ("evenhand-*",)  # names of results that `evenhand submit` wrote
ENCODING = "utf-8-sig"  # editors on Windows begin a file with a byte order mark
LARGEST, LARGEST_YAML = 2_000_000, 200_000  # bytes of a file
_FRONT = re.compile(r"\A---\r?\n(.*?)\r?\n---\s*$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Place:
    """source: its name for messages. models: ids of models by folder, where they were said. model: of the whole place,
    where it is a model's repository. link: of a file's path in it, an address; None: only this machine can open it.
    rehearsal: of run folders, stubs and parts of the rows are read, too.
    """

    source: str
    root: Path
    models: Mapping[Path, str] = field(default_factory=dict)
    model: str | None = None
    link: Callable[[str], str | None] = lambda path: None
    rehearsal: bool = False


def read(place: Place, now: datetime) -> Iterator[Record | Refused]:
    """Runs first, then records of Every Eval Ever, then results of models, each by path: the richest goes first."""
    if place.root.is_file():
        yield from _read_file(place, place.root, now)
        return
    runs, records, results = _listed(place.root)
    for path in runs:
        origin = _origin(place, path)
        yield from _each(origin, lambda p=path, o=origin: _results_of_run(p, _model(place, p), o, now))  # type: ignore[misc]
    for path in (*records, *results):
        yield from _read_file(place, path, now)


def _read_file(place: Place, path: Path, now: datetime) -> Iterator[Record | Refused]:
    origin = _origin(place, path)

    def found() -> Iterator[tuple[str, Found]]:
        if path != place.root and path.is_symlink() and not path.resolve().is_relative_to(place.root.resolve()):
            raise Refusal("it is a link to what lies outside of this folder, and is not followed")
        if path.suffix == ".json":
            record = read_json(path)
            if "evaluation_results" not in record:
                raise Refusal("it is no record of Every Eval Ever (it has no evaluation_results)")
            return every_eval_ever.results_of(record, origin, now)
        model = place.model or _model(place, path.parent.parent)
        if model is None:
            raise Refusal("it does not say whose results these are; name the model with --model-id FOLDER=ORG/NAME")
        return eval_results.results_of(_yaml(read_text(path, LARGEST_YAML)), model, origin, now)

    yield from _each(origin, found)


def _each(origin: Origin, found: Callable[[], Iterator[tuple[str, Found]]]) -> Iterator[Record | Refused]:
    try:
        for which, each in found():
            place = f"{origin.place}: {which}"
            yield Refused(origin.source, place, str(each)) if isinstance(each, Refusal) else each
    except Refusal as refusal:
        yield Refused(origin.source, origin.place, str(refusal))


def _origin(place: Place, path: Path) -> Origin:
    within = path.relative_to(place.root).as_posix() if path != place.root else path.name
    repository = path.parent.parent if path.suffix in (".yaml", ".yml") else place.root
    base = _base_named(repository / CARD) if (repository / CARD).is_file() and path.is_file() else None
    file = str(path) if path.is_file() else None
    return Origin(place.source, within, place.link(within), base, place.model, file, rehearsal=place.rehearsal)


def _model(place: Place, folder: Path) -> str | None:
    """By the folder, or one around it; else by the path of the records in it, data/COLLECTION/ORG/NAME."""
    around = (folder.resolve(), *folder.resolve().parents)
    if said := next((place.models[each] for each in around if each in place.models), None):
        return said
    names = {f"{each.parent.name}/{each.name}" for each in (folder / RECORDS / "data").glob("*/*/*/")}
    return names.pop() if len(names) == 1 else None


def _listed(root: Path) -> tuple[list[Path], list[Path], list[Path]]:
    """Run folders, JSON files, YAML files, sorted. Of a model's repository only what holds results.

    Links to folders are not followed: they may lead round in a circle.
    """
    runs: list[Path] = []
    records: list[Path] = []
    results: list[Path] = []
    for folder, folders, files in os.walk(root):
        here = Path(folder)
        if is_run_folder(here):
            runs.append(here)
            folders.clear()
            continue
        if here.name == EVAL_RESULTS:
            skipped = OWN if (here.parent / RECORDS).is_dir() else ()  # records say more
            results += [
                here / name for name in files if name.endswith((".yaml", ".yml")) and not matches(name, skipped)
            ]
            folders.clear()
            continue
        is_model = EVAL_RESULTS in folders or RECORDS in folders
        folders[:] = [name for name in folders if not name.startswith(".") or name == EVAL_RESULTS]
        if is_model:
            folders[:] = [name for name in folders if name in (EVAL_RESULTS, RECORDS)]
            continue
        records += [here / name for name in files if name.endswith(".json") and not name.startswith(".")]
    return sorted(runs), sorted(records), sorted(results)


# Runs


def _results_of_run(path: Path, model: str | None, origin: Origin, now: datetime) -> Iterator[tuple[str, Found]]:
    """model: its id on the Hub, where that was said. Raises Refusal for what is not published either."""
    record, figures = record_of_run(path, model, origin.rehearsal)
    results = every_eval_ever.results_of(record, replace(origin, run=str(path)), now)
    for (which, each), measured in zip(results, figures, strict=True):
        key = FigureKey.of(measured.figure, measured.row.groups)
        yield which, replace(each, figure=key) if isinstance(each, Record) else each


def record_of_run(
    path: Path, model: str | None, rehearsal: bool = False
) -> tuple[dict[str, Any], list[SubmittedFigure]]:
    """The record that `evenhand submit` would make of a run, and its figures in the same order.

    rehearsal: of any finished run. Raises Refusal.
    """
    try:
        run = FinishedRun.read(path)
        with as_written(path):
            of = model or _model_of(run)
            if not rehearsal:
                check_run(run, of, under_another_name=True)
            found, _ = submitted_figures(run)
            check_figures(run, found)
            about = About(of, date_of(run.finished), "unknown", "other", None, None)
            return submitted_record(run, found, about), found
    except (EvenhandError, OSError, OverflowError) as error:
        raise Refusal(shortened(error)) from error


def _model_of(run: FinishedRun) -> str:
    """A folder may have the name of any model: one that is not from the Hub has its fingerprint in its name."""
    name = shown(run.results.model)
    if commit_of(run) or name.startswith("stub:"):
        return name
    return f"{name} (not from the Hub, {hashlib.sha256(run.results.model_identity.encode()).hexdigest()[:8]})"


# Files


def read_json(path: Path) -> Mapping[str, object]:
    """A JSON object without NaN. Raises Refusal."""
    try:
        return read_object(path, "it is left out", LARGEST, ENCODING)
    except EvenhandError as error:
        raise Refusal(str(error).replace(str(path), "it").partition("; ")[0]) from error


def read_text(path: Path, largest: int = LARGEST) -> str:
    """A text as it stands there. Raises Refusal."""
    try:
        return read_regular(path, largest).decode(ENCODING)
    except OSError as error:
        raise Refusal(f"it can't be read ({error.strerror or error})") from error
    except NotRead as error:
        raise Refusal(str(error)) from error
    except ValueError as error:
        raise Refusal(f"it is no text in UTF-8 ({shortened(error)})") from error


def _yaml(text: str) -> object:
    """Of plain types. Raises Refusal."""
    try:
        return plain_yaml(text)
    except ValueError as error:
        raise Refusal(f"it is no YAML that is read here ({shortened(error)})") from error


def _base_named(card: Path) -> str | None:
    """`base_model` of a model's card, the first where there are several; None where none is readable."""
    try:
        front = _FRONT.match(read_text(card))
        metadata = _yaml(front[1]) if front and len(front[1]) <= LARGEST_YAML else None
    except Refusal:
        return None
    named = metadata.get("base_model") if isinstance(metadata, Mapping) else None
    if isinstance(named, list):
        named = named[0] if named else None
    usable = isinstance(named, str) and named.strip() and named.isprintable() and len(named) <= LONGEST_NAME
    return str(named).strip() if usable else None
