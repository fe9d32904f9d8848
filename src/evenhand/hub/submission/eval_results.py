"""`.eval_results/*.yaml`: what a model's page and the boards of benchmark datasets on the Hub show.

The form is huggingface_hub's (EvalResultEntry, tried with 2.4). A board ranks by one number, more is better, of a task
in a dataset's eval.yaml. So only tasks of datasets that have one have a place there, and their value
is what inspect_ai's accuracy is of such a task, in [0, 1]:

    value = 1 - percentage / 100

which is lower wherever the raw percentage is higher. The raw figure and its interval stand in the notes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from evenhand.errors import EvenhandError
from evenhand.hub.submission.figures import SubmittedFigure, is_signed, lower_is_better
from evenhand.hub.submission.settings import notes
from evenhand.tools.dataset_upkeep.hub_tasks import eval_yaml

if TYPE_CHECKING:
    from huggingface_hub import EvalResultEntry

    from evenhand.hub.submission.finished_run import FinishedRun

FOLDER = ".eval_results"
DIGITS = 6


@dataclass(frozen=True)
class Source:
    """Where a reader finds more. revision: the dataset's commit on the Hub; None where it is not known."""

    namespace: str
    url: str
    name: str
    date: str
    revision: str | None


@cache
def tasks_of(dataset: str) -> tuple[str, ...]:
    """The ids of eval.yaml; none of a dataset that has no such file."""
    import yaml  # type: ignore[import-untyped]

    text = eval_yaml(dataset)
    return tuple(task["id"] for task in yaml.safe_load(text)["tasks"]) if text else ()


def without_place(run: FinishedRun) -> str | None:
    """Why no board of the Hub can hold a run's figures; None where one can."""
    if not tasks_of(run.dataset):
        return f"the Hub's boards can't hold its figures (no {run.dataset}/eval.yaml; its card says why)"
    if run.results.config.get("source") != "evenhand":
        return f"its rows are those of --source {run.results.config.get('source')}, not the dataset's"
    if run.config.mitigation:
        return f"it was made with the mitigation {run.config.mitigation}, and boards are of models alone"
    if run.results.option("all_rows"):
        return "it asks implausible rows, too (--all-rows)"
    return None


def share(measured: SubmittedFigure) -> float:
    """In [0, 1], more is better: of a percentage that is better the lower it is."""
    figure = measured.figure
    if figure.unit != "percent" or not lower_is_better(figure) or is_signed(figure):
        raise ValueError(f"{figure.key} is no percentage that is best at 0")
    return round(1 - measured.value / 100, DIGITS)


def entries(run: FinishedRun, found: Sequence[SubmittedFigure], source: Source) -> list[EvalResultEntry]:
    """One for each task of the dataset's eval.yaml."""
    from huggingface_hub import EvalResultEntry

    known = tasks_of(run.dataset)
    return [
        EvalResultEntry(
            dataset_id=f"{source.namespace}/{run.dataset}",
            task_id=each.task,
            value=share(each),
            dataset_revision=source.revision,
            date=source.date,
            source_url=source.url,
            source_name=source.name,
            notes=f"value = 1 - {each.figure.key} / 100; {raw(each)}; {constant(run, each)}{notes(run)}",
        )
        for each in found
        if each.task in known
    ]


def constant(run: FinishedRun, measured: SubmittedFigure) -> str:
    """That a model which answers all questions of a group alike has a score that means nothing."""
    alike = run.results.is_constant(measured.row.groups)
    return "nearly all answers are the same, so the figure says little; " if alike else ""


def raw(measured: SubmittedFigure) -> str:
    """ "biased 48.3 [46.2, 50.1], 0 is best; 11,446 of 11,446 answers read"."""
    interval = "" if measured.interval is None else " [{:.1f}, {:.1f}]".format(*measured.interval)
    row = measured.row
    return f"{measured.figure.key} {measured.value:.1f}{interval}, 0 is best; {row.n_read:,} of {row.n:,} answers read"


def file_of(entry: EvalResultEntry) -> str:
    """One file a task, so that a later run of it takes its place and nothing else's."""
    dataset = entry.dataset_id.partition("/")[2]
    return f"{FOLDER}/evenhand-{dataset}-{entry.task_id}.yaml"


def as_yaml(entry: EvalResultEntry) -> bytes:
    """The file's text; read back by the client's own parser, or EvenhandError."""
    import yaml
    from huggingface_hub import eval_result_entries_to_yaml, parse_eval_result_entries

    records: list[dict[str, Any]] = eval_result_entries_to_yaml([entry])
    text = str(yaml.safe_dump(records, sort_keys=False, allow_unicode=True, width=120))
    if parse_eval_result_entries(yaml.safe_load(text)) != [entry]:
        raise EvenhandError(f"the result of {entry.dataset_id} {entry.task_id} does not come back as it was written")
    return text.encode()
