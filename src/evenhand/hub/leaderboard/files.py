"""Read the results in a folder: of runs, records of Every Eval Ever, and `.eval_results`.

Anyone may have written the files: they are regular, of bounded size, and whatever is wrong with one is a `Refused`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from evenhand.flow.foreign_files import as_written, read_object, read_regular, shortened
from evenhand.flow.run_folder import is_run_folder
from evenhand.hub.contents import matches
from evenhand.hub.leaderboard.formats import parse_eval_results, parse_record
from evenhand.hub.leaderboard.records import Origin, Record, Refused
from evenhand.hub.leaderboard.validation import FAULTS
from evenhand.hub.submission.eval_results import FOLDER as EVAL_RESULTS
from evenhand.hub.submission.every_eval_ever import FOLDER as RECORDS
from evenhand.hub.submission.every_eval_ever import About, record
from evenhand.hub.submission.figures import SubmittedFigure, submitted_figures
from evenhand.hub.submission.finished_run import FinishedRun, commit_of, shown
from evenhand.hub.submission.validation import check_figures, check_run, date_of
from evenhand.plain_yaml import plain_yaml
from evenhand.report.differences import FigureKey

CARD = "README.md"
WRITTEN_BY_SUBMIT = ("evenhand-*",)  # names of .eval_results next to records
ENCODING = "utf-8-sig"  # editors on Windows begin a file with a byte order mark
LARGEST, LARGEST_YAML = 2_000_000, 200_000  # bytes of a file


@dataclass(frozen=True)
class Place:
    """A folder or file with results.

    Attributes:
        source: as on the command line.
        models: ids of models by folder, as the user said.
        model: of the whole place, where it is a model's repository.
        link: the address of a file by its path in the place; None: only this machine can open it.
        rehearsal: runs of stubs and of parts of the rows are read, too.
    """

    source: str
    root: Path
    models: Mapping[Path, str] = field(default_factory=dict)
    model: str | None = None
    link: Callable[[str], str | None] = lambda path: None
    rehearsal: bool = False


def read_place(place: Place) -> Iterator[Record | Refused]:
    """Runs first, then records of Every Eval Ever, then `.eval_results`, each by path: the most detailed go first."""
    for path in _list_files(place.root):
        within = path.relative_to(place.root).as_posix() if path != place.root else path.name
        origin = Origin(place.source, within, place.link(within), model=place.model, rehearsal=place.rehearsal)
        try:
            yield from _read_results(place, path, origin)
        except FAULTS as error:
            yield Refused(place.source, within, shortened(str(error).replace(str(path), within)))


def _list_files(root: Path) -> list[Path]:
    """Run folders, JSON files and YAML files. Of a model's repository only what holds results.

    Links to folders are not followed: they may lead round in a circle.
    """
    if root.is_file():
        return [root]
    found: list[tuple[int, Path]] = []
    for folder, folders, files in os.walk(root):
        here = Path(folder)
        if is_run_folder(here):
            found.append((0, here))
            folders.clear()
        elif here.name == EVAL_RESULTS:
            in_records = WRITTEN_BY_SUBMIT if (here.parent / RECORDS).is_dir() else ()
            names = [name for name in files if name.endswith((".yaml", ".yml")) and not matches(name, in_records)]
            found += [(2, here / name) for name in names]
            folders.clear()
        elif of_model := {EVAL_RESULTS, RECORDS} & {*folders}:
            folders[:] = of_model
        else:
            folders[:] = [name for name in folders if not name.startswith(".")]
            found += [(1, here / name) for name in files if name.endswith(".json") and not name.startswith(".")]
    return [path for _, path in sorted(found)]


def _read_results(place: Place, path: Path, origin: Origin) -> Iterator[Record | Refused]:
    if path.is_dir():
        return _read_run(path, _find_model(place, path), replace(origin, run=path))
    if path != place.root and path.is_symlink() and not path.resolve().is_relative_to(place.root.resolve()):
        raise ValueError("it is a link to what lies outside of this folder, and is not followed")
    if path.suffix == ".json":
        return parse_record(read_content(path), replace(origin, file=path, base=_read_base(place.root)))
    repository = path.parent.parent
    model = place.model or _find_model(place, repository)
    if model is None:
        raise ValueError("it does not say whose results these are; name the model with --model-id FOLDER=ORG/NAME")
    return parse_eval_results(read_content(path), replace(origin, file=path, model=model, base=_read_base(repository)))


def read_content(path: Path) -> object:
    """The plain values in a JSON or YAML file. Raises one of FAULTS."""
    if path.suffix == ".json":
        return read_object(path, "it is left out", LARGEST, ENCODING)
    return plain_yaml(read_regular(path, LARGEST_YAML).decode(ENCODING))


def _find_model(place: Place, folder: Path) -> str | None:
    """By the folder, or one around it; else by the path of the records in it, data/COLLECTION/ORG/NAME."""
    around = (folder.resolve(), *folder.resolve().parents)
    if named := next((place.models[each] for each in around if each in place.models), None):
        return named
    names = {f"{each.parent.name}/{each.name}" for each in (folder / RECORDS / "data").glob("*/*/*/")}
    return names.pop() if len(names) == 1 else None


def _read_base(repository: Path) -> str | None:
    """`base_model` of a model's card, the first where there are several; None where none can be read."""
    try:
        text = read_regular(repository / CARD, LARGEST_YAML).decode(ENCODING)
        metadata = plain_yaml(text.split("\n---", 1)[0].removeprefix("---")) if text.startswith("---") else None
        bases = metadata.get("base_model") if isinstance(metadata, Mapping) else None
    except FAULTS:
        return None
    base = bases[0] if isinstance(bases, list) and bases else bases
    return base.strip() if isinstance(base, str) else None


def _read_run(path: Path, model: str | None, origin: Origin) -> Iterator[Record | Refused]:
    """A run is read as the record that `evenhand submit` would make of it. Raises one of FAULTS for others."""
    content, figures = build_run_record(path, model, origin.rehearsal)
    for found, measured in zip(parse_record(content, origin), figures, strict=True):
        key = FigureKey.of(measured.figure, measured.row.groups)
        yield replace(found, figure=key) if isinstance(found, Record) else found


def build_run_record(
    path: Path, model: str | None, rehearsal: bool = False
) -> tuple[dict[str, Any], list[SubmittedFigure]]:
    """The record that `evenhand submit` would make of a run, and its figures in the same order.

    Args:
        model: its id on the Hub, where the user said it.
        rehearsal: read any finished run.

    Raises:
        EvenhandError: the run is not one to publish.
    """
    run = FinishedRun.read(path)
    with as_written(path):
        model = model or _name_model(run)
        if not rehearsal:
            check_run(run, model, under_another_name=True)
        figures, _ = submitted_figures(run)
        check_figures(run, figures)
        about = About(model, date_of(run.finished), "unknown", "other", None, None)
        return record(run, figures, about), figures


def _name_model(run: FinishedRun) -> str:
    """With a fingerprint unless it is from the Hub: a folder may have the name of any model."""
    name = shown(run.results.model)
    if commit_of(run) or name.startswith("stub:"):
        return name
    return f"{name} (not from the Hub, {hashlib.sha256(run.results.model_identity.encode()).hexdigest()[:8]})"
