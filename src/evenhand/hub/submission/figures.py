"""Which of a run's figures others collect: its benchmark says it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand.collected import Collection
from evenhand.errors import UsageError

if TYPE_CHECKING:
    from evenhand.hub.submission.finished_run import FinishedRun


def collection(run: FinishedRun) -> Collection:
    """Of all tasks that the run asked. A mean over a benchmark's tasks is there only where none of them is missing.

    Raises UsageError for a run whose figures can't be told apart by task, or that has none.
    """
    try:
        found = run.benchmark.collected(run.results, run.predictions)
    except UsageError as error:
        raise UsageError(f"{run.name}: {error}") from error
    if not found.figures:
        raise UsageError(f"{run.name}: {run.results.benchmark} has no figure that others collect; leave this run out")
    return replace(found, figures=tuple(found.figures))
