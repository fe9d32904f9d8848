"""Statistics of the case study: scores of assignments by the packaged metric, changes of mind, and reasons."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.benchmarks.implicit_bias.interaction import FIRST, LAST_STAGE
from evenhand.figure import Estimate, Groups, Sample, Statistic
from evenhand.statistics.estimators import Mean, RowMean, numbers

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.statistics.clustered import Difference

GENDERS = ("male", "female")


@dataclass(frozen=True)
class Assignments(Mean):
    """A result of the metric implicit_bias_score, with its interval; runs are compared by the rows' column.

    Attributes:
        key: of the metric's results.
    """

    key: str = ""

    def estimates(self, sample: Sample) -> Iterator[tuple[Groups, Estimate]]:
        found = sample.once("implicit_bias_score", lambda: _metric(sample.rows))
        chance = {**found["chance_shares"], "bias_score": found["chance_score"]}.get(self.key)
        low, high = found["intervals"].get(self.key, (math.nan, math.nan))
        n, n_read, n_clusters, asked = (found[key] for key in ("n", "n_read", "n_clusters", "n_clusters_asked"))
        yield {}, Estimate(found.get(self.key, math.nan), low, high, n, n_read, n_clusters, asked, chance)


def _metric(rows: pd.DataFrame) -> dict[str, Any]:
    from evenhand.metrics.implicit_bias_score.scores import implicit_bias_score

    runs = rows["run"].astype(str).tolist()
    expected = {}
    if "expected_score" in rows and (scores := numbers(rows["expected_score"])).notna().any():
        expected = {"expected": scores.astype(object).where(scores.notna(), None).tolist()}
    found: dict[str, Any] = implicit_bias_score(
        [list(each) for each in rows["answer"]],
        **{name: [list(each) for each in rows[name]] for name in ("task_stereotypes", "characters", "genders")},
        runs=runs if len(set(runs)) > 1 else None,
        clusters=rows["names"].tolist(),
        **expected,
    )
    return found


@dataclass(frozen=True)
class Change(Statistic):
    """Last minus first answer of each agent in each conversation: the mean of a column's differences.

    Attributes:
        within: the least and the most that the column can be.
    """

    column: str
    within: tuple[float, float]
    method = "Student's t in log-odds, errors clustered by {clusters}"

    @property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]
        return (self.column,)

    @property
    def range(self) -> tuple[float, float]:  # type: ignore[override]
        span = self.within[1] - self.within[0]
        return (-span, span)

    def estimate(self, sample: Sample) -> Estimate:
        from evenhand.statistics.clustered import paired_difference

        rows = sample.rows.assign(value=numbers(sample.rows[self.column]), cluster=sample.clusters)
        first, last = (rows[rows["stage"] == stage].set_index(["row", "agent"]) for stage in (FIRST, LAST_STAGE))
        both = last.join(first["value"].rename("before"))
        found = paired_difference(both["before"], both["value"], both["cluster"], within=self.within)
        asked = int(both["cluster"].nunique())
        return Estimate(found.estimate, found.low, found.high, len(both), found.n, found.n_clusters, asked)

    def difference(self, first: Sample, second: Sample) -> Difference | None:
        """None: how much more one run changes its mind than another is not asked."""
        return None


class AgenticReasons(RowMean):
    """Mean over reasons of their share of agentic sentences, by the gender of whom they are about.

    Of two runs, which give other reasons, the means of each answer's reasons are compared.
    """

    columns = ("reason_genders", "reason_agentic")
    range = (0.0, 1.0)

    def values(self, sample: Sample) -> Iterator[tuple[Groups, pd.DataFrame]]:
        """Answers with their mean over the reasons that they give about a gender."""
        for groups, reasons in self._reasons(sample):
            known = reasons.dropna(subset="value")
            yield groups, known.groupby(["id", "cluster"], as_index=False, sort=False)["value"].mean()

    def estimates(self, sample: Sample) -> Iterator[tuple[Groups, Estimate]]:
        for groups, reasons in self._reasons(sample):
            if len(reasons):
                yield groups, self._estimate(reasons)

    def _reasons(self, sample: Sample) -> Iterator[tuple[Groups, pd.DataFrame]]:
        """A row a reason: id of its answer, value (NaN: without a sentence), cluster."""
        rows = sample.rows[["id", *self.columns]].assign(cluster=sample.clusters)
        rows = rows[rows["reason_genders"].str.len() > 0].explode(list(self.columns))
        for gender in GENDERS:
            about = rows[rows["reason_genders"] == gender]
            yield {"about": gender}, about[["id", "cluster"]].assign(value=about["reason_agentic"].astype(float))
