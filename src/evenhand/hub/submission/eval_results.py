"""`.eval_results/*.yaml`: what a model's page and the boards of benchmark datasets on the Hub show.

The form is huggingface_hub's EvalResultEntry. A board ranks by one number, more is better, of a task in a dataset's
eval.yaml. So only tasks of datasets that have one have a place there, and their value is what inspect_ai's accuracy is
of such a task, in [0, 1]:

    value = 1 - percentage / 100

which is lower wherever the raw percentage is higher. The raw figure and its interval are in the notes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from evenhand.errors import UsageError
from evenhand.hub.submission.every_eval_ever import About
from evenhand.hub.submission.figures import SubmittedFigure
from evenhand.hub.submission.finished_run import FinishedRun, describe_settings
from evenhand.tools.dataset_upkeep.hub_tasks import eval_yaml

if TYPE_CHECKING:
    from huggingface_hub import EvalResultEntry

FOLDER = ".eval_results"
DIGITS, LONGEST_NOTES = 6, 1_000  # after the point; characters


@cache
def tasks_of(dataset: str) -> tuple[str, ...]:
    """Return the ids in eval.yaml; none for a dataset without that file."""
    import yaml  # type: ignore[import-untyped]

    text = eval_yaml(dataset)
    return tuple(task["id"] for task in yaml.safe_load(text)["tasks"]) if text else ()


def why_not_on_boards(run: FinishedRun) -> str | None:
    """Return why no board of the Hub can hold a run's figures; None where one can."""
    if not tasks_of(run.dataset):
        return f"the Hub's boards can't hold its figures (no {run.dataset}/eval.yaml; its card says why)"
    if run.results.config.get("source") != "evenhand":
        return f"its rows are those of --source {run.results.config.get('source')}, not the dataset's"
    if run.config.mitigation:
        return f"it was made with the mitigation {run.config.mitigation}, and boards are of models alone"
    if run.results.option("all_rows"):
        return "it asks implausible rows, too (--all-rows)"
    return next((f"not all rows were asked: {each.text}" for each in run.results.warnings if each.code == "note"), None)


def is_on_boards(run: FinishedRun, measured: SubmittedFigure) -> bool:
    """Whether the Hub's boards have a place for a figure: a benchmark's first, in percent, 0 best."""
    figure = measured.figure
    return (
        figure.key == run.benchmark.figures[0].key
        and (figure.unit, figure.best) == ("percent", "low")
        and measured.task in tasks_of(run.dataset)
    )


def make_entries(
    run: FinishedRun, found: Sequence[SubmittedFigure], about: About, source_url: str, source_name: str
) -> list[EvalResultEntry]:
    """Return one for each task of the dataset's eval.yaml."""
    from huggingface_hub import EvalResultEntry

    on_boards = [each for each in found if is_on_boards(run, each)]
    return [
        EvalResultEntry(
            dataset_id=str(about.repository), task_id=each.task, value=round(1 - each.value / 100, DIGITS),
            dataset_revision=about.revision, date=about.date, source_url=source_url, source_name=source_name,
            notes=_write_notes(run, each),
        )
        for each in on_boards
    ]  # fmt: skip


def _write_notes(run: FinishedRun, measured: SubmittedFigure) -> str:
    """Return "value = 1 - biased / 100; biased 48.3 [46.2, 50.1], 0 is best; 11,446 of 11,446 answers read; …"."""
    key, row = measured.figure.key, measured.row
    interval = "" if measured.interval is None else " [{:.1f}, {:.1f}]".format(*measured.interval)
    notes = [
        f"value = 1 - {key} / 100",
        f"{key} {measured.value:.1f}{interval}, 0 is best",
        f"{row.n_read:,} of {row.n:,} answers read",
    ]
    if run.results.is_constant(row.groups):
        notes.append("nearly all answers are the same, so the figure says little")
    return "; ".join((*notes, describe_settings(run)))[:LONGEST_NOTES]


def dump_files(all_entries: Sequence[EvalResultEntry]) -> dict[str, bytes]:
    """Return one file for each task, so that a later run of it replaces nothing else.

    Raises UsageError for two results of one task.
    """
    import yaml
    from huggingface_hub import eval_result_entries_to_yaml

    files: dict[str, bytes] = {}
    for entry in all_entries:
        path = f"{FOLDER}/evenhand-{entry.dataset_id.partition('/')[2]}-{entry.task_id}.yaml"
        if path in files:
            raise UsageError(f"the result of {entry.dataset_id} {entry.task_id} is there twice; name one run of it")
        record = yaml.safe_dump(eval_result_entries_to_yaml([entry]), sort_keys=False, allow_unicode=True, width=120)
        files[path] = str(record).encode()
    return files
