"""The figures of a run that are submitted: the headline rows of its table, and the main figure of the whole benchmark.

Boards know only "lower" and "higher is better". A signed figure whose best value is zero is submitted as its distance
from zero; the raw figure is given, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.errors import UsageError
from evenhand.figure import Figure, FigureRow
from evenhand.hub.results_checks import MOST_UNREAD

if TYPE_CHECKING:
    from evenhand.hub.submission.finished_run import FinishedRun

Interval = tuple[float, float]


def is_signed(figure: Figure) -> bool:
    return figure.best == "zero"


def lower_is_better(figure: Figure) -> bool:
    return figure.best != "high"


@dataclass(frozen=True)
class SubmittedFigure:
    """A figure of a task, without a sign."""

    figure: Figure
    row: FigureRow
    task: str

    @property
    def value(self) -> float:
        return abs(self.row.value) if is_signed(self.figure) else self.row.value

    @property
    def interval(self) -> Interval | None:
        interval = self.row.interval
        return distances(interval) if interval is not None and is_signed(self.figure) else interval

    @property
    def result_id(self) -> str:
        return f"{self.task}/{self.figure.key}"


def submitted_range(figure: Figure) -> Interval | None:
    """Return the least and the greatest value that can be submitted; None: unknown."""
    ends = figure.statistic.range
    return (0.0, max(map(abs, ends))) if ends is not None and is_signed(figure) else ends


def distances(interval: Interval) -> Interval:
    """Return the least and the greatest distance from zero in an interval."""
    low, high = sorted(map(abs, interval))
    return (0.0 if interval[0] <= 0 <= interval[1] else low), high


def submitted_figures(run: FinishedRun) -> tuple[list[SubmittedFigure], tuple[str, ...]]:
    """Return the figures, and the configurations that were not asked, so that the whole benchmark has no figure.

    Raises UsageError for a run that has no such figures, whose figures can't be assigned to tasks, or one of whose
    figures is no number, or mostly unread.
    """
    benchmark, configs = run.benchmark, run.results.config["configs"]
    declared = {figure.key: figure for figure in benchmark.figures if figure.best is not None}
    missing = benchmark.publishing.missing_configs(configs, benchmark.card)
    rows = [row for row in run.results.figures if row.figure in declared and declared[row.figure].is_submitted(row)]
    main = benchmark.figures[0]
    whole = run.results.figures.row(main.key)
    if main.submitted is None and whole.figure in declared and whole not in rows:
        rows.append(whole)
    found = []
    for row in rows:
        if missing and not row.groups:
            task = "-".join(configs) if row.headline else ""
        else:
            task = benchmark.publishing.task(row.groups, configs, benchmark.card)
        if task:
            found.append(SubmittedFigure(declared[row.figure], row, task))
    if not found:
        raise UsageError(f"{run.name}: {run.results.benchmark} has no headline figure; leave this run out")
    for each in found:
        what, row = f"{run.name}: {each.figure.key} of task {each.task}", each.row
        if row.n - row.n_read > MOST_UNREAD * row.n:
            unread, most = f"{row.n - row.n_read:,} of {row.n:,} answers could not be read", 100 * MOST_UNREAD
            raise UsageError(f"{what}: {unread} (at most {most:.0f} %); look at them, or try another --protocol")
        if not all(map(math.isfinite, (each.value, *(each.interval or ())))):
            raise UsageError(f"{what} is {each.value}, and not a number that can be compared; look at the run's report")
    return found, missing
