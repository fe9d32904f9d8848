"""The figures of a run that are submitted: the headline rows of its table, and the main figure of the whole benchmark.

Boards know only "lower" and "higher is better". Of a figure with a sign that is best at zero they get the distance from
zero; the raw figure is given, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.errors import UsageError
from evenhand.figure import Figure, FigureRow

if TYPE_CHECKING:
    from evenhand.hub.submission.finished_run import FinishedRun

Interval = tuple[float, float]


@dataclass(frozen=True)
class SubmittedFigure:
    """A figure of a task, as others collect it: without a sign."""

    figure: Figure
    row: FigureRow
    task: str

    @property
    def value(self) -> float:
        return abs(self.row.value) if is_signed(self.figure) else self.row.value

    @property
    def interval(self) -> Interval | None:
        found = self.row.interval
        return distances(found) if found is not None and is_signed(self.figure) else found

    @property
    def result_id(self) -> str:
        return f"{self.task}/{self.figure.key}"

    @property
    def description(self) -> str:
        return self.figure.description or self.figure.name


def is_signed(figure: Figure) -> bool:
    return figure.best == "zero"


def lower_is_better(figure: Figure) -> bool:
    return figure.best != "high"


def submitted_range(figure: Figure) -> Interval | None:
    """The least and the most that a submitted value can be; None: unknown."""
    ends = figure.statistic.range
    return (0.0, max(map(abs, ends))) if ends is not None and is_signed(figure) else ends


def distances(interval: Interval) -> Interval:
    """The distances from zero of what lies in an interval."""
    low, high = sorted(map(abs, interval))
    return (0.0 if interval[0] <= 0 <= interval[1] else low), high


def submitted_figures(run: FinishedRun) -> tuple[list[SubmittedFigure], tuple[str, ...]]:
    """The figures, and the configurations for lack of which the whole benchmark's is not among them.

    Raises UsageError for a run whose figures can't be told apart by task, or that has none.
    """
    benchmark, table, configs = run.benchmark, run.results.figures, run.results.config["configs"]
    declared = {figure.key: figure for figure in benchmark.figures if figure.best is not None}
    missing = benchmark.publishing.missing_configs(configs, benchmark.card)
    rows = [row for row in table if row.figure in declared and declared[row.figure].is_submitted(row)]
    main = benchmark.figures[0]
    whole = table.row(main.key)
    if main.submitted is None and whole.figure in declared and whole not in rows:
        rows.append(whole)
    rows = [row for row in rows if row.groups or row.headline or not missing]

    def task(row: FigureRow) -> str:
        if missing and not row.groups:
            return "-".join(configs)
        return benchmark.publishing.task(row.groups, configs, benchmark.card)

    try:
        found = [SubmittedFigure(declared[row.figure], row, name) for row in rows if (name := task(row))]
    except UsageError as error:
        raise UsageError(f"{run.name}: {error}") from error
    if not found:
        raise UsageError(f"{run.name}: {run.results.benchmark} has no headline figure; leave this run out")
    return found, missing
