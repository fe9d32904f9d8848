"""Differences of two runs on the rows that both answered, for figures that are means over answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.benchmarks import BENCHMARKS, get_benchmark
from evenhand.errors import EvenhandError
from evenhand.flow.foreign_files import as_written
from evenhand.flow.run_folder import RunFolder
from evenhand.hub.leaderboard.ranks import Paired
from evenhand.hub.leaderboard.records import Column, Interval, Record

if TYPE_CHECKING:
    import pandas as pd

MOST_RUNS = 30  # of a column; of more, intervals decide


@dataclass
class Answers:
    """Predictions of runs, each read once."""

    _read: dict[str, pd.DataFrame] = field(default_factory=dict)

    def values(self, run: str, benchmark: str, wanted: Callable[[str], bool]) -> pd.DataFrame:
        """Each answer's value of these figures."""
        if run not in self._read:
            self._read[run] = RunFolder.open(Path(run)).read_predictions()
        return get_benchmark(benchmark).comparison().headline_of(self._read[run], wanted)


def _figures(column: Column) -> Callable[[str], bool] | None:
    """Which of a benchmark's headline figures the column's answers are of, as the benchmark says; None: of none."""
    if column.library != "evenhand" or column.benchmark not in BENCHMARKS:
        return None
    return get_benchmark(column.benchmark).comparison().answers_of(column.task, column.metric)


def paired(column: Column, records: Sequence[Record], answers: Answers) -> Paired | None:
    """For `ranks`, by places in records; None where no two runs are here, or the figure is no mean over answers."""
    runs = [each.run for each in records if each.run is not None]
    wanted = _figures(column) if 2 <= len(runs) <= MOST_RUNS else None
    if wanted is None:
        return None

    @cache
    def values(run: str) -> pd.DataFrame:
        return answers.values(run, column.benchmark, wanted)

    def difference(first: int, second: int) -> Interval | None:
        from evenhand.report.comparison import difference_of

        one, other = records[first].run, records[second].run
        if one is None or other is None:
            return None
        try:
            with as_written(Path(one), Path(other)):
                both = values(one).merge(values(other), on="id", suffixes=("_first", "_second"))
                found = difference_of(both) if len(both) else None
        except EvenhandError:
            return None  # the intervals decide
        return (found.low, found.high) if found is not None and found.differs else None

    return difference
