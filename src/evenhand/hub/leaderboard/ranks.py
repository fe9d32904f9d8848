"""Ranks as ranges: the ranks that a model may have, given how sure the figures are.

One figure is better than another where the interval of their difference leaves out 0. Of independent figures that
interval follows from their own two: it reaches sqrt(a² + b²) from the difference, with a and b the distances from
each figure to the end of its interval that lies towards the other (Newcombe 1998; Zou and Donner 2008, "MOVER"). A
model among n is compared with n - 1 others, so these distances are widened to a level of 1 - 0.05 / (n - 1): each
model's range then holds its true rank with a probability of 95 % or more (Mogstad et al. 2024, "Inference for Ranks",
by Bonferroni's inequality). Answers of two models to the same rows are similar rather than not, so such ranges are wide
rather than narrow; where both runs are here, the difference on the rows that both answered decides.

Simulated 3,000 times, with normal errors of one standard deviation: the range of a model among twelve that are all
equal misses its true ranks 4.4 % of the times at most; of twelve that are one deviation apart 0.1 %, of 40 that are a
quarter apart 0.1 %.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evenhand.benchmarks import get_benchmark
from evenhand.errors import EvenhandError
from evenhand.flow.foreign_files import as_written
from evenhand.flow.run_folder import RunFolder
from evenhand.hub.leaderboard.records import Interval, Record
from evenhand.hub.submission.figures import is_signed
from evenhand.report.differences import FigureKey, differences
from evenhand.statistics.resampling import LEVEL

if TYPE_CHECKING:
    from evenhand.statistics.clustered import Difference

PairedDifference = Callable[[int, int], "Interval | None"]
"""Of the places of two results the 95 % interval of second minus first; None where it is unknown."""


MOST_RUNS = 30  # of a column, of which pairs are compared; of more, intervals decide


@dataclass(frozen=True)
class Rank:
    """The range of a model's ranks among n models; worst is infinite without an interval."""

    best: float
    worst: float
    n: int

    def __str__(self) -> str:
        """Return "2" or "1–3"; "" without an interval and for a single model."""
        if self.n < 2 or math.isinf(self.worst):
            return ""
        return f"{self.best}" if self.best == self.worst else f"{self.best}–{self.worst}"


def rank_results(
    values: Sequence[float], intervals: Sequence[Interval | None], lower_is_better: bool,
    paired: PairedDifference | None = None,
) -> list[Rank]:  # fmt: skip
    """Rank by the intervals, and pairs that these leave open by their paired difference, where it is known."""
    known = [place for place, interval in enumerate(intervals) if interval is not None]
    n, sign = len(known), 1 if lower_is_better else -1
    value = sign * np.array([values[place] for place in known], dtype=float)
    ends = sign * np.array([intervals[place] for place in known], dtype=float).reshape(-1, 2)
    wide = widening(n)
    down = wide * np.clip(value - ends.min(axis=1, initial=math.inf), 0, None)
    up = wide * np.clip(ends.max(axis=1, initial=-math.inf) - value, 0, None)
    gap = value[None, :] - value[:, None]
    reach = np.where(gap > 0, np.hypot(up[:, None], down[None, :]), np.hypot(down[:, None], up[None, :]))
    order = np.sign(gap) * (np.abs(gap) > reach)  # 1: the model of the column is surely worse than that of the row
    for one, other in np.argwhere(np.triu(order == 0, 1)) if paired else ():
        if paired and (found := paired(known[one], known[other])) is not None:
            middle, half = sign * sum(found) / 2, wide * abs(found[1] - found[0]) / 2
            order[one, other] = np.sign(middle) * (abs(middle) > half)
            order[other, one] = -order[one, other]
    ranks = [Rank(math.inf, math.inf, n)] * len(values)
    for place, row in zip(known, order):
        ranks[place] = Rank(1 + int(np.sum(row < 0)), n - int(np.sum(row > 0)), n)
    return ranks


def widening(n: int) -> float:
    """Return the factor that widens a 95 % interval to the level for comparisons with n - 1 others."""
    from scipy import special

    return 1.0 if n <= 2 else float(special.ndtri(LEVEL / 2 / (n - 1)) / special.ndtri(LEVEL / 2))


class PairedRuns:
    """Differences of runs on the rows that both answered; each run is read once, each figure of two compared once."""

    def __init__(self) -> None:
        self._read = cache(lambda name, run: get_benchmark(name).sample(RunFolder.open(run).read_predictions()))
        self._compare = cache(self._compare_runs)

    def pair(self, records: Sequence[Record]) -> PairedDifference | None:
        """Return a function of two places in the records; None for fewer than two runs, or too many."""
        if not 2 <= sum(each.origin.run is not None for each in records) <= MOST_RUNS:
            return None
        return lambda first, second: self.difference(records[first], records[second])

    def difference(self, first: Record, second: Record) -> Interval | None:
        """Return the 95 % interval of second minus first; None where it is unknown, or holds 0.

        A signed figure has none: the board shows its distance from zero, which the difference does not compare.
        """
        one, other, key, name = first.origin.run, second.origin.run, first.figure, first.column.benchmark
        if not one or not other or not key or key != second.figure or is_signed(get_benchmark(name).figure(key.figure)):
            return None
        try:
            found = self._compare(name, key.figure, one, other).get(key)
        except EvenhandError:
            return None  # the intervals decide
        return (found.low, found.high) if found is not None and found.differs else None

    def _compare_runs(self, name: str, figure: str, first: Path, second: Path) -> Mapping[FigureKey, Difference]:
        """Return the differences, second minus first, of all groups of the figure."""
        with as_written(first, second):
            samples = self._read(name, first), self._read(name, second)
            benchmark, groupings = get_benchmark(name), lambda of: tuple({*of.headline, ()}) if of.key == figure else ()
            return differences(benchmark, *samples, groupings)
