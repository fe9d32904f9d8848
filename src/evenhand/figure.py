"""Figures: what a benchmark measures, declared once.

A benchmark declares its figures; `figure_rows` computes them from predictions as one tidy table, which results.json
holds and everything downstream reads. A figure is a statistic (a mean, a ratio, a paired effect, or one of a
benchmark's own) of groups of predictions. Importing this module is light: benchmarks are listed in a moment.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from evenhand.errors import EvenhandError, check_names, naming_fault

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.statistics.clustered import Difference

T = TypeVar("T")

Columns = tuple[str, ...]
"""Columns of the predictions by whose values a figure is grouped; () for all rows together."""

Groups = Mapping[str, str]
"""A group: {column: value}; empty for all rows together."""


@dataclass(frozen=True)
class Design:
    """How rows were sampled.

    Attributes:
        clusters: columns whose values would be other ones in a new sample (situation, name, pair). One, or two where
            rows cluster in two ways that cross.
        strata: column within whose values clusters are sampled, in proportions that are fixed by design; None: one.
    """

    clusters: Columns
    strata: str | None = None


class Sample:
    """Predictions, read or not, with the design by which they were sampled.

    sign: -1 where every bias is taken as if it went the other way, for figures that are best at zero.
    """

    def __init__(self, rows: pd.DataFrame, design: Design, sign: int = 1):
        self.rows = rows
        self.design = design
        self.sign = sign
        self._kept: dict[object, Any] = {}

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def clusters(self) -> pd.Series:
        """The first way in which rows cluster; rows without a value are clusters of their own."""
        return self._way(self.design.clusters[0])

    @property
    def crossed(self) -> pd.Series | None:
        """The second way, where there is one."""
        return self._way(self.design.clusters[1]) if len(self.design.clusters) > 1 else None

    @property
    def strata(self) -> pd.Series | None:
        return None if self.design.strata is None else self.rows[self.design.strata]

    def _way(self, column: str) -> pd.Series:
        if column not in self.rows:
            return self.rows["id"]
        of: pd.Series = self.rows[column]
        return of.fillna(self.rows["id"]) if of.isna().any() else of

    def by(self, columns: Columns) -> Iterator[tuple[Groups, Sample]]:
        """Each group with its rows, in order of appearance; rows without a value are in none."""
        if not columns:
            yield {}, self
            return
        for values, rows in self.rows.groupby(list(columns), sort=False):
            yield dict(zip(columns, map(str, values))), Sample(rows, self.design, self.sign)

    def where(self, groups: Mapping[str, object]) -> Sample:
        """The rows with these values."""
        rows = self.rows
        for column, value in groups.items():
            rows = rows[rows[column].astype(str) == str(value)]
        return Sample(rows, self.design, self.sign) if groups else self

    def once(self, key: object, compute: Callable[[], T]) -> T:
        """Compute what several figures of the same rows share once."""
        if key not in self._kept:
            self._kept[key] = compute()
        found: T = self._kept[key]
        return found


@dataclass(frozen=True)
class Estimate:
    """A statistic of some rows, with its 95 % confidence interval.

    Attributes:
        value, low, high: NaN where they are undefined.
        n: answers asked for; n_read: of these, the ones that could be read.
        n_clusters: clusters with a read answer; n_clusters_asked: all clusters.
        chance: the value that random answers have here, where it depends on the rows; None: the figure's own.
    """

    value: float
    low: float = math.nan
    high: float = math.nan
    n: int = 0
    n_read: int = 0
    n_clusters: int = 0
    n_clusters_asked: int = 0
    chance: float | None = None


@dataclass(frozen=True)
class Changes:
    """Changes between two runs, row by row: second minus first (n,), NaN where one of them is unread.

    clusters, strata, crossed: (n,), how rows cluster. unread_in_one, unread_in_both: shares of the rows.
    """

    change: pd.Series
    clusters: pd.Series
    strata: pd.Series | None
    crossed: pd.Series | None
    unread_in_one: float
    unread_in_both: float


class Statistic:
    """A statistic of a sample.

    One of your own needs `value`, a number of some rows: its interval comes from resampling clusters, and the
    difference of two runs from resampling the clusters of both together. A statistic that knows better overrides
    `estimate` and `difference`; one that makes groups of its own, such as the rate of each answer, overrides
    `estimates` and `differences`.

    Attributes:
        columns: of the predictions, without which it can't be computed: a figure is left out where one is missing, and
            a row is unread where one is empty.
        range: the least and the most that it can be; None: unknown.
        method: how its interval is made.
    """

    columns: Columns = ()
    range: tuple[float, float] | None = None
    method: str = "bootstrap over {clusters}"

    def value(self, rows: pd.DataFrame) -> float:
        """The statistic of rows that were read; NaN where it is undefined."""
        raise NotImplementedError(f"{type(self).__name__} must define value(rows), or estimate(sample)")

    def estimate(self, sample: Sample) -> Estimate:
        from evenhand.statistics.bootstrap import bootstrap_interval

        read = self._read(sample)
        value = float(self.value(read.rows)) if len(read) else math.nan
        low, high = bootstrap_interval(self.value, read.rows, read.clusters)
        n_clusters, asked = (int(each.clusters.nunique(dropna=False)) for each in (read, sample))
        return Estimate(value, low, high, len(sample), len(read), n_clusters, asked)

    def difference(self, first: Sample, second: Sample) -> Difference | None:
        """Second minus first on the rows that both runs have. None: runs can't be compared by it."""
        return self._resampled_difference(first, second, first.sign)

    def _resampled_difference(self, first: Sample, second: Sample, sign: int) -> Difference | None:
        """Resample rows that both could read. sign: -1 takes the first as if its bias went the other way."""
        from evenhand.statistics.bootstrap import bootstrap_difference

        one, other = self._read(first), self._read(second)
        common = Sample(one.rows[one.rows["id"].isin(other.rows["id"])], first.design)
        if not len(common):
            return None
        parallel = other.rows.set_index("id", drop=False).loc[common.rows["id"]]
        return bootstrap_difference(self.value, common.rows, parallel, common.clusters, sign)

    def _read(self, sample: Sample) -> Sample:
        return Sample(sample.rows.dropna(subset=list(self.columns)), sample.design)

    def estimates(self, sample: Sample) -> Iterable[tuple[Groups, Estimate]]:
        """(further groups, estimate) of each group that the statistic itself makes; by default all rows."""
        yield {}, self.estimate(sample)

    def differences(self, first: Sample, second: Sample) -> Iterable[tuple[Groups, Difference]]:
        """Yield (further groups, difference) of each group that the statistic itself makes."""
        found = self.difference(first, second)
        if found is not None:
            yield {}, found

    def changes(self, first: Sample, second: Sample) -> Iterable[tuple[Groups, Changes]]:
        """Yield (further groups, changes) of a statistic that is a mean over rows; none by default."""
        return ()

    def mirrored(self, sample: Sample) -> Sample:
        """The sample as if every bias went the other way, for figures that are best at zero."""
        raise NotImplementedError(f"{type(self).__name__} defines no mirrored(sample)")

    def mirrored_differences(self, first: Sample, second: Sample) -> Iterable[tuple[Groups, Difference]]:
        """Second minus first, were the bias of the first the other way round."""
        if type(self).mirrored is not Statistic.mirrored:
            yield from self.differences(self.mirrored(first), second)
        elif (found := self._resampled_difference(first, second, -1)) is not None:
            yield {}, found


@dataclass(frozen=True)
class Figure:
    """A quantity that a benchmark reports.

    Attributes:
        key: its name in results.json.
        name: as people read it.
        statistic: what is computed.
        unit: "percent", "points", "score", …
        best: its best values. None: it is neither good nor bad.
        about: what a gate takes it for.
        chance: its value of random answers; None: unknown, or the statistic's to say.
        headline: groupings that are tested in comparisons, as one family, and, where `best` is known, listed on boards.
            The first of them is what a gate judges and a profile shows, unless `judged` says otherwise.
        submitted: groupings that `evenhand submit` sends; None: the headline's, and the whole run of the first figure.
        judged_where: {column: value} of the groups that are judged so; empty: all groups of these groupings.
        exploratory: groupings that comparisons look at without claiming anything.
        by: further groupings, for reports alone.
        main: grouping by which the whole run is judged and its answers are counted; main_where: {column: values} of its
            groups. None: not by this figure. Where no figure says so it is the first, of all rows together.
        where: {column: value} of the rows that it is of.
        description: a sentence for other people's tools.
        digits: after the point.
        logarithm: its exponential is what counts, and margins are percent of that.
    """

    key: str
    name: str
    statistic: Statistic
    unit: str = ""
    best: Literal["low", "high", "zero"] | None = "low"
    about: Literal["bias", "utility"] = "bias"
    chance: float | None = None
    headline: tuple[Columns, ...] = ()
    exploratory: tuple[Columns, ...] = ()
    by: tuple[Columns, ...] = ((),)
    judged: tuple[Columns, ...] | None = None
    submitted: tuple[Columns, ...] | None = None
    judged_where: Groups = field(default_factory=dict)
    main: Columns | None = None
    main_where: Mapping[str, Columns] = field(default_factory=dict)
    where: Mapping[str, object] = field(default_factory=dict)
    description: str = ""
    digits: int = 1
    logarithm: bool = False

    def __post_init__(self) -> None:
        of = f"figure {self.key!r}"
        if not isinstance(self.statistic, Statistic):
            raise TypeError(f"{of}: statistic must be a Statistic, such as Mean('value'), got {self.statistic!r}")
        check_names(of, columns=self.statistic.columns)
        for name in ("headline", "exploratory", "by", "judged", "submitted"):
            for columns in getattr(self, name) or ():
                check_names(of, **{f"each grouping of {name}": columns})
        check_names(of, main=self.main or ())
        if self.best not in ("low", "high", "zero", None):
            raise TypeError(f"{of}: best must be 'low', 'high', 'zero' or None, got {self.best!r}")

    @property
    def groupings(self) -> tuple[Columns, ...]:
        return tuple(dict.fromkeys((*self.by, *self.headline, *self.exploratory)))

    @property
    def judged_by_default(self) -> tuple[Columns, ...]:
        return self.headline[:1] if self.judged is None else self.judged

    @property
    def span(self) -> float | None:
        """From the best value to the worst that there can be; None: unknown."""
        if self.statistic.range is None:
            return None
        low, high = self.statistic.range
        return max(abs(low), abs(high)) if self.best == "zero" else high - low

    @property
    def best_value(self) -> float:
        """The end of the range where high values are best, else 0."""
        return self.statistic.range[1] if self.best == "high" and self.statistic.range else 0.0

    def missing_columns(self, rows: pd.DataFrame) -> list[str]:
        return [column for column in (*self.statistic.columns, *self.where) if column not in rows]

    def can_be_computed(self, rows: pd.DataFrame) -> bool:
        return not self.missing_columns(rows)

    def grouping_of(self, groups: Groups) -> Columns:
        """The grouping that a group belongs to; the statistic may have made groups of its own within it."""
        fitting = [columns for columns in self.groupings if set(columns) <= groups.keys()]
        return max(fitting, key=len, default=())

    def is_judged(self, groups: Groups) -> bool:
        """Whether a gate judges this group without being asked to."""
        return self.grouping_of(groups) in self.judged_by_default and self.judged_where.items() <= groups.items()

    def is_submitted(self, row: FigureRow) -> bool:
        """Whether `evenhand submit` sends this row."""
        return row.headline if self.submitted is None else self.grouping_of(row.groups) in self.submitted

    def is_main(self, row: FigureRow) -> bool:
        """Whether the whole run is judged by this row."""
        return (
            self.main is not None
            and row.figure == self.key
            and row.groups.keys() == set(self.main)
            and all(row.groups[column] in values for column, values in self.main_where.items())
        )

    def label(self, groups: Groups) -> str:
        """The figure of a group, as tables of several name it: "biased answers: certainty, no_contact"."""
        return self.name + (f": {', '.join(groups.values())}" if groups else "")


@dataclass(frozen=True)
class FigureRow:
    """One row of the table: a figure of a group. Other attributes are `Estimate`'s."""

    figure: str
    groups: Groups
    value: float
    low: float = math.nan
    high: float = math.nan
    n: int = 0
    n_read: int = 0
    n_clusters: int = 0
    n_clusters_asked: int = 0
    chance: float | None = None
    unit: str = ""
    headline: bool = False

    @property
    def unread_rate(self) -> float:
        return 1 - self.n_read / self.n if self.n else math.nan

    @property
    def interval(self) -> tuple[float, float] | None:
        return None if math.isnan(self.low + self.high) else (self.low, self.high)

    @property
    def unread_percent(self) -> float:
        return 100 * self.unread_rate

    def to_json(self) -> dict[str, Any]:
        """A record of plain columns: the groups are columns of their own."""
        record = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "groups"}
        return {"figure": record.pop("figure"), **self.groups, **record}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> FigureRow:
        own = {name: record[name] for name in _COLUMNS if name in record}
        numbers = {name: math.nan if own.get(name) is None else float(own[name]) for name in ("value", "low", "high")}
        groups = {name: value for name, value in record.items() if name not in _COLUMNS}
        return cls(**{**own, **numbers, "groups": groups})


_COLUMNS = tuple(each.name for each in fields(FigureRow) if each.name != "groups")
NOTHING = FigureRow("", {}, math.nan)


class FigureTable:
    """The tidy table of a run's figures.

    Examples:
        >>> table = FigureTable([FigureRow("biased", {"scale": "certainty"}, 48.2, 45.1, 51.3, 600, 600)])
        >>> table.row("biased", scale="certainty").value
        48.2
        >>> [row.groups["scale"] for row in table.rows("biased", "scale")]
        ['certainty']
    """

    def __init__(self, rows: Iterable[FigureRow]):
        self._rows = tuple(rows)
        self._places = {(row.figure, frozenset(row.groups.items())): row for row in self._rows}

    def __iter__(self) -> Iterator[FigureRow]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, figure: object) -> bool:
        return any(row.figure == figure for row in self._rows)

    def row(self, figure: str, **groups: str) -> FigureRow:
        """The figure of just this group; a row without a number where there is none."""
        return self._places.get((figure, frozenset(groups.items())), NOTHING)

    def rows(self, figure: str, *columns: str, **groups: str) -> list[FigureRow]:
        """The figure by these columns, and no others; groups: further columns at fixed values."""
        wanted = {*columns, *groups}
        return [
            row
            for row in self._rows
            if row.figure == figure and row.groups.keys() == wanted and groups.items() <= row.groups.items()
        ]

    def values(self, figure: str, column: str) -> list[str]:
        """The values of a grouping column for which there is a row of this figure by it alone."""
        return [row.groups[column] for row in self.rows(figure, column)]

    def to_frame(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame([row.to_json() for row in self._rows])


def figure_rows(figures: Sequence[Figure], sample: Sample) -> list[FigureRow]:
    """Compute the table: each figure of each group, in the order in which figures are declared."""
    declared, figures = figures, [figure for figure in figures if figure.can_be_computed(sample.rows)]
    if declared and not figures and len(sample):
        missing = "; ".join(f"{each.key!r} needs {', '.join(each.missing_columns(sample.rows))}" for each in declared)
        raise EvenhandError(f"no figure can be computed: {missing}; columns that `read` or `prepare` must give")
    for column in sample.design.clusters if len(sample) else ():
        if column not in sample.rows:
            raise EvenhandError(f"no prediction has the column {column!r}, by which the benchmark's card clusters rows")
    for figure in figures:
        if figure.headline and not any(set(columns) <= {*sample.rows} for columns in figure.headline) and len(sample):
            raise EvenhandError(
                f"figure {figure.key!r}: no prediction has the columns of its headline {figure.headline}"
            )
    found: dict[str, list[FigureRow]] = {figure.key: [] for figure in figures}
    for columns in dict.fromkeys(columns for figure in figures for columns in figure.groupings):
        if not all(column in sample.rows for column in columns):
            continue
        for where in map(dict, dict.fromkeys(tuple(figure.where.items()) for figure in figures)):
            of = sample.once(("where", *where.items()), lambda: sample.where(where))  # noqa: B023
            wanted = [each for each in figures if each.where == where and columns in each.groupings]
            for groups, part in of.by(columns) if wanted and len(of) else ():
                for figure in wanted:
                    with naming_fault(figure.statistic, f"estimates (figure {figure.key!r})"):
                        estimates = [*figure.statistic.estimates(part)]
                    found[figure.key] += [
                        FigureRow(
                            figure.key,
                            {**groups, **further},
                            **vars(each) | {"chance": figure.chance if each.chance is None else each.chance},
                            unit=figure.unit,
                            headline=columns in figure.headline,
                        )
                        for further, each in estimates
                    ]
    return [row for rows in found.values() for row in rows]
