"""Whether a figure got worse by no more than a margin: the upper end of a paired difference's interval decides.

Student's t alone lets rare changes through: where one cluster in twenty became as bad as can be, and no other changed,
its interval of fifteen clusters ended below that in 47 % of data sets (400 of them), of 100 clusters in 13 %. So what
rose and what fell have intervals of their own, in log-odds of how far they could (`students_intervals`), and both
distances are squared and added (Zou and Donner 2008); the higher of the two ends counts. `scripts/simulate_gate.py`
measures false passes and power; docs/statistics.md has the figures.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd
from scipy import special

from evenhand.statistics.clustered import Difference, Error, lasting_share, mean_error
from evenhand.statistics.resampling import LEVEL, LEVELS, ROUNDING, no_spread, students_intervals

POWER = 0.8
MOST_CLUSTERS = 10_000_000  # beyond it nothing is promised

Parts = tuple[Error, Error]
"""How much rose, and how much fell, each a mean over all rows with its error."""


@dataclass(frozen=True)
class Worsening:
    """By how much the second of two runs is worse than the first; below 0: better.

    low, high: NaN where they are not known. n: pairs. most: by how much a row can get worse at most; None: not known.
    lasting: shares of the squared errors of the difference, and of both parts, that more rows of the same clusters
    would not lessen (`lasting_share`).
    """

    estimate: float
    low: float
    high: float
    n: int
    n_clusters: int
    most: float | None
    parts: Parts | None = None
    lasting: tuple[float, float, float] = (1.0, 1.0, 1.0)

    @property
    def known(self) -> bool:
        return math.isfinite(self.low) and math.isfinite(self.high)

    def enough_clusters(self, margin: float) -> int | None:
        """So many would show, in four of five cases, that nothing got worse by the margin, if in truth nothing did.

        None: no number would, or none can be found. With a margin of 0 something must have got better: by as much as
        was observed here.
        """
        return self._enough(margin, self.n_clusters, None)

    def enough_rows(self, margin: float, clusters_there: int | None = None) -> int | None:
        """So many pairs would show it (`enough_clusters`), where there are no more clusters than those that are there.

        More rows first bring more clusters, as many for each row as here; once all are asked, each has more rows.
        """
        return self._enough(margin, self.n, clusters_there)

    def _enough(self, margin: float, n: int, clusters_there: int | None) -> int | None:
        """n: of what is counted, as many as there are here."""
        times = enough_for_all([(self, margin)], POWER, n, clusters_there)
        return None if times is None else round(n * times)

    @property
    def with_surely_lasting(self) -> Worsening:
        """With as little of its errors lasting as may be in truth: few rows of a cluster hardly tell it from none.

        The squared error, from so many clusters, is above the true one by no more than a chi-squared variable is above
        its mean in 95 % of cases; a share within clusters that is as large as the whole error then leaves none to last.
        """
        freedom, alone = self.n_clusters - 1, 1 - self.n_clusters / max(1, self.n)
        if freedom < 1 or alone <= 0:
            return self
        above = 2 * special.gammaincinv(freedom / 2, 1 - LEVEL) / freedom
        of_all, of_rose, of_fell = (
            max(0.0, min(share, (1 - above * (1 - share * alone)) / alone)) for share in self.lasting
        )
        return replace(self, lasting=(of_all, of_rose, of_fell))

    def room(self, margin: float) -> float:
        """Return how far its upper end may lie above the estimate, if in truth nothing got worse."""
        return margin if margin > 0 else -self.estimate

    def power(self, margin: float, times: float, clusters_there: int | None = None) -> float:
        """In which share of cases that many times the rows, which vary as these do, would show it (`enough_rows`)."""
        room = self.room(margin)
        if not (self.known and room > 0 and self.n_clusters and self.n):
            return 0.0
        n_clusters = max(1, math.floor(self.n_clusters * times + ROUNDING))
        if clusters_there is not None:
            n_clusters = min(n_clusters, max(self.n_clusters, clusters_there))
        of_clusters = self.n_clusters / n_clusters
        of_all, *of_parts = (math.sqrt(share * of_clusters + (1 - share) / times) for share in self.lasting)
        half, beyond = max(self.high - self.estimate, self.estimate - self.low) * of_all, 0.0
        if self.parts is not None:
            rose, fell = (replace(part, error=part.error * less) for part, less in zip(self.parts, of_parts))
            beyond = _distance((rose, fell), n_clusters, self.most)
            if _are_equal(self.parts):
                return float(beyond <= room)
            half = (self.estimate - self.low) * of_all
        error = half / special.ndtri(LEVELS[1])
        return float(special.ndtr((room - max(half, beyond)) / error)) if error else float(beyond <= room)


def enough_for_all(
    found: Sequence[tuple[Worsening, float]], power: float, n: int, clusters_there: int | None = None
) -> float | None:
    """How many times the rows, of which n are here, would show of each of found that it got no worse than its margin,
    all of them together in a share `power` of cases; None: no number would.

    Figures are taken as independent, so that of those that rise and fall together more pass.
    """

    def shows(rows: int) -> bool:
        return math.prod(each.power(margin, rows / n, clusters_there) for each, margin in found) >= power

    low, high = 1, n
    if not n:
        return None
    while not shows(high):
        low, high = high, 2 * high
        if high > MOST_CLUSTERS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if shows(middle) else (middle, high)
    return high / n


def worsening(
    difference: Difference, sign: float, most: float | None, change: pd.Series | None = None,
    clusters: pd.Series | None = None, strata: pd.Series | None = None, crossed: pd.Series | None = None,
) -> Worsening:  # fmt: skip
    """Of a paired difference. sign: 1 where more is worse, -1 where less is.

    change (n,): of each row, second minus first, where the figure is a mean over rows; NaN is left out. clusters,
    strata, crossed (n,): as of the difference itself (`paired_difference`), so that what rises in one stratum and falls
    in another by design is no noise.

    Clusters of which none shows any change leave unseen what one in twenty times would be unseen: a share of 1 -
    0.05^(1/n) of clusters ("rule of three"; Hanley and Lippman-Hand 1983), and these as bad as can be. Where it isn't
    known how bad, nothing is.
    """
    low, high = sorted((sign * difference.low, sign * difference.high)) if difference.known else (math.nan, math.nan)
    found = Worsening(sign * difference.estimate, low, high, difference.n, difference.n_clusters, most)
    if change is not None and clusters is not None:
        rose, fell = ((part * sign * change).clip(lower=0).where(change.notna()) for part in (1, -1))
        parts = mean_error(rose, clusters, strata, crossed), mean_error(fell, clusters, strata, crossed)
        both = (mean_error(change, clusters, strata, crossed), change), (parts[0], rose), (parts[1], fell)
        of_all, of_rose, of_fell = (lasting_share(error, values, clusters, strata) for error, values in both)
        found = replace(found, parts=parts, lasting=(of_all, of_rose, of_fell))
        if not found.n or math.isnan(parts[0].error + parts[1].error):
            return replace(found, low=math.nan, high=math.nan)
    elif found.known and low == high:
        found = replace(
            found, parts=(Error(max(0.0, found.estimate), 0.0, 1.0), Error(max(0.0, -found.estimate), 0, 1))
        )
    if not (found.known and found.parts is not None):
        return found
    beyond = found.estimate + _distance(found.parts, found.n_clusters, most)
    return replace(found, high=beyond if math.isnan(beyond) or _are_equal(found.parts) else max(high, beyond))


def _are_equal(parts: Parts) -> bool:
    """Whether all clusters say the same."""
    return all(no_spread(part.error, part.mean) for part in parts)


def _distance(parts: Parts, n_clusters: int, most: float | None) -> float:
    """From the difference to its upper end; 0 where it isn't known how far a row can change, unless none did."""
    rose, fell = parts
    equal = _are_equal(parts)
    if most is None:
        return math.nan if equal else 0.0
    if equal:
        return float((1 - LEVEL ** (1 / n_clusters)) * (most - rose.mean + fell.mean))
    ends = [students_intervals(part.mean, part.error, part.freedom, n_clusters, 0.0, most) for part in parts]
    return math.hypot(ends[0][1] - rose.mean, fell.mean - ends[1][0])
