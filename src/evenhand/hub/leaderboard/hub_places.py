"""Repositories of the Hub, through HF_ENDPOINT: the files that may hold results, and nothing else, fetched to here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

from evenhand.errors import EvenhandError, UsageError
from evenhand.hub.client import explained, patient
from evenhand.hub.leaderboard.places import CARD, LARGEST, Place
from evenhand.hub.leaderboard.records import Refused
from evenhand.hub.submission.eval_results import FOLDER as EVAL_RESULTS
from evenhand.hub.submission.every_eval_ever import FOLDER as RECORDS

MOST_FILES = 50_000
DATASETS = "datasets/"


@dataclass(frozen=True)
class Repository:
    id: str
    type: str

    @property
    def page(self) -> str:
        return (DATASETS if self.type == "dataset" else "") + self.id


def repository_named(source: str) -> Repository | None:
    """ "ORG/NAME" is a model's, "datasets/ORG/NAME" one of results; None for what can't be an id."""
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

    of = source.removeprefix("hf://")
    repo_id = of.removeprefix(DATASETS)
    try:
        validate_repo_id(repo_id)
    except HFValidationError:
        return None
    return Repository(repo_id, "dataset" if of.startswith(DATASETS) else "model") if repo_id.count("/") == 1 else None


@contextmanager
def fetched(repository: Repository, source: str) -> Iterator[tuple[Place, list[Refused]]]:
    """The place, and files that were too large to be fetched. Raises UsageError for a repository that isn't there."""
    from huggingface_hub import HfApi, constants
    from huggingface_hub.errors import RepositoryNotFoundError
    from huggingface_hub.hf_api import RepoFile

    what = f"reading {repository.type} {repository.id}"
    kind = repository.type
    api = HfApi(library_name="evenhand")
    with explained(what), TemporaryDirectory(prefix="evenhand-") as folder:
        try:
            commit = str(patient(lambda: api.repo_info(repository.id, repo_type=kind), what).sha)
        except RepositoryNotFoundError as error:
            named = "no folder here, and no model" if repository.type == "model" else "no dataset"
            raise UsageError(
                f"{source} is {named} on the Hub, or your token may not see it; a folder or a file, ORG/NAME of a "
                "model and datasets/ORG/NAME are accepted"
            ) from error
        tree = patient(
            lambda: [*api.list_repo_tree(repository.id, repo_type=kind, revision=commit, recursive=True)], what
        )
        files = [each for each in tree if isinstance(each, RepoFile) and _may_hold(each.path, repository.type)]
        if len(files) > MOST_FILES:
            raise EvenhandError(f"{source} has {len(files):,} files of results; {MOST_FILES:,} are the most")
        fetched_paths = [each.path for each in files if each.size <= LARGEST]
        if fetched_paths:
            patient(
                lambda: api.snapshot_download(
                    repository.id, repo_type=kind, revision=commit, local_dir=folder,
                    allow_patterns=[escape(path) for path in fetched_paths],
                ),
                what,
            )  # fmt: skip
        address = f"{constants.ENDPOINT.rstrip('/')}/{repository.page}/blob/{commit}/"
        model = repository.id if repository.type == "model" else None
        too_large = [
            Refused(source, each.path, f"it has {each.size:,} bytes, and {LARGEST:,} are accepted")
            for each in sorted(files, key=lambda each: each.path)
            if each.size > LARGEST
        ]
        yield Place(source, Path(folder), model=model, link=lambda path: address + quote(path)), too_large


def _may_hold(path: str, kind: str) -> bool:
    """Of a model's repository its two folders and its card."""
    if not path.isprintable() or ".." in path.split("/") or path.startswith((".cache/", "/")):
        return False
    if kind == "model":
        of_records = path.startswith(f"{RECORDS}/") and path.endswith(".json")
        return path == CARD or of_records or (path.startswith(f"{EVAL_RESULTS}/") and path.endswith((".yaml", ".yml")))
    hidden = any(part.startswith(".") and part != EVAL_RESULTS for part in path.split("/"))
    return not hidden and path.endswith(".json")
