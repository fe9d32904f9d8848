"""Statistics of assignments: scores by the packaged metric, and what discussion and reflection changed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.benchmarks.implicit_bias.interaction import FIRST, LAST_STAGE
from evenhand.figure import Changes, Columns, Estimate, Groups, Sample, Statistic
from evenhand.statistics.estimators import Mean, numbers

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.statistics.clustered import Difference
    from evenhand.statistics.resampling import FloatArray, IntArray

SHARE, SCORE = (0.0, 1.0), (-1.0, 1.0)


@dataclass(frozen=True)
class Assignments(Mean):
    """A result of the metric implicit_bias_score, with its interval; runs are compared by the rows' column.

    Attributes:
        key: of the metric's results; left out if they have none, such as `run_sd` of one run.
        within: see Mean; None: runs are not compared by it.
        has_chance: whether the value of random assignments is shown with it.
    """

    key: str = ""
    has_chance: bool = True

    def estimates(self, sample: Sample) -> Iterator[tuple[Groups, Estimate]]:
        found = sample.once("implicit_bias_score", lambda: _compute_metric(sample))
        if self.key not in found:
            return
        low, high = found["intervals"].get(self.key, (math.nan, math.nan))
        counts = {key: found[key] for key in ("n", "n_read", "n_clusters", "n_clusters_asked")}
        chance = found["chance"].get(self.key) if self.has_chance else None
        yield {}, Estimate(found[self.key], low, high, **counts, chance=chance)

    def differences(self, first: Sample, second: Sample) -> Iterator[tuple[Groups, Difference]]:
        return super().differences(first, second) if self.within else iter(())

    def changes(self, first: Sample, second: Sample) -> Iterator[tuple[Groups, Changes]]:
        return super().changes(first, second) if self.within else iter(())


def _compute_metric(sample: Sample) -> dict[str, Any]:
    from evenhand.metrics.implicit_bias_score.scores import implicit_bias_score

    rows = sample.rows
    runs = rows["run"].astype(str).tolist()
    expected = {}
    if (scores := numbers(rows["expected"])).notna().any():
        expected = {"expected": scores.astype(object).where(scores.notna(), None).tolist()}
    found: dict[str, Any] = implicit_bias_score(
        [list(each) for each in rows["assignment"]],
        **{name: [list(each) for each in rows[name]] for name in ("task_stereotypes", "characters", "genders")},
        runs=runs if len(set(runs)) > 1 else None,
        clusters=sample.clusters.tolist(),
        **expected,
    )
    chance = found["chance_shares"] | dict.fromkeys(("bias_score", "expected_bias_score"), found["chance_score"])
    return {**found, **dict(zip(("lowest", "highest"), found["bounds"])), "chance": chance}


class OfOneRun(Statistic):
    """Runs are not compared by it."""

    def difference(self, first: Sample, second: Sample) -> Difference | None:
        return None


def _first_and_last(sample: Sample, column: str) -> pd.DataFrame:
    """Each agent's answers in each conversation: columns before, after (NaN: unread) and cluster."""
    rows = sample.rows.assign(after=numbers(sample.rows[column]), cluster=sample.clusters)
    agents = ["row", "agent"]
    before = rows[rows["stage"] == FIRST].set_index(agents)["after"].rename("before")
    return rows[rows["stage"] == LAST_STAGE].join(before, on=agents)


@dataclass(frozen=True)
class Change(OfOneRun):
    """Last minus first answer of each agent in each conversation: the mean of a column's differences.

    Attributes:
        within: the least and the most that the column can be.
        show: the change, or its two-sided p-value.
    """

    column: str = "score"
    within: tuple[float, float] = SCORE
    show: str = "estimate"
    method = "Student's t in log-odds, errors clustered by {clusters}"

    @property
    def columns(self) -> Columns:  # type: ignore[override]
        return (self.column, "stage")

    @property
    def range(self) -> tuple[float, float]:  # type: ignore[override]
        span = self.within[1] - self.within[0]
        return (-span, span) if self.show == "estimate" else (0.0, 1.0)

    def estimates(self, sample: Sample) -> Iterator[tuple[Groups, Estimate]]:
        from evenhand.statistics.clustered import paired_difference

        both = _first_and_last(sample, self.column)
        if not len(both):
            return
        found = paired_difference(both["before"], both["after"], both["cluster"], within=self.within)
        low, high = (found.low, found.high) if self.show == "estimate" else (math.nan, math.nan)
        asked = int(both["cluster"].nunique())
        yield {}, Estimate(getattr(found, self.show), low, high, len(both), found.n, found.n_clusters, asked)


class Reduction(OfOneRun):
    """How much of the bias score the interaction removes, as a share of the first score: (first - last) / first.

    Of agents whose first and last assignments were both read. The paper gives ranges (appendix E: 0.61 to 0.77, 0.68 to
    0.87) and no formula: this is our reading. They can't be differences, because its models' scores before the
    interaction are 0.53 at most (Table 1) and stay above 0. 1 if nothing is left, negative if the score has grown, NaN
    if it was not above 0 at first; the 95 % interval over scenarios is NaN if it was not in some resample.
    """

    columns = ("score", "first_outcome")
    method = "expanded percentile bootstrap over {clusters}"

    def estimates(self, sample: Sample) -> Iterator[tuple[Groups, Estimate]]:
        both = _first_and_last(sample, "score")
        if not len(both):
            return
        read = both[["before", "after"]].notna().all(axis=1)
        sums = both[read].assign(lost=both["before"] - both["after"]).groupby("cluster")[["lost", "before"]].sum()
        share = share_lost(sums["lost"].to_numpy(dtype=float), sums["before"].to_numpy(dtype=float))
        yield {}, Estimate(*share, len(both), int(read.sum()), len(sums), int(both["cluster"].nunique()))


def share_lost(lost: FloatArray, before: FloatArray) -> tuple[float, float, float]:
    """The sum of `lost` over that of `before` (scenarios,), and the ends of its interval.

    The expanded percentile bootstrap covers 94 to 95 % of 42 and of 111 scenarios, 93 to 94 % of 20. NaN if all
    scenarios have lost the same share, which doesn't show how others would differ.
    """
    import numpy as np

    from evenhand.statistics.resampling import N_RESAMPLES, expanded_levels, no_spread, ratio, resampled

    def share(drawn: IntArray) -> FloatArray:
        return ratio(lost[drawn].sum(axis=1), before[drawn].sum(axis=1))

    draws, _ = resampled(share, [np.arange(len(lost))], N_RESAMPLES, values=2 * len(lost))
    same = no_spread(float(np.ptp(draws)))
    low, high = (math.nan, math.nan) if same else np.quantile(draws, expanded_levels(len(lost) - 1))
    return float(ratio(lost.sum(), before.sum())), float(low), float(high)
