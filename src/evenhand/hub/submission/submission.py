"""The files of a submission, made of finished runs and of what the Hub says of their model and datasets."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from evenhand.errors import UsageError
from evenhand.flow.foreign_files import as_written
from evenhand.hub.client import explained, patient
from evenhand.hub.contents import Contents
from evenhand.hub.results_checks import packaged
from evenhand.hub.submission import eval_results, every_eval_ever
from evenhand.hub.submission.every_eval_ever import About
from evenhand.hub.submission.figures import submitted_figures
from evenhand.hub.submission.finished_run import FinishedRun, describe_model, is_that_model
from evenhand.hub.submission.validation import check_figures, check_run, check_texts, checked_date, date_of
from evenhand.training_record import RECORD, base_version, training_record

if TYPE_CHECKING:
    from huggingface_hub import EvalResultEntry

    from evenhand.hub.submission.command import SubmitOptions

TITLE = "Results measured with evenhand"
Result = tuple[str, str, str | None]  # ids of the dataset and of the task, the dataset's revision if it is named


@dataclass(frozen=True)
class Submission:
    """files: path in the model's repository to content. entries: what boards will show. notes: to be printed."""

    model_id: str
    files: Mapping[str, bytes]
    entries: Sequence[EvalResultEntry]
    notes: Sequence[str] = field(default_factory=list)

    @property
    def contents(self) -> Contents:
        return Contents("model", self.model_id, dict(self.files), TITLE)


def read_runs(paths: Sequence[Path]) -> list[FinishedRun]:
    """Raises UsageError for a run that is named twice, or a copy of another."""
    seen: dict[str, FinishedRun] = {}
    for path in paths:
        run = FinishedRun.read(path)
        if (first := seen.setdefault(run.fingerprint, run)) is not run:
            raise UsageError(f"{run.name} is the same run as {first.name}; name one of them")
    return [*seen.values()]


def make_submission(
    runs: Sequence[FinishedRun],
    asked: SubmitOptions,
    now: datetime,
    revisions: Mapping[str, str] = MappingProxyType({}),
    others: Mapping[Result, str] = MappingProxyType({}),
) -> Submission:
    """Make the files.

    Args:
        revisions: {dataset: commit on the Hub}, where they are known.
        others: {result: file} of what other files of the model's repository hold; it is not added again.

    Raises UsageError for runs that are not for others.
    """
    files: dict[str, bytes] = {}
    notes: list[str] = []
    entries: list[EvalResultEntry] = []
    check_texts(asked.source, asked.evaluator)
    for run in runs:
        with as_written(run.folder.path):
            check_run(run, asked.model_id, asked.under_another_name)
            found, missing = submitted_figures(run)
            check_figures(run, found)
            about = _about(run, asked, revisions, now)
            place = f"{every_eval_ever.FOLDER}/{every_eval_ever.place_of(run, about)}"
            samples = every_eval_ever.answer_lines(run, found, about) if asked.single_answers else None
            if samples:
                files[f"{place}_samples.jsonl"] = samples
            record = every_eval_ever.record(run, found, about, samples)
            files[f"{place}.json"] = f"{json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False)}\n".encode()
            notes += [f"{run.name}: {note}" for note in _notes(run, asked, missing, bool(samples))]
            if asked.namespace is not None and not eval_results.why_not_on_boards(run):
                url = asked.source or f"{_endpoint()}/{asked.model_id}/blob/main/{place}.json"
                source_name = "evenhand" if asked.source is None else "evaluation"
                entries += eval_results.entries(run, found, about, url, source_name)
    eval_results.check_entries(entries)
    for each in [*entries]:
        task = each.dataset_id, each.task_id
        if path := others.get((*task, each.dataset_revision)) or others.get((*task, None)):
            notes.append(f"{' '.join(task)} is already in {path}, and is not added again")
            entries.remove(each)
    files |= {eval_results.file_of(each): eval_results.as_yaml(each) for each in entries}
    return Submission(asked.model_id, dict(sorted(files.items())), entries, notes)


def _about(run: FinishedRun, asked: SubmitOptions, revisions: Mapping[str, str], now: datetime) -> About:
    date = asked.date or date_of(run.finished)
    return About(
        asked.model_id,
        checked_date(date, now, "--date" if asked.date else f"when {run.name} was finished"),
        asked.evaluator,
        asked.relationship,
        f"{asked.namespace}/{run.dataset}" if asked.namespace and packaged(run.results) else None,
        revisions.get(run.dataset),
    )


def _notes(run: FinishedRun, asked: SubmitOptions, missing: Sequence[str], samples: bool) -> Iterator[str]:
    """Yield what a person should know before it is sent. missing: configurations that were not asked."""
    if not is_that_model(run, asked.model_id):
        yield f"what ran was {describe_model(run)}: you say that it is {asked.model_id}, and the files say that you do"
    if missing:
        are = "is" if len(missing) == 1 else "are"
        yield f"{', '.join(missing)} {are} missing, so there is no figure over all tasks"
    if why := eval_results.why_not_on_boards(run):
        yield f"no .eval_results: {why}"
    elif asked.namespace is None:
        yield "no .eval_results: they need --namespace NS, where its dataset is published on the Hub"
    if asked.single_answers and not samples:
        yield "no single answers: only benchmarks of one question and one answer a row have some"


def _endpoint() -> str:
    from huggingface_hub import constants

    return constants.ENDPOINT.rstrip("/")


# What the Hub says


def complete_from_hub(runs: Sequence[FinishedRun], asked: SubmitOptions, now: datetime) -> Submission:
    """Make the submission with the datasets' commits, and without results that are in the repository already.

    Raises UsageError for a dataset that is not there, and a run of the weights that the model was tuned from.
    """
    with explained(f"asking the Hub about {asked.model_id}"):
        _refuse_base(runs, asked.model_id)
        if asked.namespace is None:
            return make_submission(runs, asked, now)
        revisions = _dataset_revisions(runs, asked.namespace)
        return make_submission(runs, asked, now, revisions, _results_of_others(asked.model_id))


def _dataset_revisions(runs: Sequence[FinishedRun], namespace: str) -> dict[str, str]:
    """Return {dataset: the commit of its version's tag}."""
    from huggingface_hub import list_repo_refs
    from huggingface_hub.errors import RepositoryNotFoundError

    found: dict[str, str] = {}
    for dataset, version in sorted({(run.dataset, str(run.dataset_version)) for run in runs if packaged(run.results)}):
        repo_id = f"{namespace}/{dataset}"
        try:
            refs = patient(partial(list_repo_refs, repo_id, repo_type="dataset"), f"looking for dataset {repo_id}")
            tags = {each.name: each.target_commit for each in refs.tags}
        except RepositoryNotFoundError:
            tags = {}
        if f"v{version}" not in tags:
            raise UsageError(
                f"dataset {repo_id}, version {version}, is not on the Hub, or the token may not see it (there: "
                f"{', '.join(sorted(tags)) or 'none'}); evenhand publish dataset {dataset} --namespace {namespace} "
                "publishes it"
            )
        if dataset in found:
            raise UsageError(f"the runs are of different versions of {dataset}; submit them one by one")
        found[dataset] = tags[f"v{version}"]
    return found


def _refuse_base(runs: Sequence[FinishedRun], model_id: str) -> None:
    """Raise UsageError for a run of the very weights that the model's training.json on the Hub names as its base."""
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError, RepositoryNotFoundError

    others = [run for run in runs if not is_that_model(run, model_id)]
    if not others:
        return
    try:
        path = patient(partial(hf_hub_download, model_id, RECORD), f"reading {RECORD} of {model_id}")
    except (EntryNotFoundError, RepositoryNotFoundError):
        return
    tuned_from = base_version(training_record(str(Path(path).parent)))
    for run in others:
        if tuned_from is not None and base_version({"base": {"identity": run.results.model_identity}}) == tuned_from:
            raise UsageError(
                f"{run.name} asked the base that {model_id} was tuned from (version {tuned_from} by its {RECORD}); "
                "name the run of the tuned model"
            )


def _results_of_others(model_id: str) -> dict[Result, str]:
    """Return {result: file} of the model's repository, without files of evenhand and files that can't be read."""
    import yaml  # type: ignore[import-untyped]
    from huggingface_hub import parse_eval_result_entries, snapshot_download
    from huggingface_hub.errors import RepositoryNotFoundError

    patterns = [f"{eval_results.FOLDER}/*.yaml", f"{eval_results.FOLDER}/*.yml"]
    call = partial(snapshot_download, model_id, allow_patterns=patterns)
    try:
        folder = Path(patient(call, f"reading the results of {model_id}"))
    except RepositoryNotFoundError:
        return {}
    found: dict[Result, str] = {}
    for path in sorted(folder.glob(f"{eval_results.FOLDER}/*")):
        try:
            entries = parse_eval_result_entries(yaml.safe_load(path.read_text(encoding="utf-8")))
        except (ValueError, TypeError, AttributeError, LookupError, yaml.YAMLError):
            continue
        for each in entries if not path.name.startswith("evenhand-") else ():
            found.setdefault((each.dataset_id, each.task_id, each.dataset_revision), f"{path.parent.name}/{path.name}")
    return found
