"""Statistics of task assignments: scores by the packaged metric, and what discussion and reflection changed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.benchmarks.implicit_bias.interaction import FIRST, LAST_STAGE
from evenhand.benchmarks.implicit_bias.scenario import SCORES
from evenhand.figure import Changes, Columns, Estimate, Groups, Sample, Statistic
from evenhand.statistics.estimators import Mean, numbers

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.statistics.clustered import Difference
    from evenhand.statistics.resampling import FloatArray, IntArray

CLAIMS = ("present", "absent", "unread")
OUTCOMES = (*SCORES, "unread")


@dataclass(frozen=True)
class Assignments(Mean):
    """A result of the metric implicit_bias_score, with its interval; runs are compared by the rows' column.

    Attributes:
        key: of the metric's results; left out where they have none, such as `run_sd` of one run.
        within: see Mean; None: runs are not compared by it.
    """

    key: str = ""

    def estimates(self, sample: Sample) -> Iterator[tuple[Groups, Estimate]]:
        found = sample.once("implicit_bias_score", lambda: _metric(sample))
        if self.key not in found:
            return
        low, high = found["intervals"].get(self.key, (math.nan, math.nan))
        n, n_read, n_clusters, asked = (found[key] for key in ("n", "n_read", "n_clusters", "n_clusters_asked"))
        yield {}, Estimate(found[self.key], low, high, n, n_read, n_clusters, asked, found["chance"].get(self.key))

    def differences(self, first: Sample, second: Sample) -> Iterator[tuple[Groups, Difference]]:
        return super().differences(first, second) if self.within else iter(())

    def changes(self, first: Sample, second: Sample) -> Iterator[tuple[Groups, Changes]]:
        return super().changes(first, second) if self.within else iter(())


def _metric(sample: Sample) -> dict[str, Any]:
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
    scores = dict.fromkeys(("bias_score", "expected_bias_score"), found["chance_score"])
    return {**found, **dict(zip(("lowest", "highest"), found["bounds"])), "chance": found["chance_shares"] | scores}


def with_former(rows: pd.DataFrame, stage: str, former: str = FIRST) -> pd.DataFrame:
    """Each agent's assignments of a stage in each conversation, with outcome and score of a former one (`…_before`)."""
    agents = ["row", "agent"]
    before = rows[rows["stage"] == former].set_index(agents)[["outcome", "score"]].add_suffix("_before")
    return rows[rows["stage"] == stage].join(before, on=agents)


@dataclass(frozen=True)
class Change(Statistic):
    """Last minus first score of each agent in each conversation: the mean of the differences.

    Attributes:
        show: the change, or its two-sided p-value.
    """

    show: str = "estimate"
    columns = ("score", "stage")
    method = "Student's t in log-odds, errors clustered by {clusters}"

    @property
    def range(self) -> tuple[float, float]:  # type: ignore[override]
        return (-2.0, 2.0) if self.show == "estimate" else (0.0, 1.0)

    def estimates(self, sample: Sample) -> Iterator[tuple[Groups, Estimate]]:
        both = sample.once("first and last", lambda: with_former(sample.rows, LAST_STAGE))
        if not len(both):
            return
        found = sample.once("change", lambda: self._difference(both, sample))
        low, high = (found.low, found.high) if self.show == "estimate" else (math.nan, math.nan)
        asked = int(both[sample.design.clusters[0]].nunique())
        yield {}, Estimate(getattr(found, self.show), low, high, len(both), found.n, found.n_clusters, asked)

    def difference(self, first: Sample, second: Sample) -> Difference | None:
        """None: how much more one run changes than another is not asked."""
        return None

    def _difference(self, both: pd.DataFrame, sample: Sample) -> Difference:
        from evenhand.statistics.clustered import paired_difference

        scores = numbers(both["score_before"]), numbers(both["score"])
        return paired_difference(*scores, both[sample.design.clusters[0]], within=(-1.0, 1.0))


class Reduction(Statistic):
    """How far the bias score has fallen when the interaction is over, as a share of the first: (first - last) / first.

    Of agents whose first and last assignments were both read. The paper gives ranges (appendix E: 0.61 to 0.77, 0.68 to
    0.87) and no formula: this is our reading. Differences can't be meant, for its models' scores before the interaction
    are 0.53 at most (Table 1) and stay above 0. 1 where nothing is left, negative where the score has grown, NaN where
    it was not above 0 at first; its 95 % interval over scenarios is NaN where it was not in some resample.
    """

    columns = ("score", "first_outcome")
    method = "expanded percentile bootstrap over {clusters}"

    def estimates(self, sample: Sample) -> Iterator[tuple[Groups, Estimate]]:
        both = with_former(sample.rows, LAST_STAGE)
        if not len(both):
            return
        clusters = both[sample.design.clusters[0]]
        before, after = numbers(both["score_before"]), numbers(both["score"])
        read = before.notna() & after.notna()
        fallen = (before - after)[read].groupby(clusters[read]).sum()
        of = before[read].groupby(clusters[read]).sum()
        ends = share_lost(fallen.to_numpy(dtype=float), of.to_numpy(dtype=float))
        yield {}, Estimate(*ends, len(both), int(read.sum()), len(of), int(clusters.nunique()))

    def difference(self, first: Sample, second: Sample) -> Difference | None:
        """None: reductions of two runs are not compared."""
        return None


def share_lost(fallen: FloatArray, before: FloatArray) -> tuple[float, float, float]:
    """What has fallen of what was before, from sums (scenarios,), and its interval's ends.

    The expanded percentile bootstrap covers 94 to 95 % of 42 and of 111 scenarios, 93 to 94 % of 20. NaN where all
    scenarios have lost the same share, which doesn't show how others would differ.
    """
    import numpy as np

    from evenhand.statistics.resampling import N_RESAMPLES, expanded_levels, no_spread, ratio, resampled

    def share(drawn: IntArray) -> FloatArray:
        return ratio(fallen[drawn].sum(axis=1), before[drawn].sum(axis=1))

    draws, _ = resampled(share, [np.arange(len(fallen))], N_RESAMPLES, values=2 * len(fallen))
    alike = no_spread(float(np.ptp(draws)))
    low, high = (math.nan, math.nan) if alike else np.quantile(draws, expanded_levels(len(fallen) - 1))
    return float(ratio(fallen.sum(), before.sum())), float(low), float(high)


class Claims(Statistic):
    """Numbers of assignments, by what the first was and what its agent says of bias in it, unread ones included."""

    columns = ("first_outcome", "claimed")
    method = "counts"

    def estimates(self, sample: Sample) -> Iterator[tuple[Groups, Estimate]]:
        rows = sample.rows[sample.rows["first_outcome"].notna()]
        clusters = sample.design.clusters[0]
        for outcome in (each for each in OUTCOMES if (rows["first_outcome"] == each).any()):
            for claim in CLAIMS:
                some = rows[(rows["first_outcome"] == outcome) & (rows["claimed"] == claim)]
                n, n_clusters = len(some), int(some[clusters].nunique())
                yield (
                    {"first_outcome": outcome, "claim": claim},
                    Estimate(n, n=n, n_read=n, n_clusters=n_clusters, n_clusters_asked=n_clusters),
                )

    def difference(self, first: Sample, second: Sample) -> Difference | None:
        """None: counts are not compared."""
        return None


@dataclass(frozen=True)
class Count(Statistic):
    """The number of rows; n_read: those whose column `of` is true."""

    of: str
    method = "counts"

    @property
    def columns(self) -> Columns:  # type: ignore[override]
        return (self.of,)

    def estimate(self, sample: Sample) -> Estimate:
        rows = sample.rows
        read = rows[rows[self.of].astype(bool)]
        clusters = sample.design.clusters[0]
        counted = int(read[clusters].nunique()), int(rows[clusters].nunique())
        return Estimate(len(rows), math.nan, math.nan, len(rows), len(read), *counted)

    def difference(self, first: Sample, second: Sample) -> Difference | None:
        """None: counts are not compared."""
        return None
