"""Tables and plots of a report, declared: they read the figures' table and know no benchmark."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Protocol

from evenhand.figure import Columns, Figure, FigureRow, Groups
from evenhand.report.findings import Findings, Plot, whiskers
from evenhand.report.tables import Cell, Table, cell, count, figure
from evenhand.words import in_words

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.benchmark import Benchmark, Card
    from evenhand.flow.results import Results

Show = Literal["value", "chance", "n", "n_read", "n_clusters", "unread_percent"]


class Block(Protocol):
    """A table or a plot of a report; None where the run has nothing for it."""

    @property
    def exploratory(self) -> bool: ...

    def build(self, benchmark: Benchmark[Any], results: Results) -> Table | Plot | None: ...


@dataclass(frozen=True)
class Column:
    """A column of a `Grid`.

    Attributes:
        heading: over it.
        figure: the key of the figure that it shows.
        where: the groups that it is of, besides those of its row.
        show: which number of the figure; a value has its interval.
        signed: whether a value is shown with its sign.
    """

    heading: str
    figure: str
    where: Groups = field(default_factory=dict)
    show: Show = "value"
    signed: bool = False


COUNTS = (("n", "n"), ("clusters", "n_clusters"), ("unread, %", "unread_percent"))


def counts(figure: str) -> tuple[Column, ...]:
    """Columns with the number of answers, of clusters, and the percent unread."""
    return tuple(Column(heading, figure, show=show) for heading, show in COUNTS)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Grid:
    """A table: a row for each group, or one of the whole run; columns are figures.

    Attributes:
        rows: the grouping columns whose values name the rows.
        names: {value: as it is shown}.
        overall: whether the figures of all rows together come first.
        published: whether the paper's figures stand below each row.
        exploratory: whether it is folded away in the page.
        several: the grouping column of which there must be two values; "" for none.
    """

    title: str
    rows: Columns
    columns: tuple[Column, ...]
    note: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    overall: bool = False
    published: bool = False
    exploratory: bool = False
    several: str = ""

    def build(self, benchmark: Benchmark[Any], results: Results) -> Table | None:
        columns = [each for each in self.columns if each.figure in results.figures]
        groups_of_rows: list[dict[str, str]] = [{}] if self.overall or not self.rows else []
        groups_of_rows += self._groups(columns, results) if self.rows else []
        if self.several and len({groups.get(self.several) for groups in groups_of_rows} - {None}) < 2:
            return None
        lines = [line for groups in groups_of_rows for line in self._lines(groups, columns, benchmark, results)]
        if not columns or not lines:
            return None
        head = ", ".join(each.replace("_", " ") for each in self.rows) or "model"
        note = " ".join(filter(None, (self.note, intervals_note(benchmark.card))))
        if any(line[0].published for line in lines):
            note += " " + published_note(results)
        return Table(self.title, (head, *(each.heading for each in columns)), tuple(lines), note)

    def _groups(self, columns: Sequence[Column], results: Results) -> list[dict[str, str]]:
        """Those of any of the columns, in order of appearance."""
        found = {
            tuple((name, row.groups[name]) for name in self.rows): None
            for column in columns
            for row in results.figures.rows(column.figure, *self.rows, **column.where)
        }
        return [dict(each) for each in found]

    def _lines(
        self, groups: Groups, columns: Sequence[Column], benchmark: Benchmark[Any], results: Results
    ) -> Iterator[tuple[Cell, ...]]:
        named = ", ".join(self.names.get(value, value) for value in groups.values())
        name = named or ("all" if self.rows else results.model_name)
        yield (Cell(name), *(self._cell(each, groups, benchmark, results) for each in columns))
        for model in dict.fromkeys(each["model"] for each in results.published) if self.published else ():
            printed = [_published(each, groups, model, results) for each in columns]
            if any(printed):
                ends = ((each.get("value"), each.get("low"), each.get("high")) for each in printed)
                digits = (max(2, benchmark.figure(each.figure).digits) for each in columns)
                cells = (Cell(*each, digits=of, published=True, missing="") for each, of in zip(ends, digits))
                yield (Cell(f" {model}, published", published=True), *cells)

    def _cell(self, column: Column, groups: Groups, benchmark: Benchmark[Any], results: Results) -> Cell:
        row = results.figures.row(column.figure, **groups, **column.where)
        return shown(row, benchmark.figure(column.figure), column.show, column.signed)


def shown(row: FigureRow, of: Figure, show: Show = "value", signed: bool = False) -> Cell:
    """A row of the table as a cell."""
    if show == "value":
        return cell(row, of.digits, "signed" if signed else "plain")
    number = getattr(row, show)
    if show in ("chance", "unread_percent"):
        return Cell(number, digits=of.digits if show == "chance" else 1, missing="")
    return count(number) if row.figure else Cell("")


def _published(column: Column, groups: Groups, model: str, results: Results) -> Mapping[str, Any]:
    """The paper's record; empty where it has none."""
    if column.show != "value":
        return {}
    wanted = {"model": model, "figure": column.figure, **groups, **column.where}
    found = [each for each in results.published if wanted.items() <= each.items() and _no_more_groups(each, wanted)]
    return found[0] if found else {}


_OF_RECORDS = {"value", "low", "high", "source", "n"}


def _no_more_groups(record: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return record.keys() - _OF_RECORDS <= wanted.keys()


def intervals_note(card: Card) -> str:
    clusters = " and ".join(each.replace("_", " ") for each in card.clusters)
    return f"Brackets: 95 % confidence intervals, clustered by {clusters}."


def published_note(results: Results) -> str:
    sources = dict.fromkeys(each.get("source", "") for each in results.published)
    return f"Published: {'; '.join(filter(None, sources))}."


@dataclass(frozen=True)
class Bars:
    """A bar for each value of one column, in groups by another, with whiskers, and a line at chance.

    Attributes:
        groups: the grouping column whose values stand beside one another; "" for none.
        bars: the grouping column of the bars within each.
        limits: of the axis.
        reference: (value, label) of the dashed line; None: at the figure's chance.
    """

    title: str
    figure: str
    groups: str
    bars: str
    axis: str
    limits: tuple[float, float] = (0, 100)
    reference: tuple[float, str] | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    where: Groups = field(default_factory=dict)
    exploratory: bool = False

    def build(self, benchmark: Benchmark[Any], results: Results) -> Plot | None:
        columns = [each for each in (self.groups, self.bars) if each]
        rows = results.figures.rows(self.figure, *columns, **self.where)
        if not rows:
            return None
        values: dict[str, dict[str, tuple[float, Sequence[float]]]] = {}
        for row in rows:
            group, bar = (row.groups.get(each, "") for each in (self.groups, self.bars))
            named = self.names.get(bar, bar)
            values.setdefault(self.names.get(group, group) or "all", {})[named] = (row.value, row.interval or ())
        chance = benchmark.figure(self.figure).chance
        reference = self.reference or (0.0 if chance is None else chance, "chance")
        whole = results.figures.row(self.figure, **self.where)
        note = f"{whiskers(values, '95 % confidence intervals').capitalize()}."
        if whole.n:
            note += f" n = {whole.n_read:,} read answers; {whole.unread_percent:.1f} % unread."
        return Plot(self.title, partial(_bars, values, self.axis, reference, self.limits), note)


def _bars(*arguments: Any) -> str:
    from evenhand.report.plots import grouped_bars

    return grouped_bars(*arguments)


@dataclass(frozen=True)
class Heat:
    """A figure by two columns, as a grid of colours with its numbers."""

    title: str
    figure: str
    rows: str
    columns: str
    unit: str = ""
    where: Groups = field(default_factory=dict)
    exploratory: bool = False

    def build(self, benchmark: Benchmark[Any], results: Results) -> Plot | None:
        found = results.figures.rows(self.figure, self.rows, self.columns, **self.where)
        if not found:
            return None
        grid: dict[str, dict[str, float]] = {}
        for row in found:
            grid.setdefault(row.groups[self.rows], {})[row.groups[self.columns]] = row.value
        read = [row.n_read for row in found]
        note = f"{min(read):,} to {max(read):,} read answers a cell. Empty: no data."
        return Plot(self.title, partial(_heatmap, grid, self.unit or benchmark.figure(self.figure).name), note)


def _heatmap(*arguments: Any) -> str:
    from evenhand.report.plots import heatmap

    return heatmap(*arguments)


def laid_out(benchmark: Benchmark[Any], predictions: pd.DataFrame, results: Results) -> Findings:
    """What a report shows by the benchmark's layout: the headline figure in a sentence, tables, plots and examples."""
    blocks = benchmark.layout or tuple(default_layout(benchmark, results))
    built = [(block.exploratory, found) for block in blocks if (found := block.build(benchmark, results)) is not None]
    return Findings(
        sentences=tuple(headline_sentences(benchmark, results)),
        tables=tuple(each for folded, each in built if isinstance(each, Table) and not folded),
        exploratory=tuple(each for folded, each in built if isinstance(each, Table) and folded),
        plots=tuple(each for _, each in built if isinstance(each, Plot)),
        examples=tuple(examples(predictions)),
        warnings=tuple(each.text for each in results.warnings),
    )


def default_layout(benchmark: Benchmark[Any], results: Results) -> Iterator[Block]:
    """A table of the whole run, then one for each figure and grouping."""
    whole = [each for each in benchmark.figures if results.figures.row(each.key).figure]
    if whole:
        columns = tuple(Column(each.name, each.key) for each in whole)
        yield Grid("Figures", (), (*columns, *counts(whole[0].key)))
    for each in benchmark.figures:
        for by in each.groupings:
            if by and results.figures.rows(each.key, *by):
                title = f"{each.name[:1].upper()}{each.name[1:]} by {' and '.join(by)}"
                columns = (Column(each.name, each.key), *counts(each.key))
                yield Grid(title, by, columns, exploratory=by not in each.headline)


def headline_sentences(benchmark: Benchmark[Any], results: Results) -> Iterator[str]:
    """The first figure of the whole run, in a sentence: value, interval, what was read, chance, what is best.

    Where it has no value of the whole run, those of its headline groups.
    """
    of = benchmark.figures[0]
    row = results.figures.row(of.key)
    if constant := results.warned("constant_answer"):
        named = ", ".join(" and ".join(each.groups.values()) or "all questions" for each in constant)
        yield f"{results.model_name} gives constant answers to {named}: its score there says nothing about bias."
    if not results.n_read:
        yield f"{results.model_name}: no score, because none of {results.n:,} answers could be read."
        return
    rows = [row] if row.figure else [each for each in results.figures if each.figure == of.key and each.headline]
    yield from (figure_sentence(benchmark, results, each) for each in rows[:NAMED])


def figure_sentence(benchmark: Benchmark[Any], results: Results, row: FigureRow) -> str:
    """A row of the table in a sentence."""
    of = benchmark.figure(row.figure)
    best = {"low": "lower is better", "high": "higher is better", "zero": "0 is best", None: ""}[of.best]
    value = figure(row.value, [row.low, row.high], of.digits)
    unit = {"percent": " %", "points": " points"}.get(of.unit, "")
    chance = "" if row.chance is None or math.isnan(row.chance) else f"random answers: {row.chance:.{of.digits}f}"
    told = f" ({told})" if (told := "; ".join(filter(None, (chance, best)))) else ""
    return (
        f"{results.model_name}: {in_words(of.label(row.groups))} {value}{unit}{told}. {row.n_read:,} of {row.n:,} "
        f"answers were read, from {row.n_clusters:,} clusters ({benchmark.card.cluster.replace('_', ' ')})."
    )


EXAMPLES = 6
NAMED = 4  # sentences on groups


def examples(predictions: pd.DataFrame, n: int = EXAMPLES) -> Iterator[Any]:
    """Prompts and answers spread over the rows, where predictions have both."""
    from evenhand.report.findings import Example

    if not len(predictions):
        return
    for place in sorted({k * (len(predictions) - 1) // max(1, n - 1) for k in range(n)}):
        row = predictions.iloc[place]
        prompt, text = (str(row.get(name) or "") for name in ("prompt", "text"))
        value = row.get("value")
        reading = "" if "value" not in row else "unread" if value is None or value != value else f"{value:g}"
        yield Example(str(row["id"]), prompt, text, reading)
