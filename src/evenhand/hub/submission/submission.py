"""The files of a submission, made of finished runs and of what the Hub says of their model and datasets."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.errors import UsageError
from evenhand.flow.foreign_files import as_written
from evenhand.hub.client import explained, patient
from evenhand.hub.results_checks import is_packaged
from evenhand.hub.submission import eval_results, every_eval_ever
from evenhand.hub.submission.every_eval_ever import About
from evenhand.hub.submission.figures import SubmittedFigure, submitted_figures
from evenhand.hub.submission.finished_run import FinishedRun, describe_model, is_that_model
from evenhand.hub.submission.validation import check_run, checked_date, date_of
from evenhand.training_record import RECORD, base_version, training_record

if TYPE_CHECKING:
    from huggingface_hub import EvalResultEntry

    from evenhand.hub.submission.command import SubmitOptions

Result = tuple[str, str, str | None]  # ids of the dataset and of the task, the dataset's revision if it is named


@dataclass(frozen=True)
class CheckedRun:
    """A run that may be submitted. missing: configurations that were not asked; date: of the run."""

    run: FinishedRun
    figures: Sequence[SubmittedFigure]
    missing: Sequence[str]
    date: str


@dataclass(frozen=True)
class HubState:
    """What the Hub says.

    Attributes:
        revisions: {(dataset, version): commit of the version's tag}.
        others: {result: file} of what other files of the model's repository hold; it is not added again.
    """

    revisions: Mapping[tuple[str, str | None], str] = field(default_factory=dict)
    others: Mapping[Result, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Submission:
    """files: path in the model's repository to content. entries: what boards will show. notes: to be printed."""

    files: Mapping[str, bytes]
    entries: Sequence[EvalResultEntry]
    notes: Sequence[str]


def check_runs(paths: Sequence[Path], asked: SubmitOptions) -> list[CheckedRun]:
    """Read runs. Raises UsageError for those that are not for others, and for a run that is named twice or copied."""
    seen: dict[str, CheckedRun] = {}
    for path in paths:
        run = FinishedRun.read(path)
        with as_written(path):
            check_run(run, asked.model_id, asked.under_another_name)
            figures, missing = submitted_figures(run)
            of = "--date" if asked.date else f"when {run.name} was finished"
            date = checked_date(asked.date or date_of(run.finished), datetime.now(UTC), of)
            if run.fingerprint in seen:
                raise UsageError(f"{run.name} is the same run as {seen[run.fingerprint].run.name}; name one of them")
            seen[run.fingerprint] = CheckedRun(run, figures, missing, date)
    return [*seen.values()]


def make_submission(checked: Sequence[CheckedRun], asked: SubmitOptions, hub: HubState) -> Submission:
    """Make the files. Raises UsageError for two results of one task."""
    from huggingface_hub import constants

    files: dict[str, bytes] = {}
    notes: list[str] = []
    entries: list[EvalResultEntry] = []
    for each in checked:
        run = each.run
        repository = f"{asked.namespace}/{run.dataset}" if asked.namespace and is_packaged(run.results) else None
        revision = hub.revisions.get((run.dataset, run.dataset_version))
        about = About(asked.model_id, each.date, asked.evaluator, asked.relationship, repository, revision)
        place = f"{every_eval_ever.FOLDER}/{every_eval_ever.place_of(run, about)}"
        with as_written(run.folder.path):
            samples = every_eval_ever.answer_lines(run, each.figures, about) if asked.single_answers else None
            record = every_eval_ever.record(run, each.figures, about, samples)
        if samples:
            files[f"{place}_samples.jsonl"] = samples
        files[f"{place}.json"] = f"{json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False)}\n".encode()
        notes += [f"{run.name}: {note}" for note in _list_notes(each, asked, bool(samples))]
        if asked.namespace is not None and not eval_results.why_not_on_boards(run):
            url = asked.source or f"{constants.ENDPOINT.rstrip('/')}/{asked.model_id}/blob/main/{place}.json"
            source_name = "evenhand" if asked.source is None else "evaluation"
            entries += eval_results.make_entries(run, each.figures, about, url, source_name)
    for entry in [*entries]:
        task = entry.dataset_id, entry.task_id
        if path := hub.others.get((*task, entry.dataset_revision)) or hub.others.get((*task, None)):
            notes.append(f"{' '.join(task)} is already in {path}, and is not added again")
            entries.remove(entry)
    return Submission(dict(sorted({**files, **eval_results.dump_files(entries)}.items())), entries, notes)


def _list_notes(checked: CheckedRun, asked: SubmitOptions, has_samples: bool) -> Iterator[str]:
    """Yield what a person should know before it is sent."""
    run, missing = checked.run, checked.missing
    if not is_that_model(run, asked.model_id):
        yield f"what ran was {describe_model(run)}: you say that it is {asked.model_id}, and the files say that you do"
    if missing:
        yield f"{', '.join(missing)} {'are' if missing[1:] else 'is'} missing, so there is no figure over all tasks"
    if why := eval_results.why_not_on_boards(run):
        yield f"no .eval_results: {why}"
    elif asked.namespace is None:
        yield "no .eval_results: they need --namespace NS, where its dataset is published on the Hub"
    if asked.single_answers and not has_samples:
        yield "no single answers: only benchmarks of one question and one answer a row have some"


# What the Hub says


def ask_hub(runs: Sequence[FinishedRun], asked: SubmitOptions) -> HubState:
    """Return the datasets' commits, and the results that are in the model's repository already.

    Raises UsageError for a dataset that is not there, and a run of the weights that the model was tuned from.
    """
    with explained(f"asking the Hub about {asked.model_id}"):
        _refuse_base(runs, asked.model_id)
        if asked.namespace is None:
            return HubState()
        return HubState(_find_revisions(runs, asked.namespace), _find_results(asked.model_id))


def _find_revisions(runs: Sequence[FinishedRun], namespace: str) -> dict[tuple[str, str | None], str]:
    """Return {(dataset, version): the commit of the version's tag}."""
    from huggingface_hub import list_repo_refs
    from huggingface_hub.errors import RepositoryNotFoundError

    found: dict[tuple[str, str | None], str] = {}
    for dataset, version in {(run.dataset, run.dataset_version): None for run in runs if is_packaged(run.results)}:
        repo_id, tags = f"{namespace}/{dataset}", {}
        with suppress(RepositoryNotFoundError):
            refs = patient(partial(list_repo_refs, repo_id, repo_type="dataset"), f"looking for dataset {repo_id}")
            tags = {each.name: each.target_commit for each in refs.tags}
        if f"v{version}" not in tags:
            there = f"version {version}, is not on the Hub (there: {', '.join(sorted(tags)) or 'none'})"
            advice = f"evenhand publish dataset {dataset} --namespace {namespace} publishes it"
            raise UsageError(f"dataset {repo_id}, {there}; {advice}")
        found[dataset, version] = tags[f"v{version}"]
    return found


def _refuse_base(runs: Sequence[FinishedRun], model_id: str) -> None:
    """Raise UsageError for a run of the very weights that the model's training.json on the Hub names as its base."""
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError, RepositoryNotFoundError

    others = [run for run in runs if not is_that_model(run, model_id)]
    asked = {base_version({"base": {"identity": run.results.model_identity}}): run for run in others}
    tuned_from = None
    with suppress(EntryNotFoundError, RepositoryNotFoundError):
        if others:
            path = patient(partial(hf_hub_download, model_id, RECORD), f"reading {RECORD} of {model_id}")
            tuned_from = base_version(training_record(str(Path(path).parent)))
    if tuned_from is not None and tuned_from in asked:
        base = f"the base that {model_id} was tuned from (version {tuned_from} by its {RECORD})"
        raise UsageError(f"{asked[tuned_from].name} asked {base}; name the run of the tuned model")


def _find_results(model_id: str) -> dict[Result, str]:
    """Return {result: file} of the model's repository, without files of evenhand and files that can't be read."""
    import yaml  # type: ignore[import-untyped]
    from huggingface_hub import parse_eval_result_entries, snapshot_download
    from huggingface_hub.errors import RepositoryNotFoundError

    patterns = [f"{eval_results.FOLDER}/*.yaml", f"{eval_results.FOLDER}/*.yml"]
    download = partial(snapshot_download, model_id, allow_patterns=patterns)
    found: dict[Result, str] = {}
    with suppress(RepositoryNotFoundError):
        folder = Path(patient(download, f"reading the results of {model_id}"))
        for path in sorted(folder.glob(f"{eval_results.FOLDER}/*")):
            with suppress(ValueError, TypeError, AttributeError, LookupError, yaml.YAMLError):
                entries = parse_eval_result_entries(yaml.safe_load(path.read_text(encoding="utf-8")))
                for each in entries if not path.name.startswith("evenhand-") else ():
                    result = each.dataset_id, each.task_id, each.dataset_revision
                    found.setdefault(result, f"{path.parent.name}/{path.name}")
    return found
