"""Differences of two runs' figures on the rows that both answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.benchmarks import get_benchmark
from evenhand.errors import EvenhandError
from evenhand.figure import Figure, Sample
from evenhand.flow.foreign_files import as_written
from evenhand.flow.run_folder import RunFolder
from evenhand.hub.leaderboard.ranks import Paired
from evenhand.hub.leaderboard.records import Interval, Record
from evenhand.hub.submission.figures import is_signed
from evenhand.report.differences import FigureKey, differences

if TYPE_CHECKING:
    from evenhand.statistics.clustered import Difference

MOST_RUNS = 30  # of a column; of more, intervals decide

Differences = Mapping[FigureKey, "Difference"]


@dataclass
class PairedRuns:
    """Samples of runs, and differences of pairs of them: each computed once."""

    _samples: dict[str, Sample] = field(default_factory=dict)
    _found: dict[tuple[str, str, str], Differences] = field(default_factory=dict)

    def difference(self, benchmark: str, key: FigureKey, first: str, second: str) -> Difference | None:
        """Second minus first; None where they have no rows in common, or can't be compared by this figure."""
        asked = (key.figure, first, second)
        if asked not in self._found:
            with as_written(Path(first), Path(second)):
                self._found[asked] = differences(
                    get_benchmark(benchmark),
                    self._sample(benchmark, first),
                    self._sample(benchmark, second),
                    lambda figure: _groupings(figure) if figure.key == key.figure else (),
                )
        return self._found[asked].get(key)

    def _sample(self, benchmark: str, run: str) -> Sample:
        if run not in self._samples:
            predictions = RunFolder.open(Path(run)).read_predictions()
            self._samples[run] = get_benchmark(benchmark).sample(predictions)
        return self._samples[run]


def _groupings(figure: Figure) -> tuple[tuple[str, ...], ...]:
    return tuple(dict.fromkeys((*figure.headline, ())))


def paired(records: Sequence[Record], runs: PairedRuns) -> Paired | None:
    """For `ranks`, by places in a column's records; None where no two runs are here.

    Of a figure with a sign the column holds distances from zero, which the difference does not compare.
    """
    keys = {each.figure for each in records if each.run is not None}
    n_runs = sum(each.run is not None for each in records)
    if not 2 <= n_runs <= MOST_RUNS or len(keys) != 1:
        return None
    [key] = keys
    benchmark = records[0].column.benchmark
    if key is None or is_signed(get_benchmark(benchmark).figure(key.figure)):
        return None

    def difference(first: int, second: int) -> Interval | None:
        one, other = records[first].run, records[second].run
        if one is None or other is None:
            return None
        try:
            found = runs.difference(benchmark, key, one, other)
        except EvenhandError:
            return None  # the intervals decide
        return (found.low, found.high) if found is not None and found.differs else None

    return difference
