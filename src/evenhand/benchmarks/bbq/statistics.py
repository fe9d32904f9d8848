"""Statistics of bbq: those of the metric `bbq_bias` with its jackknife intervals, and shares by the place listed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evenhand.benchmarks.bbq.questions import ANSWERS, LISTED
from evenhand.figure import Columns, Estimate, Groups, Sample, Statistic
from evenhand.statistics.estimators import Mean, RowMean, numbers, row_values

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.statistics.clustered import Difference

METHOD = "Student's t in log-odds, jackknife over {clusters}"
OPPOSITE = {"neg": "nonneg", "nonneg": "neg"}


def metric_estimate(sample: Sample, key: str, name: str) -> Estimate:
    """Return the metric's result[key][name] of these rows; all figures of a sample share one computation."""
    from evenhand.benchmarks.bbq.bias_difference import metric_columns
    from evenhand.metrics.bbq_bias.scores import bbq_bias

    found: dict[str, Any] = sample.once(
        "bbq_bias", lambda: bbq_bias(**metric_columns(sample.rows), clusters=sample.clusters.tolist())
    )
    counts = (found[each] for each in ("n", "n_read", "n_clusters", "n_clusters_asked"))
    return Estimate(found[key][name], *found["intervals"][key][name], *counts)


@dataclass(frozen=True)
class MetricValue(Statistic):
    """A number of the metric's result.

    Attributes:
        key, name: its place there; the name is by default the kind of context that all rows have.
        least: the least that it can be; the most is 100.
    """

    key: str
    name: str = ""
    least: float = 0.0

    columns = ("answer",)
    method = METHOD

    @property
    def range(self) -> tuple[float, float]:  # type: ignore[override]
        return (self.least, 100.0)

    def estimate(self, sample: Sample) -> Estimate:
        return metric_estimate(sample, self.key, self.name or str(sample.rows["context_condition"].iloc[0]))


@dataclass(frozen=True)
class BiasScore(MetricValue):
    """The bias score of rows of one kind of context (Parrish et al., section 5)."""

    key: str = "bias_score"
    least: float = -100.0

    def difference(self, first: Sample, second: Sample) -> Difference | None:
        from evenhand.benchmarks.bbq.bias_difference import bias_difference

        if not {*first.rows["id"]} & {*second.rows["id"]}:
            return None
        return bias_difference(first.rows, second.rows)

    def mirrored(self, sample: Sample) -> Sample:
        """What was said to a negative question, said to its opposite."""
        turned = sample.rows["question_polarity"].map(OPPOSITE)
        return Sample(sample.rows.assign(question_polarity=turned), sample.design)


@dataclass(frozen=True)
class Accuracy(Mean):
    """Percent of read answers that are right: the metric's value and interval; differences as of any mean over rows."""

    column: str = "right"
    within: tuple[float, float] | None = (0.0, 100.0)
    scale: float = 100.0

    method = METHOD

    def estimates(self, sample: Sample) -> Iterator[tuple[Groups, Estimate]]:
        yield {}, metric_estimate(sample, "accuracy", "overall")


class ListedShare(RowMean):
    """Percent of answers that were listed first, second and third, over all rotations."""

    columns: Columns = tuple(f"listed_{name}" for name in LISTED)
    range = (0.0, 100.0)

    def values(self, sample: Sample) -> Iterator[tuple[Groups, pd.DataFrame]]:
        for name, column in zip(LISTED, self.columns):
            yield {"listed": name}, row_values(sample, 100 * numbers(sample.rows[column]))


class PositionSensitivity(Statistic):
    """The largest distance of a `ListedShare` from a third, in points; it has no interval."""

    columns = ListedShare.columns
    range = (0.0, 100 - 100 / ANSWERS)
    method = "none"

    def estimate(self, sample: Sample) -> Estimate:
        shares = [share for _, share in ListedShare().estimates(sample)]
        away = max(abs(share.value - 100 / ANSWERS) for share in shares)
        return replace(shares[0], value=away, low=math.nan, high=math.nan)
