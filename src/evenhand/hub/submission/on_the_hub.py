"""What a submission asks the Hub: datasets' commits, what the model was tuned from, results that are there already."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.errors import UsageError
from evenhand.hub.client import explained, patient
from evenhand.hub.submission.eval_results import FOLDER, file_of
from evenhand.hub.submission.identity import is_that_model
from evenhand.training_record import RECORD, base_version

if TYPE_CHECKING:
    from huggingface_hub import EvalResultEntry, HfApi

    from evenhand.hub.submission.finished_run import FinishedRun

Task = tuple[str, str]  # dataset's id, task's id


def dataset_revisions(runs: Sequence[FinishedRun], namespace: str) -> dict[str, str]:
    """{dataset: commit of its version's tag, which evenhand publish sets}. Raises UsageError where it is missing."""
    asked = {(run.dataset, run.dataset_version) for run in runs if run.packaged}
    found: dict[str, str] = {}
    for dataset, version in sorted(asked, key=str):
        tag = f"v{version}"
        tags = _tags(f"{namespace}/{dataset}")
        if tag not in tags:
            there = ", ".join(sorted(tags)) or "no version"
            raise UsageError(
                f"{namespace}/{dataset} has no version {version} on the Hub (it has {there}), and the run's rows are "
                f"of that; evenhand publish dataset {dataset} --namespace {namespace} publishes this evenhand's"
            )
        if found.setdefault(dataset, tags[tag]) != tags[tag]:
            raise UsageError(f"the runs are of different versions of {dataset}; submit each by itself")
    return found


def _tags(repo_id: str) -> Mapping[str, str]:
    from huggingface_hub.errors import RepositoryNotFoundError

    what = f"looking for dataset {repo_id}"
    with explained(what):
        try:
            refs = patient(lambda: _api().list_repo_refs(repo_id, repo_type="dataset"), what)
        except RepositoryNotFoundError as error:
            raise UsageError(
                f"dataset {repo_id} is not on the Hub, or your token may not see it; --namespace is where the runs' "
                "datasets are published"
            ) from error
        return {each.name: each.target_commit for each in refs.tags}


def refuse_base(runs: Sequence[FinishedRun], model_id: str) -> None:
    """Raises UsageError for a run of the very weights that the model's training.json on the Hub names as its base."""
    named_otherwise = [run for run in runs if not is_that_model(run, model_id)]
    tuned_from = base_version(_training_record(model_id)) if named_otherwise else None
    for run in named_otherwise:
        if tuned_from is not None and base_version({"base": {"identity": run.results.model_identity}}) == tuned_from:
            raise UsageError(
                f"{run.name} asked the base that {model_id} was tuned from (version {tuned_from} by its {RECORD}), "
                "whose results are not its own; name the run of the tuned model"
            )


def _training_record(model_id: str) -> dict[str, Any]:
    """Empty where there is none that can be read; that a model is not there is for publishing to say."""
    from huggingface_hub.errors import EntryNotFoundError, RepositoryNotFoundError

    what = f"reading {RECORD} of {model_id}"
    with explained(what):
        try:
            path = patient(lambda: _api().hf_hub_download(model_id, RECORD), what)
            found = json.loads(Path(path).read_text(encoding="utf-8"))
        except (EntryNotFoundError, RepositoryNotFoundError, ValueError):
            return {}
    return found if isinstance(found, dict) else {}


def already_there(model_id: str, entries: Sequence[EvalResultEntry]) -> dict[Task, str]:
    """{task: the file in which it stands} of the entries that other files of the model have, at the same revision.

    An entry that names no revision is there at any. Files that can't be read have no results.
    """
    from huggingface_hub.errors import EntryNotFoundError, RepositoryNotFoundError

    revisions = {(each.dataset_id, each.task_id): each.dataset_revision for each in entries}
    ours = {file_of(each) for each in entries}
    found: dict[Task, str] = {}
    what = f"reading the results of {model_id}"
    with explained(what):
        api = _api()
        try:
            tree = patient(lambda: [*api.list_repo_tree(model_id, FOLDER)], what) if entries else []
        except (EntryNotFoundError, RepositoryNotFoundError):
            return {}
        for path in (each.path for each in tree if each.path.endswith((".yaml", ".yml")) and each.path not in ours):
            for task, revision in _tasks(api, model_id, path):
                asked = revisions.get(task)
                if task in revisions and (asked is None or revision in (None, asked)):
                    found.setdefault(task, path)
    return found


def _tasks(api: HfApi, model_id: str, path: str) -> Iterator[tuple[Task, str | None]]:
    """The task and the dataset's revision of each entry of a file."""
    import yaml  # type: ignore[import-untyped]

    local = patient(lambda: api.hf_hub_download(model_id, path), f"reading {path} of {model_id}")
    try:
        entries = yaml.safe_load(Path(local).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError, yaml.YAMLError):
        return
    for entry in entries if isinstance(entries, list) else []:
        dataset = entry.get("dataset") if isinstance(entry, Mapping) else None
        if isinstance(dataset, Mapping):
            revision = dataset.get("revision")
            yield (str(dataset.get("id")), str(dataset.get("task_id"))), None if revision is None else str(revision)


def _api() -> HfApi:
    from huggingface_hub import HfApi

    return HfApi(library_name="evenhand")
