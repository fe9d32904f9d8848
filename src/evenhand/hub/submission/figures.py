"""Which of a run's figures are submitted: rows of its table, each under the name of a task.

Many figures are best at 0, some of these with a sign: a board that knows only "lower" and "higher is better" gets the
distance from 0, and the raw figure stands beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.errors import UsageError
from evenhand.figure import Figure, FigureRow

if TYPE_CHECKING:
    from evenhand.hub.submission.finished_run import FinishedRun

Interval = tuple[float, float]


@dataclass(frozen=True)
class Submitted:
    """A figure of a task."""

    figure: Figure
    task: str
    row: FigureRow

    @property
    def raw(self) -> float:
        """Before its sign is taken off."""
        return self.row.value

    @property
    def value(self) -> float:
        return abs(self.raw) if is_signed(self.figure) else self.raw

    @property
    def interval(self) -> Interval | None:
        found = self.row.interval
        return distances(found) if found is not None and is_signed(self.figure) else found

    @property
    def n(self) -> int:
        return self.row.n

    @property
    def n_read(self) -> int:
        return self.row.n_read


@dataclass(frozen=True)
class Collection:
    """Of a run's tasks. lacking: configurations that were not asked, so that there is no figure of all."""

    figures: tuple[Submitted, ...]
    lacking: tuple[str, ...] = ()


def is_signed(figure: Figure) -> bool:
    """Whether its distance from 0 is submitted."""
    return figure.best == "zero"


def bounds(figure: Figure) -> tuple[float | None, float | None]:
    """Between which what is submitted lies; None: unknown."""
    if is_signed(figure):
        return 0.0, figure.span
    return figure.statistic.range or (None, None)


def distances(interval: Interval) -> Interval:
    """From 0, of what lies in an interval."""
    low, high = sorted(map(abs, interval))
    return (0.0 if interval[0] <= 0 <= interval[1] else low), high


def collection(run: FinishedRun) -> Collection:
    """Of all tasks that the run asked. A figure of all configurations is there only where none of them is missing.

    Raises UsageError for a run whose figures can't be told apart by task, or that has none.
    """
    card, configs = run.benchmark.card, run.results.config["configs"]
    lacking = tuple(sorted({*(card.default_configs or card.configs)} - {*configs}))
    try:
        found = tuple(
            Submitted(figure, task, row)
            for row in run.results.figures
            if (figure := run.benchmark.figure(row.figure)).best is not None
            and figure.grouping_of(row.groups) in groupings_submitted(run, figure)
            and (row.groups or not lacking)
            and (task := task_of(run, row.groups))
        )
    except UsageError as error:
        raise UsageError(f"{run.name}: {error}") from error
    if not found:
        raise UsageError(f"{run.name}: {run.results.benchmark} has no figure that others collect; leave this run out")
    return Collection(found, lacking)


def task_of(run: FinishedRun, groups: Mapping[str, str]) -> str:
    return run.benchmark.publishing.task(groups, run.results.config["configs"], run.benchmark.card)


def groupings_submitted(run: FinishedRun, figure: Figure) -> tuple[tuple[str, ...], ...]:
    if figure.submitted is not None:
        return figure.submitted
    whole: tuple[tuple[str, ...], ...] = ((),) if figure.headline and figure is run.benchmark.figures[0] else ()
    return tuple(dict.fromkeys((*figure.headline, *whole)))
