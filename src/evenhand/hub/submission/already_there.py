"""Results that are in a model's repository already, in somebody's file of another name: they are not added again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from evenhand.hub.client import explained, patient
from evenhand.hub.submission.eval_results import FOLDER, file_of

if TYPE_CHECKING:
    from huggingface_hub import EvalResultEntry, HfApi

LARGEST = 1_000_000  # bytes; a larger one is nobody's results
Task = tuple[str, str]  # dataset's id, task's id


def already_there(model_id: str, entries: list[EvalResultEntry]) -> dict[Task, str]:
    """{task: the file in which it stands}, of those of the entries that other files have, of the same revision.

    Of an entry that names no revision, any; a model that isn't there has none. Files that can't be read have none.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import RepositoryNotFoundError

    if not entries:
        return {}
    revisions = {(each.dataset_id, each.task_id): each.dataset_revision for each in entries}
    ours = {file_of(each) for each in entries}
    found: dict[Task, str] = {}
    what = f"reading the results of {model_id}"
    with explained(what):
        api = HfApi(library_name="evenhand")
        try:
            files = patient(lambda: _files(api, model_id), what)
        except RepositoryNotFoundError:
            return {}  # what is to be said of that, publishing says
        for path in (each for each in files if each not in ours):
            for task, revision in _tasks(api, model_id, path):
                asked = revisions.get(task)
                if task in revisions and (asked is None or revision in (None, asked)):
                    found.setdefault(task, path)
    return found


def _files(api: HfApi, model_id: str) -> list[str]:
    from huggingface_hub.errors import EntryNotFoundError
    from huggingface_hub.hf_api import RepoFile

    try:
        listed = [*api.list_repo_tree(model_id, FOLDER)]
    except EntryNotFoundError:
        return []
    return [
        each.path
        for each in listed
        if isinstance(each, RepoFile) and each.path.endswith((".yaml", ".yml")) and each.size <= LARGEST
    ]


def _tasks(api: HfApi, model_id: str, path: str) -> Iterator[tuple[Task, str | None]]:
    """Of each entry of a file that may be anybody's."""
    import yaml  # type: ignore[import-untyped]

    local = patient(lambda: api.hf_hub_download(model_id, path), f"reading {path} of {model_id}")
    try:
        with open(local, encoding="utf-8") as file:
            told = yaml.safe_load(file)
    except (OSError, ValueError, RecursionError, yaml.YAMLError):
        return
    for entry in told if isinstance(told, list) else []:
        dataset = entry.get("dataset") if isinstance(entry, Mapping) else None
        if isinstance(dataset, Mapping):
            revision = dataset.get("revision")
            yield (str(dataset.get("id")), str(dataset.get("task_id"))), None if revision is None else str(revision)
