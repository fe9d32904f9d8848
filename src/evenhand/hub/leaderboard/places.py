"""What lies in a folder, or in a repository that was fetched into one: runs, records, and results of models."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from evenhand.flow.run_folder import is_run_folder
from evenhand.hub.leaderboard import eval_results, every_eval_ever
from evenhand.hub.leaderboard.every_eval_ever import Found, Origin
from evenhand.hub.leaderboard.reading import base_named, json_of, yaml_of
from evenhand.hub.leaderboard.records import Record, Refusal, Refused
from evenhand.hub.leaderboard.run_folders import results_of_run
from evenhand.hub.submission.eval_results import FOLDER as EVAL_RESULTS
from evenhand.hub.submission.every_eval_ever import FOLDER as RECORDS

CARD = "README.md"


@dataclass(frozen=True)
class Place:
    """source: its name for messages. models: ids of models by folder, where they were said. model: of the whole place,
    where it is a model's repository. link: of a file's path in it, an address; None: nobody else can open it.
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
        yield from _each(origin, lambda p=path, o=origin: results_of_run(p, _model(place, p), o, now))  # type: ignore[misc]
    for path in (*records, *results):
        yield from _read_file(place, path, now)


def _read_file(place: Place, path: Path, now: datetime) -> Iterator[Record | Refused]:
    origin = _origin(place, path)

    def found() -> Iterator[tuple[str, Found]]:
        if path != place.root and path.is_symlink() and not path.resolve().is_relative_to(place.root.resolve()):
            raise Refusal("it is a link to what lies outside of this folder, and is not followed")
        if path.suffix == ".json":
            record = json_of(path)
            if "evaluation_results" not in record:
                raise Refusal("it is no record of Every Eval Ever (it has no evaluation_results)")
            return every_eval_ever.results_of(record, origin, now)
        model = place.model or _model(place, path.parent.parent)
        if model is None:
            raise Refusal("nobody says whose results these are; name the model with --model-id FOLDER=ORG/NAME")
        return eval_results.results_of(yaml_of(path), model, origin, now)

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
    base = base_named(repository / CARD) if (repository / CARD).is_file() and path.is_file() else None
    file = str(path) if path.is_file() else None
    return Origin(place.source, within, place.link(within), base, place.model, file, rehearsal=place.rehearsal)


def _model(place: Place, folder: Path) -> str | None:
    """By the folder, or by one around it."""
    around = (folder.resolve(), *folder.resolve().parents)
    return next((place.models[each] for each in around if each in place.models), None) or _of_records(folder)


def _of_records(folder: Path) -> str | None:
    """By the path of the records beside, data/COLLECTION/ORG/NAME, where they are of one model."""
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
            results += [here / name for name in files if name.endswith((".yaml", ".yml"))]
            folders.clear()
            continue
        is_model = EVAL_RESULTS in folders or RECORDS in folders
        folders[:] = [name for name in folders if not name.startswith(".") or name == EVAL_RESULTS]
        if is_model:
            folders[:] = [name for name in folders if name in (EVAL_RESULTS, RECORDS)]
            continue
        records += [here / name for name in files if name.endswith(".json") and not name.startswith(".")]
    return sorted(runs), sorted(records), sorted(results)
