"""Ranks as ranges: of a model, those that it may have, given how sure the figures are.

One figure is better than another where the interval of their difference leaves out 0. Of independent figures that
interval follows from their own two: it reaches sqrt(a² + b²) from the difference, with a and b the distances from
each figure to the end of its interval that lies towards the other (Newcombe 1998; Zou and Donner 2008, "MOVER"). A
model among n is compared with n - 1 others, so these distances are widened to a level of 1 - 0.05 / (n - 1): each
model's range then holds its true rank with a probability of 95 % or more (Mogstad et al. 2024, "Inference for Ranks",
by Bonferroni's inequality). Answers of two models to the same rows are alike rather than not, so such ranges are wide
rather than narrow; where both runs are here, `paired.py` gives the difference itself.

Simulated 3,000 times, with normal errors of one standard deviation: the range of a model among twelve that are all
alike misses its true ranks 4.4 % of the times at most; of twelve that are one deviation apart 0.1 %, of 40 that are a
quarter apart 0.1 %.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evenhand.hub.leaderboard.records import Interval
from evenhand.statistics.resampling import LEVEL

AT_ONCE = 500  # models compared with all others, to bound memory

Paired = Callable[[int, int], "Interval | None"]
"""Of the places of two results the 95 % interval of second minus first; None where nobody knows."""


@dataclass(frozen=True)
class Ranks:
    """Of one column. best, worst: by place; None of results without an interval, which aren't ranked. n: the ranked."""

    best: tuple[int | None, ...]
    worst: tuple[int | None, ...]
    n: int

    def text(self, place: int) -> str:
        """ "2" or "1–3"; nothing of what is not ranked, or alone."""
        best, worst = self.best[place], self.worst[place]
        return "" if best is None or self.n < 2 else f"{best}" if best == worst else f"{best}–{worst}"


def widening(n: int) -> float:
    """How much wider an interval of 95 % is at the level for comparisons with n - 1 others."""
    from scipy import stats

    return 1.0 if n <= 2 else float(stats.norm.isf(LEVEL / 2 / (n - 1)) / stats.norm.isf(LEVEL / 2))


def ranks(
    values: Sequence[float], intervals: Sequence[Interval | None], lower_is_better: bool, paired: Paired | None = None
) -> Ranks:
    """By the intervals; pairs that these leave open by their paired difference, where it is known."""
    known = [place for place, interval in enumerate(intervals) if interval is not None]
    sign = 1.0 if lower_is_better else -1.0
    value = sign * np.array([values[place] for place in known], dtype=float)
    ends = np.array([intervals[place] for place in known], dtype=float).reshape(-1, 2) * sign
    wide = widening(len(known))
    down = wide * np.clip(value - ends.min(axis=1, initial=math.inf), 0, None)
    up = wide * np.clip(ends.max(axis=1, initial=-math.inf) - value, 0, None)
    better, worse = _counts(value, down, up)
    if paired is not None:
        for i in range(len(known)):
            for j in range(i + 1, len(known)):
                if not _apart(value[[i, j]], down[[i, j]], up[[i, j]]):
                    sure = _surely(paired(known[i], known[j]), sign, wide)
                    first, second = (i, j) if sure > 0 else (j, i)  # of the two, the better one
                    worse[first] += sure != 0
                    better[second] += sure != 0
    of = {place: k for k, place in enumerate(known)}
    best = tuple(1 + int(better[of[k]]) if k in of else None for k in range(len(values)))
    worst = tuple(len(known) - int(worse[of[k]]) if k in of else None for k in range(len(values)))
    return Ranks(best, worst, len(known))


Floats = npt.NDArray[np.float64]


def _counts(value: Floats, down: Floats, up: Floats) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Of each, how many are surely better (lower), and how many surely worse."""
    better, worse = (np.zeros(len(value), dtype=np.int64) for _ in range(2))
    for start in range(0, len(value), AT_ONCE):
        some = slice(start, start + AT_ONCE)
        gap = value[None, :] - value[some, None]  # of another minus one
        reach = np.where(gap > 0, np.hypot(up[some, None], down[None, :]), np.hypot(down[some, None], up[None, :]))
        sure = np.abs(gap) > reach
        worse[some] = (sure & (gap > 0)).sum(axis=1)
        better[some] = (sure & (gap < 0)).sum(axis=1)
    return better, worse


def _apart(value: Floats, down: Floats, up: Floats) -> bool:
    better, _ = _counts(value, down, up)
    return bool(better.any())


def _surely(difference: Interval | None, sign: float, wide: float) -> int:
    """1 where the second is worse, -1 where it is better, by their widened difference; 0 where they are tied."""
    if difference is None or not all(map(math.isfinite, difference)):
        return 0
    low, high = sorted(sign * end for end in difference)
    middle, half = (low + high) / 2, wide * (high - low) / 2
    return int(middle - half > 0) - int(middle + half < 0)
