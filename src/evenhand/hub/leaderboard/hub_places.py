"""Repositories of the Hub, through HF_ENDPOINT: the files that may hold results, and nothing else, fetched to here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

from evenhand.errors import EvenhandError, UsageError
from evenhand.hub.client import explained, patient
from evenhand.hub.leaderboard.places import CARD, Place
from evenhand.hub.leaderboard.reading import LARGEST
from evenhand.hub.leaderboard.records import Refused
from evenhand.hub.submission.eval_results import FOLDER as EVAL_RESULTS
from evenhand.hub.submission.every_eval_ever import FOLDER as RECORDS

MOST_FILES = 50_000
AT_ONCE = 8
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
    from huggingface_hub.errors import EntryNotFoundError, RepositoryNotFoundError
    from huggingface_hub.hf_api import RepoFile

    what = f"reading {repository.type} {repository.id}"
    api = HfApi(library_name="evenhand")
    with explained(what), TemporaryDirectory(prefix="evenhand-") as folder:
        try:
            info = patient(lambda: api.repo_info(repository.id, repo_type=repository.type), what)
        except RepositoryNotFoundError as error:
            kind = "no folder here, and no model" if repository.type == "model" else "no dataset"
            raise UsageError(
                f"{source} is {kind} on the Hub, or your token may not see it; a folder or a file, ORG/NAME of a "
                "model and datasets/ORG/NAME are accepted"
            ) from error
        commit = str(info.sha)

        def listed() -> dict[str, int]:
            tree = api.list_repo_tree(repository.id, repo_type=repository.type, revision=commit, recursive=True)
            return {each.path: each.size for each in tree if isinstance(each, RepoFile)}

        sizes = {path: size for path, size in patient(listed, what).items() if _may_hold(path, repository.type)}
        if len(sizes) > MOST_FILES:
            raise EvenhandError(f"{source} has {len(sizes):,} files of results; {MOST_FILES:,} are the most")
        large = {path for path, size in sizes.items() if size > LARGEST}

        def fetch(path: str) -> None:
            def get() -> str:
                return api.hf_hub_download(
                    repository.id, path, repo_type=repository.type, revision=commit, local_dir=folder
                )

            try:
                patient(get, f"reading {path} of {repository.id}")
            except EntryNotFoundError:  # what the listing names and the Hub hasn't: left out
                return

        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(fetch, sorted({*sizes} - large)))
        address = f"{constants.ENDPOINT.rstrip('/')}/{repository.page}/blob/{commit}/"
        model = repository.id if repository.type == "model" else None
        link: Callable[[str], str | None] = lambda path: address + quote(path)  # noqa: E731
        too_large = [
            Refused(source, path, f"it has {sizes[path]:,} bytes, and {LARGEST:,} are accepted")
            for path in sorted(large)
        ]
        yield Place(source, Path(folder), model=model, link=link), too_large


def _may_hold(path: str, kind: str) -> bool:
    """Of a model's repository its two folders and its card."""
    if not path.isprintable() or ".." in path.split("/") or path.startswith((".cache/", "/")):
        return False
    if kind == "model":
        of_records = path.startswith(f"{RECORDS}/") and path.endswith(".json")
        return path == CARD or of_records or (path.startswith(f"{EVAL_RESULTS}/") and path.endswith((".yaml", ".yml")))
    hidden = any(part.startswith(".") and part != EVAL_RESULTS for part in path.split("/"))
    return not hidden and path.endswith(".json")
