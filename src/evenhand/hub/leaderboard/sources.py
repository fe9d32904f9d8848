"""Gather results from all sources in the order in which they are trusted: of several in one cell, the first stands.

A source holds runs and records of Every Eval Ever. Anyone may have written the files: they are regular, of bounded
size, and whatever is wrong with one is a `Refused`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from glob import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

from evenhand.errors import UsageError
from evenhand.flow.foreign_files import as_written, read_object, read_regular, shortened
from evenhand.flow.run_folder import is_run_folder
from evenhand.hub.client import explained, patient
from evenhand.hub.leaderboard.records import FAULTS, MODEL_ID, Column, Origin, Record, Refused, parse_results
from evenhand.hub.submission.every_eval_ever import FOLDER as RECORDS
from evenhand.hub.submission.every_eval_ever import About, record
from evenhand.hub.submission.figures import SubmittedFigure, submitted_figures
from evenhand.hub.submission.finished_run import FinishedRun, commit_of, shown
from evenhand.hub.submission.validation import check_run, date_of, parse_date
from evenhand.plain_yaml import plain_yaml
from evenhand.report.differences import FigureKey

CARD = "README.md"
ENCODING = "utf-8-sig"  # editors on Windows begin a file with a byte order mark
LARGEST, LARGEST_CARD = 2_000_000, 200_000  # bytes of a file
DATASETS = "datasets/"
SOURCES = (
    "run folders, records of Every Eval Ever, folders of them, ORG/NAME of a model on the Hub, or datasets/ORG/NAME"
)
RESULTS_OF_MODEL = [CARD, f"{RECORDS}/*.json"]


@dataclass(frozen=True)
class Gathered:
    """Records and refusals. rehearsal: whether runs of stubs and of parts of the rows were accepted."""

    records: tuple[Record, ...]
    refused: tuple[Refused, ...]
    rehearsal: bool = False


def gather(
    sources: Sequence[str], models: Mapping[Path, str] = {}, bases: Mapping[str, str] = {}, rehearsal: bool = False
) -> Gathered:
    """Read all sources.

    Args:
        sources: run folders, files, folders of them, or repositories of the Hub.
        models: {folder: the id of the model that its results are of}.
        bases: {model: its base}, which takes precedence over what is read.
        rehearsal: also read run folders of stubs and of parts of the rows.

    Raises:
        UsageError: a source doesn't exist.
    """
    standing: dict[tuple[Column, str], Record] = {}
    refused: list[Refused] = []
    for source in dict.fromkeys(sources):
        found = list(_read_source(source, models, rehearsal))
        if not found:
            refused.append(Refused(source, "all of it", "no run or record was found there"))
        refused += [each for each in found if isinstance(each, Refused)]
        records = [each for each in found if isinstance(each, Record)]
        for each in sorted(records, key=lambda each: parse_date(each.date), reverse=True):
            first = standing.setdefault((each.column, each.row), each)
            if first is not each:
                where = f"{each.origin.place}: {each.column.benchmark}.{each.column.task} of {each.row}"
                stands = f"{first.value:g} of {first.origin.source}, {first.origin.place} ({first.date}) stands"
                refused.append(Refused(source, where, f"a duplicate, {each.value:g}: {stands}"))
    records = [replace(each, base=bases.get(each.model, each.base)) for each in standing.values()]
    return Gathered(tuple(records), tuple(refused), rehearsal)


def _read_source(source: str, models: Mapping[Path, str], rehearsal: bool) -> Iterator[Record | Refused]:
    path, repository = Path(source), source.removeprefix("hf://")
    if os.path.lexists(path):
        yield from read_place(path, Origin(source, rehearsal=rehearsal), models)
    elif not MODEL_ID.fullmatch(repository.removeprefix(DATASETS)):
        raise UsageError(f"{source!r} is no folder or file here, and no id of the Hub; name {SOURCES}")
    elif repository == source and path.parent != Path() and path.parent.is_dir():
        raise UsageError(f"{source!r} does not exist, though {path.parent} does; for the Hub's write hf://{source}")
    else:
        yield from _read_repository(repository, source)


def _read_repository(repository: str, source: str) -> Iterator[Record | Refused]:
    """Read the results in "ORG/NAME" or "datasets/ORG/NAME". Raises UsageError for a missing repository."""
    from huggingface_hub import HfApi, constants
    from huggingface_hub.errors import RepositoryNotFoundError
    from huggingface_hub.utils import filter_repo_objects  # type: ignore[attr-defined]

    is_dataset, repo_id = repository.startswith(DATASETS), repository.removeprefix(DATASETS)
    kind = "dataset" if is_dataset else "model"
    allowed, ignored = (["*.json"], [".*", "*/.*"]) if is_dataset else (RESULTS_OF_MODEL, [])
    api, what = HfApi(library_name="evenhand"), f"reading {kind} {repo_id}"
    with explained(what), TemporaryDirectory(prefix="evenhand-") as folder:
        try:
            info: Any = patient(lambda: api.repo_info(repo_id, repo_type=kind, files_metadata=True), what)
        except RepositoryNotFoundError as error:
            raise UsageError(f"{source} is no {kind} on the Hub, or your token may not see it") from error
        large = {file.rfilename: file.size for file in info.siblings or [] if (file.size or 0) > LARGEST}
        for path in filter_repo_objects(large, allow_patterns=allowed, ignore_patterns=ignored):
            yield Refused(source, path, f"it has {large[path]:,} bytes; the limit is {LARGEST:,}")
        ignored += map(escape, large)
        of = {"repo_type": kind, "revision": info.sha, "allow_patterns": allowed, "ignore_patterns": ignored}
        patient(lambda: api.snapshot_download(repo_id, local_dir=folder, **of), what)
        address = f"{constants.ENDPOINT.rstrip('/')}/{repository}/blob/{info.sha}/"
        yield from read_place(Path(folder), Origin(source, model=None if is_dataset else repo_id), {}, address)


def read_place(root: Path, origin: Origin, models: Mapping[Path, str], address: str = "") -> Iterator[Record | Refused]:
    """Read runs first, then records of Every Eval Ever, each by path.

    Args:
        origin: what is known of all that is there.
        models: ids of models by folder, as the user said.
        address: of the folder on the Hub; empty: only this machine can open its files.
    """
    for path in _list_files(root):
        within = path.relative_to(root).as_posix() if path != root else path.name
        here = replace(origin, place=within, link=address + quote(within) if address else None)
        try:
            yield from _read_results(path, root, here, models)
        except FAULTS as error:
            yield Refused(origin.source, within, shortened(str(error).replace(str(path), within)))


def _list_files(root: Path) -> list[Path]:
    """List run folders, then JSON files; of a model's repository only records.

    Links to folders are not followed: they may lead round in a circle.
    """
    if root.is_file():
        return [root]
    runs: list[Path] = []
    records: list[Path] = []
    for folder, folders, files in os.walk(root):
        here = Path(folder)
        if is_run_folder(here):
            runs.append(here)
            folders.clear()
        elif RECORDS in folders:
            folders[:] = [RECORDS]
        else:
            folders[:] = [name for name in folders if not name.startswith(".")]
            records += [here / name for name in files if name.endswith(".json") and not name.startswith(".")]
    return [*sorted(runs), *sorted(records)]


def _read_results(path: Path, root: Path, origin: Origin, models: Mapping[Path, str]) -> Iterator[Record | Refused]:
    if path.is_dir():
        around = (path.resolve(), *path.resolve().parents)
        model = next((models[each] for each in around if each in models), None)
        return _read_run(path, model, replace(origin, run=path))
    if path != root and path.is_symlink() and not path.resolve().is_relative_to(root.resolve()):
        raise ValueError("it is a link to what lies outside of this folder, and is not followed")
    return parse_results(read_record(path), replace(origin, file=path, base=_read_base(root)))


def read_record(path: Path) -> object:
    """Return the plain values in a JSON file. Raises one of FAULTS."""
    return read_object(path, "it is left out", LARGEST, ENCODING)


def _read_base(repository: Path) -> str | None:
    """Return the (first) `base_model` of a model's card; None where there is none."""
    base = None
    with suppress(*FAULTS):
        text = read_regular(repository / CARD, LARGEST_CARD).decode(ENCODING)
        metadata = plain_yaml(text.split("\n---", 1)[0].removeprefix("---")) if text.startswith("---") else None
        bases = metadata.get("base_model") if isinstance(metadata, Mapping) else None
        base = bases[0] if isinstance(bases, list) and bases else bases
    return base.strip() if isinstance(base, str) else None


def _read_run(path: Path, model: str | None, origin: Origin) -> Iterator[Record | Refused]:
    """Read a run as the record that `evenhand submit` would make of it. Raises one of FAULTS."""
    content, figures = build_run_record(path, model, origin.rehearsal)
    for found, measured in zip(parse_results(content, origin), figures, strict=True):
        key = FigureKey.of(measured.figure, measured.row.groups)
        yield replace(found, figure=key) if isinstance(found, Record) else found


Built = tuple[dict[str, Any], list[SubmittedFigure]]


def build_run_record(path: Path, model: str | None, rehearsal: bool = False) -> Built:
    """Return the record that `evenhand submit` would make of a run, and its figures in the same order.

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
        about = About(model, date_of(run.finished), "unknown", "other", None, None)
        return record(run, figures, about), figures


def _name_model(run: FinishedRun) -> str:
    """Return the model's name, with a fingerprint unless it is from the Hub: a folder may have any name."""
    name = shown(run.results.model)
    if commit_of(run) or name.startswith("stub:"):
        return name
    return f"{name} (not from the Hub, {hashlib.sha256(run.results.model_identity.encode()).hexdigest()[:8]})"
