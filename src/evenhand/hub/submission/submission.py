"""The files of a submission, made of finished runs and looked through before anything is sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.errors import UsageError
from evenhand.flow.foreign_files import as_written
from evenhand.hub.contents import Contents
from evenhand.hub.submission import eval_results, every_eval_ever
from evenhand.hub.submission.every_eval_ever import About
from evenhand.hub.submission.figures import SubmittedFigure, submitted_figures
from evenhand.hub.submission.finished_run import FinishedRun
from evenhand.hub.submission.identity import is_that_model, told
from evenhand.hub.submission.options import SubmitOptions
from evenhand.hub.submission.validation import (
    check_about,
    check_entries,
    check_figures,
    check_run,
    checked_date,
    date_of,
)

if TYPE_CHECKING:
    from huggingface_hub import EvalResultEntry

TITLE = "Results measured with evenhand"


@dataclass(frozen=True)
class Submission:
    """files: path in the model's repository → content. entries: what boards will show. notes: to be said of it."""

    model_id: str
    files: Mapping[str, bytes]
    entries: Sequence[EvalResultEntry]
    notes: Sequence[str] = field(default_factory=list)

    def without(self, there: Mapping[tuple[str, str], str]) -> Submission:
        """Without the entries of tasks that other files of the repository have: {(dataset, task): file}."""
        kept = [each for each in self.entries if (each.dataset_id, each.task_id) not in there]
        left_out = {eval_results.file_of(each) for each in self.entries} - {eval_results.file_of(each) for each in kept}
        notes = [
            f"{dataset} {task} stands in {path} already, and is not added again"
            for (dataset, task), path in there.items()
        ]
        files = {path: content for path, content in self.files.items() if path not in left_out}
        return Submission(self.model_id, files, kept, [*self.notes, *notes])

    @property
    def contents(self) -> Contents:
        return Contents("model", self.model_id, dict(self.files), TITLE)


def read_runs(paths: Sequence[Path]) -> list[FinishedRun]:
    """Raises UsageError for a run that comes twice, whether its folder or a copy of it."""
    runs = [FinishedRun.read(path) for path in paths]
    seen: dict[str, FinishedRun] = {}
    for run in runs:
        if (first := seen.setdefault(run.fingerprint, run)) is not run:
            raise UsageError(f"{run.name} is the same run as {first.name}; name one of them")
    return runs


def submission(
    runs: Sequence[FinishedRun], asked: SubmitOptions, revisions: Mapping[str, str], now: datetime
) -> Submission:
    """revisions: {dataset: commit on the Hub} of those that are known there. Raises UsageError for what can't be."""
    files: dict[str, bytes] = {}
    notes: list[str] = []
    entries: list[EvalResultEntry] = []
    check_about(asked.source, asked.evaluator)
    for run in runs:
        with as_written(run.folder.path):
            check_run(run, asked.model_id, asked.under_another_name)
            found, missing = submitted_figures(run)
            check_figures(run, found)
            about = _about(run, asked, revisions, now)
            place = every_eval_ever.path_of(run, about)
            samples = every_eval_ever.answer_lines(run, found, about) if asked.single_answers else None
            if samples:
                files[f"{place}_samples.jsonl"] = samples
            files[f"{place}.json"] = every_eval_ever.as_json(every_eval_ever.record(run, found, about, samples or None))
            notes += _notes(run, asked, missing, bool(samples))
            entries += _entries(run, found, asked, about, f"{place}.json")
    check_entries(entries)
    files |= {eval_results.file_of(each): eval_results.as_yaml(each) for each in entries}
    return Submission(asked.model_id, dict(sorted(files.items())), entries, notes)


def _entries(
    run: FinishedRun, found: Sequence[SubmittedFigure], asked: SubmitOptions, about: About, record: str
) -> list[EvalResultEntry]:
    """For the boards that can hold them. record: its path, where a reader finds more by default."""
    if asked.namespace is None or eval_results.without_place(run):
        return []
    source = eval_results.Source(
        asked.namespace,
        asked.source or f"{_endpoint()}/{asked.model_id}/blob/main/{record}",
        "evenhand" if asked.source is None else "evaluation",
        about.date,
        about.revision,
    )
    return eval_results.entries(run, found, source)


def _about(run: FinishedRun, asked: SubmitOptions, revisions: Mapping[str, str], now: datetime) -> About:
    date, of = (
        (date_of(run.finished), f"when {run.name} was finished") if asked.date is None else (asked.date, "--date")
    )
    return About(
        asked.model_id,
        checked_date(date, now, of),
        asked.evaluator,
        asked.relationship,
        f"{asked.namespace}/{run.dataset}" if asked.namespace and run.packaged else None,
        revisions.get(run.dataset),
    )


def _notes(run: FinishedRun, asked: SubmitOptions, missing: Sequence[str], samples: bool) -> list[str]:
    """What a person should know before it is sent. missing: configurations that were not asked."""
    notes = []
    if not is_that_model(run, asked.model_id):
        notes.append(f"what ran was {told(run)}: you say that it is {asked.model_id}, and the files say that you do")
    if missing:
        are = "is" if len(missing) == 1 else "are"
        notes.append(f"{', '.join(missing)} {are} missing, so there is no figure over all; each task stands by itself")
    why = eval_results.without_place(run)
    if why:
        notes.append(f"no .eval_results: {why}")
    elif asked.namespace is None:
        notes.append("no .eval_results: --namespace NS says where its dataset is on the Hub, and was not given")
    if asked.single_answers and not samples:
        notes.append("no single answers: rows of one question and one read answer each have some")
    return [f"{run.name}: {note}" for note in notes]


def _endpoint() -> str:
    from huggingface_hub import constants

    return constants.ENDPOINT.rstrip("/")
