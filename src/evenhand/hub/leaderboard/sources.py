"""Gather results from all sources in the order in which they are trusted: of several in one cell, the first stands."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from glob import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

from evenhand.errors import UsageError
from evenhand.hub.client import explained, patient
from evenhand.hub.leaderboard.files import CARD, LARGEST, Place, read_place
from evenhand.hub.leaderboard.records import Column, Record, Refused
from evenhand.hub.leaderboard.validation import MODEL_ID
from evenhand.hub.submission.eval_results import FOLDER as EVAL_RESULTS
from evenhand.hub.submission.every_eval_ever import FOLDER as RECORDS
from evenhand.hub.submission.validation import parse_date

DATASETS = "datasets/"
RESULTS_OF_MODEL = [CARD, f"{RECORDS}/*.json", f"{EVAL_RESULTS}/*.yaml", f"{EVAL_RESULTS}/*.yml"]


@dataclass(frozen=True)
class Gathered:
    """rehearsal: runs of stubs and of parts of the rows may be among the records."""

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
            refused.append(Refused(source, "all of it", "no run, record or .eval_results was found there"))
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
        yield from read_place(Place(source, path, models, rehearsal=rehearsal))
    elif not MODEL_ID.fullmatch(repository.removeprefix(DATASETS)):
        raise UsageError(
            f"{source!r} is no folder or file here, and no id of the Hub; name run folders, records of Every Eval "
            "Ever, folders of them, ORG/NAME of a model, or datasets/ORG/NAME"
        )
    elif repository == source and path.parent != Path() and path.parent.is_dir():
        raise UsageError(f"{source!r} does not exist, though {path.parent} does; for the Hub's write hf://{source}")
    else:
        yield from _read_repository(repository, source)


def _read_repository(repository: str, source: str) -> Iterator[Record | Refused]:
    """The results in "ORG/NAME" or "datasets/ORG/NAME". Raises UsageError for a repository that isn't there."""
    from huggingface_hub import HfApi, constants
    from huggingface_hub.errors import RepositoryNotFoundError
    from huggingface_hub.utils import filter_repo_objects  # type: ignore[attr-defined]

    is_dataset, repo_id = repository.startswith(DATASETS), repository.removeprefix(DATASETS)
    kind = "dataset" if is_dataset else "model"
    allowed, ignored = (["*.json"], [".*", "*/.*"]) if is_dataset else (RESULTS_OF_MODEL, [])
    api, what = HfApi(library_name="evenhand"), f"reading {kind} {repo_id}"
    with explained(what), TemporaryDirectory(prefix="evenhand-") as folder:
        try:
            info = patient(lambda: api.repo_info(repo_id, repo_type=kind, files_metadata=True), what)
        except RepositoryNotFoundError as error:
            raise UsageError(
                f"{source} is no {kind} on the Hub, or your token may not see it; name a folder or a file, ORG/NAME of "
                "a model, or datasets/ORG/NAME"
            ) from error
        large = {file.rfilename: file.size for file in info.siblings or [] if (file.size or 0) > LARGEST}
        for path in filter_repo_objects(large, allow_patterns=allowed, ignore_patterns=ignored):
            yield Refused(source, path, f"it has {large[path]:,} bytes; the limit is {LARGEST:,}")
        ignored += map(escape, large)
        patient(
            lambda: api.snapshot_download(
                repo_id, repo_type=kind, revision=info.sha, local_dir=folder, allow_patterns=allowed,
                ignore_patterns=ignored,
            ),
            what,
        )  # fmt: skip
        address = f"{constants.ENDPOINT.rstrip('/')}/{repository}/blob/{info.sha}/"
        model = None if is_dataset else repo_id
        yield from read_place(Place(source, Path(folder), model=model, link=lambda path: address + quote(path)))
