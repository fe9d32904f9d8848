"""Differences of two runs' figures, on the rows that both have."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.figure import Columns, Figure, Groups, Sample

if TYPE_CHECKING:
    from evenhand.benchmark import Benchmark
    from evenhand.statistics.clustered import Difference


@dataclass(frozen=True)
class FigureKey:
    """A figure of a group. label: as people read it, and as a policy or `--figure` names it."""

    figure: str
    groups: tuple[tuple[str, str], ...]
    label: str

    @classmethod
    def of(cls, figure: Figure, groups: Groups) -> FigureKey:
        return cls(figure.key, tuple(groups.items()), figure.label(groups))


Groupings = Callable[[Figure], tuple[Columns, ...]]


def headline(figure: Figure) -> tuple[Columns, ...]:
    return figure.headline


def exploratory(figure: Figure) -> tuple[Columns, ...]:
    return figure.exploratory


def differences(
    benchmark: Benchmark[Any], first: Sample, second: Sample, groupings: Groupings = headline
) -> dict[FigureKey, Difference]:
    """{figure of a group: second minus first}, in the order in which figures are declared."""
    return {
        FigureKey.of(figure, {**groups, **further}): found
        for figure, groups, one, other in paired_groups(benchmark, first, second, groupings)
        for further, found in figure.statistic.differences(one, other)
    }


def paired_groups(
    benchmark: Benchmark[Any], first: Sample, second: Sample, groupings: Groupings
) -> Iterator[tuple[Figure, Groups, Sample, Sample]]:
    """Yield each figure of each group that both runs have."""
    for figure in benchmark.figures:
        if not all(figure.can_be_computed(each.rows) for each in (first, second)):
            continue
        one, other = (_select(each, figure) for each in (first, second))
        for columns in groupings(figure):
            if all(column in each.rows for column in columns for each in (one, other)):
                others = {tuple(groups.items()): rows for groups, rows in _split(other, columns)}
                for groups, rows in _split(one, columns):
                    if (of_second := others.get(tuple(groups.items()))) is not None:
                        yield figure, groups, rows, of_second


def _select(sample: Sample, figure: Figure) -> Sample:
    """Return the rows that a figure is of."""
    return sample.once(("where", *figure.where.items()), lambda: sample.where(figure.where))


def _split(sample: Sample, columns: Columns) -> list[tuple[Groups, Sample]]:
    return sample.once(("by", columns), lambda: [*sample.by(columns)])
