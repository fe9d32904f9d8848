"""Statistics that are means over rows, by the influence of rows on them: means, shares, ratios, paired effects.

Intervals are Student's t over clusters, errors clustered in one or two ways, symmetric in log-odds of the range where
that is known. docs/statistics.md says how well they cover.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from evenhand.figure import Changes, Columns, Estimate, Groups, Sample, Statistic

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.statistics.clustered import Difference

METHOD = "Student's t, errors clustered by {clusters}"
METHOD_IN_RANGE = "Student's t in log-odds, errors clustered by {clusters}"


class RowMean(Statistic):
    """The mean of what each row has. Subclasses give `values`.

    Attributes:
        weighted: whether rows count by a weight. Then it is a ratio of two sums, not a mean of the rows' own
            differences, so that two runs are compared by resampling clusters.
    """

    weighted: bool = False

    @property
    def method(self) -> str:  # type: ignore[override]
        return METHOD if self.range is None else METHOD_IN_RANGE

    @abstractmethod
    def values(self, sample: Sample) -> Iterator[tuple[Groups, pd.DataFrame]]:
        """(groups, rows) with columns id, value (NaN: unread) and cluster, and stratum, crossed and weight where there
        are some; read, where an unread row has a value, too.
        """

    def estimates(self, sample: Sample) -> Iterator[tuple[Groups, Estimate]]:
        for groups, rows in self.values(sample):
            yield groups, self._estimate(rows)

    def estimate(self, sample: Sample) -> Estimate:
        [(_, found)] = self.estimates(sample)
        return found

    def differences(self, first: Sample, second: Sample) -> Iterator[tuple[Groups, Difference]]:
        if self.weighted:
            if (found := Statistic.difference(self, first, second)) is not None:
                yield {}, found
            return
        from evenhand.statistics.clustered import paired_difference

        for groups, both in self._pairs(first, second):
            values = both["value_first"], both["value_second"]
            yield groups, paired_difference(*values, *_ways(both), within=self.range)

    def difference(self, first: Sample, second: Sample) -> Difference | None:
        return next((found for _, found in self.differences(first, second)), None)

    def changes(self, first: Sample, second: Sample) -> Iterator[tuple[Groups, Changes]]:
        for groups, both in () if self.weighted else self._pairs(first, second):
            read, also = both["value_first"].notna(), both["value_second"].notna()
            change = both["value_second"] - both["value_first"]
            unread = float((read ^ also).mean()), float((~(read | also)).mean())
            yield groups, Changes(change, *_ways(both), *unread)

    def _pairs(self, first: Sample, second: Sample) -> Iterator[tuple[Groups, pd.DataFrame]]:
        """Yield rows that both have, by group."""
        others = {tuple(groups.items()): rows for groups, rows in self.values(second)}
        for groups, rows in self.values(first):
            rows = rows.assign(value=first.sign * rows["value"])
            if (other := others.get(tuple(groups.items()))) is not None:
                both = rows.merge(other[["id", "value"]], on="id", suffixes=("_first", "_second"))
                if len(both):
                    yield groups, both

    def _estimate(self, rows: pd.DataFrame) -> Estimate:
        from evenhand.statistics.clustered import clustered_mean, crossed_mean

        weights = rows.get("weight")
        if "crossed" in rows:
            ways = rows["cluster"], rows["crossed"], rows.get("stratum")
            found = crossed_mean(rows["value"], *ways, within=self.range, weights=weights)
        else:
            mean = clustered_mean(rows["value"], rows["cluster"], self.range, weights)
            found = mean.estimate, mean.low, mean.high
        read = rows["read"] if "read" in rows else rows["value"].notna()
        clusters = rows["cluster"]
        n_clusters, asked = (int(each.nunique(dropna=False)) for each in (clusters[read.to_numpy()], clusters))
        return Estimate(*found, len(rows), int(read.sum()), n_clusters, asked)

    def mirrored(self, sample: Sample) -> Sample:
        return Sample(sample.rows, sample.design, -sample.sign)


def _ways(both: pd.DataFrame) -> tuple[pd.Series, pd.Series | None, pd.Series | None]:
    return both["cluster"], both.get("stratum"), both.get("crossed")


def row_values(sample: Sample, value: pd.Series, crossed: bool = True) -> pd.DataFrame:
    """What `RowMean.values` gives, of a column (n,). crossed: False leaves out the second way in which rows cluster."""
    import pandas as pd

    ways = {"cluster": sample.clusters, "stratum": sample.strata, "crossed": sample.crossed if crossed else None}
    codes = {name: sample.once(("codes", name), partial(_encode, way)) for name, way in ways.items() if way is not None}
    return pd.DataFrame({"id": sample.rows["id"], "value": value, **codes})


def _encode(names: pd.Series) -> pd.Series:
    """Return codes (n,) in the order of the sorted names: texts take long to compare in each figure."""
    import pandas as pd

    return pd.Series(pd.factorize(names, sort=True, use_na_sentinel=False)[0], names.index)


def numbers(column: pd.Series) -> pd.Series:
    """Return a column of numbers or booleans as floats; NaN: unread."""
    import pandas as pd

    if column.dtype == bool or pd.api.types.is_numeric_dtype(column):
        return column.astype(float) if str(column.dtype) != "boolean" else column.astype("Float64").astype(float)
    values = [math.nan if value is None or value is pd.NA else float(value) for value in column]
    return pd.Series(values, column.index, dtype=float, name=column.name)


class RangedMean(RowMean):
    """A mean of rows that lie within known limits."""

    within: tuple[float, float] | None

    @property
    def range(self) -> tuple[float, float] | None:  # type: ignore[override]
        return self.within


@dataclass(frozen=True)
class Mean(RangedMean):
    """Mean of a column over its read rows.

    Attributes:
        column: numbers or booleans, empty where unread.
        within: the least and the most that a row can have; None: unknown.
        scale: what a row's value is multiplied by; `within` is after it.
        unread: what an unread row counts as; None: it is left out.
        crossed: False leaves the second way of clustering out.
        weight: column of weights; None: equal weights. With it, this is a ratio of two sums.
        once_per: column of which each value counts once, by its first row, such as a story that is asked repeatedly.
    """

    column: str
    within: tuple[float, float] | None = None
    scale: float = 1.0
    unread: float | None = None
    crossed: bool = True
    weight: str | None = None
    once_per: str | None = None

    @property
    def columns(self) -> Columns:  # type: ignore[override]
        return (self.column, *([self.weight] if self.weight else []))

    @property
    def weighted(self) -> bool:  # type: ignore[override]
        return self.weight is not None

    def values(self, sample: Sample) -> Iterator[tuple[Groups, pd.DataFrame]]:
        if self.once_per:
            sample = Sample(sample.rows.drop_duplicates(self.once_per), sample.design)
        value = self.scale * numbers(sample.rows[self.column])
        rows = row_values(sample, value, self.crossed)
        if self.unread is not None:
            rows = rows.assign(value=value.fillna(self.unread), read=value.notna())
        yield {}, rows if self.weight is None else rows.assign(weight=numbers(sample.rows[self.weight]))

    def value(self, rows: pd.DataFrame) -> float:
        values = self.scale * numbers(rows[self.column])
        if self.weight is None:
            return float(values.mean())
        weights = numbers(rows[self.weight])
        return float((values * weights).sum() / weights.sum())


def Share(column: str, unread: float | None = None, crossed: bool = True) -> Mean:
    """Return percent of read rows whose column is true. unread: percent that an unread row counts as."""
    return Mean(column, (0.0, 100.0), 100.0, unread, crossed)


@dataclass(frozen=True)
class Ratio(RangedMean):
    """Sum of one column over the sum of another, over the rows that have both.

    Attributes:
        part, whole: the columns; a row whose whole is 0 is left out.
        within: the least and the most that a row's ratio can be; None: unknown.
        scale: what the ratio is multiplied by; `within` is after it.
    """

    part: str
    whole: str
    within: tuple[float, float] | None = None
    scale: float = 1.0
    weighted = True

    @property
    def columns(self) -> Columns:  # type: ignore[override]
        return (self.part, self.whole)

    def values(self, sample: Sample) -> Iterator[tuple[Groups, pd.DataFrame]]:
        whole = numbers(sample.rows[self.whole])
        value = self.scale * numbers(sample.rows[self.part]) / whole.where(whole != 0)
        yield {}, row_values(sample, value).assign(weight=whole)

    def value(self, rows: pd.DataFrame) -> float:
        part, whole = numbers(rows[self.part]), numbers(rows[self.whole])
        both = part.notna() & (whole != 0) & whole.notna()
        return float(self.scale * part[both].sum() / whole[both].sum()) if both.any() else math.nan


@dataclass(frozen=True)
class PairedEffect(RowMean):
    """By how much a condition moves what the same question has without it: the mean of paired differences.

    Attributes:
        column: numbers or booleans, empty where unread.
        of: the column that names conditions; against: the one compared with; within_row: the column that names what is
            asked under each condition. The others' names are the statistic's groups.
        within: the least and the most that a row can have; scale: what it is multiplied by.
    """

    column: str
    of: str
    against: str
    within_row: str
    within: tuple[float, float] = (0.0, 100.0)
    scale: float = 100.0

    @property
    def columns(self) -> Columns:  # type: ignore[override]
        return (self.column, self.of, self.within_row)

    @property
    def range(self) -> tuple[float, float]:  # type: ignore[override]
        span = self.within[1] - self.within[0]
        return (-span, span)

    def values(self, sample: Sample) -> Iterator[tuple[Groups, pd.DataFrame]]:
        rows = row_values(sample, self.scale * numbers(sample.rows[self.column])).assign(
            id=sample.rows[self.within_row], condition=sample.rows[self.of]
        )
        without = rows[rows["condition"] == self.against].set_index("id")["value"]
        for condition in rows["condition"].unique():
            if condition != self.against:
                some = rows[rows["condition"] == condition]
                moved = some["value"].to_numpy() - without.reindex(some["id"]).to_numpy()
                yield {self.of: str(condition)}, some.drop(columns="condition").assign(value=moved)


@dataclass(frozen=True)
class ExpMean(RowMean):
    """Exponential of a weighted mean, such as perplexity; its interval's ends are those of the mean."""

    column: str
    weight: str | None = None
    weighted = True

    @property
    def columns(self) -> Columns:  # type: ignore[override]
        return (self.column, *([self.weight] if self.weight else []))

    def values(self, sample: Sample) -> Iterator[tuple[Groups, pd.DataFrame]]:
        yield from Mean(self.column, weight=self.weight, crossed=False).values(sample)

    def differences(self, first: Sample, second: Sample) -> Iterator[tuple[Groups, Difference]]:
        """None: the logarithm is what runs are compared by."""
        return iter(())

    def _estimate(self, rows: pd.DataFrame) -> Estimate:
        found = super()._estimate(rows)
        return replace(found, value=exp(found.value), low=exp(found.low), high=exp(found.high))


def exp(value: float) -> float:
    """exp; infinite where a number can't hold it, NaN of NaN."""
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf
