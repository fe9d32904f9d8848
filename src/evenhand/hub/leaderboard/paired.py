"""Differences of two runs on the rows that both answered, for figures that are means over answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.benchmarks import BENCHMARKS
from evenhand.errors import EvenhandError
from evenhand.figure import Figure, Sample
from evenhand.flow.foreign_files import as_written
from evenhand.hub.leaderboard.ranks import Paired
from evenhand.hub.leaderboard.records import Column, Interval, Record
from evenhand.hub.submission.figures import collection
from evenhand.hub.submission.finished_run import FinishedRun

if TYPE_CHECKING:
    from evenhand.statistics.clustered import Difference

MOST_RUNS = 30  # of a column; of more, intervals decide


@dataclass
class Answers:
    """Runs and their samples, each read once."""

    _read: dict[str, tuple[FinishedRun, Sample]] = field(default_factory=dict)

    def of(self, run: str) -> tuple[FinishedRun, Sample]:
        if run not in self._read:
            found = FinishedRun.read(Path(run))
            self._read[run] = found, found.benchmark.sample(found.predictions)
        return self._read[run]


def paired(column: Column, records: Sequence[Record], answers: Answers) -> Paired | None:
    """For `ranks`, by places in records; None where no two runs are here, or the figure is no mean over answers."""
    runs = [each.run for each in records if each.run is not None]
    ours = column.library == "evenhand" and column.benchmark in BENCHMARKS
    if not (ours and 2 <= len(runs) <= MOST_RUNS):
        return None

    @cache
    def group(run: str) -> tuple[Figure, Sample, Mapping[str, str]] | None:
        """The column's figure, and the rows that it is of."""
        finished, sample = answers.of(run)
        for each in collection(finished).figures:
            if (each.task, each.figure.key) == (column.task, column.metric):
                by = {name: each.row.groups[name] for name in each.figure.grouping_of(each.row.groups)}
                return each.figure, sample.where({**each.figure.where, **by}), each.row.groups
        return None

    def difference(first: int, second: int) -> Interval | None:
        one, other = records[first].run, records[second].run
        if one is None or other is None:
            return None
        try:
            with as_written(Path(one), Path(other)):
                found = _difference(group(one), group(other))
        except EvenhandError:
            return None  # the intervals decide
        return (found.low, found.high) if found is not None and found.differs else None

    return difference


def _difference(
    first: tuple[Figure, Sample, Mapping[str, str]] | None, second: tuple[Figure, Sample, Mapping[str, str]] | None
) -> Difference | None:
    if first is None or second is None:
        return None
    figure, one, groups = first
    for further, found in figure.statistic.differences(one, second[1]):
        if further.items() <= groups.items():
            return found
    return None
