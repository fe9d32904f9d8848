"""Tables and plots of a report, declared: they read the table of figures and know no benchmark."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Protocol

from evenhand.answers.unread import unread_examples
from evenhand.benchmarks import get_benchmark
from evenhand.errors import EvenhandError
from evenhand.figure import Columns, Figure, FigureRow, Groups
from evenhand.report.findings import Example, Findings, Plot, Run, whiskers
from evenhand.report.plots import grouped_bars, heatmap
from evenhand.report.tables import Cell, Table, cell, count, figure, n_of
from evenhand.words import in_words

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.benchmark import Benchmark, Card
    from evenhand.flow.results import Results

Show = Literal["value", "chance", "n", "n_read", "n_clusters", "unread_percent"]
EXAMPLES = 6
NAMED = 4  # sentences on groups


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


def counts(figure: str) -> tuple[Column, ...]:
    """Return columns with the number of answers, of clusters, and the percent unread."""
    shows: dict[str, Show] = {"n": "n", "clusters": "n_clusters", "unread, %": "unread_percent"}
    return tuple(Column(heading, figure, show=show) for heading, show in shows.items())


@dataclass(frozen=True)
class Grid:
    """A table: a row for each group, or one of the whole run; columns are figures.

    Attributes:
        rows: the grouping columns whose values name the rows.
        names: {value: as it is shown}.
        overall: whether the figures of all rows together come first.
        published: whether the paper's figures are shown below each row.
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
        """Raises EvenhandError where a column's figure is not computed by the table's grouping."""
        columns = [each for each in self.columns if each.figure in results.figures]
        groups_of_rows: list[Groups] = [{}] if self.overall or not self.rows else []
        if self.rows:  # groups of any of the columns, in order of appearance
            found = (
                tuple((name, row.groups[name]) for name in self.rows)
                for column in columns
                for row in results.figures.rows(column.figure, *self.rows, **column.where)
            )
            groups_of_rows += map(dict, dict.fromkeys(found))
        if self.several and len({groups.get(self.several) for groups in groups_of_rows} - {None}) < 2:
            return None
        lines = [line for groups in groups_of_rows for line in self._lines(groups, columns, benchmark, results)]
        if not columns or not lines:
            return None
        for column in columns:
            self._check_grouping(column, benchmark.figure(column.figure), results)
        head = ", ".join(each.replace("_", " ") for each in self.rows) or "model"
        note = f"{self.note} {intervals_note(benchmark.card)}".strip()
        if any(line[0].published for line in lines):
            sources = dict.fromkeys(each.get("source", "") for each in results.published)
            note += f" Published: {'; '.join(filter(None, sources))}."
        return Table(self.title, (head, *(each.heading for each in columns)), tuple(lines), note)

    def _check_grouping(self, column: Column, figure: Figure, results: Results) -> None:
        wanted, declared = {*self.rows, *column.where}, [{*columns} for columns in figure.groupings]
        computed = [{*row.groups} for row in results.figures if row.figure == figure.key]
        # A statistic may add groups of its own, which aren't declared.
        if wanted not in declared and all(each in declared for each in computed):
            raise EvenhandError(
                f"table {self.title!r}: figure {figure.key!r} is not computed by {', '.join(wanted) or 'all rows'}; "
                f"add {tuple(wanted)} to `by` of the figure"
            )

    def _lines(
        self, groups: Groups, columns: Sequence[Column], benchmark: Benchmark[Any], results: Results
    ) -> Iterator[tuple[Cell, ...]]:
        """Yield the row of a group, and those of the paper's models below it."""
        figures = [benchmark.figure(each.figure) for each in columns]
        named = ", ".join(self.names.get(value, value) for value in groups.values())
        name = named or ("all" if self.rows else results.model_name)
        rows = [results.figures.row(each.figure, **groups, **each.where) for each in columns]
        cells = (shown(row, of, each.show, each.signed) for row, of, each in zip(rows, figures, columns))
        yield (Cell(name), *cells)
        for model in dict.fromkeys(each["model"] for each in results.published) if self.published else ():
            printed = [_published(each, groups, model, results) for each in columns]
            if any(printed):
                digits = (max(2, of.digits) for of in figures)
                cells = (
                    Cell(each.get("value"), each.get("low"), each.get("high"), n, published=True, missing="")
                    for each, n in zip(printed, digits)
                )
                yield (Cell(f" {model}, published", published=True), *cells)


def shown(row: FigureRow, of: Figure, show: Show = "value", signed: bool = False) -> Cell:
    """Show one number of a row of the table of figures."""
    if show == "value":
        return cell(row, of.digits, "signed" if signed else "plain")
    number = getattr(row, show)
    if show in ("chance", "unread_percent"):
        return Cell(number, digits=of.digits if show == "chance" else 1, missing="")
    return count(number if row.figure else None)


def _published(column: Column, groups: Groups, model: str, results: Results) -> Mapping[str, Any]:
    """Return the paper's record of just this group; empty where it has none."""
    if column.show != "value":
        return {}
    wanted = {"model": model, "figure": column.figure, **groups, **column.where}
    others = {"value", "low", "high", "source", "n"}
    found = (each for each in results.published if wanted.items() <= each.items())
    return next((each for each in found if each.keys() - others <= wanted.keys()), {})


def intervals_note(card: Card) -> str:
    clusters = " and ".join(each.replace("_", " ") for each in card.clusters)
    return f"Brackets: 95 % confidence intervals, clustered by {clusters}."


@dataclass(frozen=True)
class Bars:
    """A bar for each value of one column, in groups by another, with whiskers, and a line at chance.

    Attributes:
        groups: the grouping column of the groups of bars; "" for none.
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
        values: dict[str, dict[str, tuple[float, Sequence[float]]]] = {}
        for row in results.figures.rows(self.figure, *columns, **self.where):
            group, bar = (row.groups.get(each, "") for each in (self.groups, self.bars))
            of_group = values.setdefault(self.names.get(group, group) or "all", {})
            of_group[self.names.get(bar, bar)] = (row.value, row.interval or ())
        if not values:
            return None
        reference = self.reference or (benchmark.figure(self.figure).chance or 0.0, "chance")
        whole = results.figures.row(self.figure, **self.where)
        note = f"{whiskers(values, '95 % confidence intervals').capitalize()}."
        if whole.n:
            note += f" n = {whole.n_read:,} read answers; {whole.unread_percent:.1f} % unread."
        return Plot(self.title, partial(grouped_bars, values, self.axis, reference, self.limits), note)


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
        return Plot(self.title, partial(heatmap, grid, self.unit or benchmark.figure(self.figure).name), note)


def laid_out(benchmark: Benchmark[Any], predictions: pd.DataFrame, results: Results) -> Findings:
    """Lay out a run's report: the headline figure in a sentence, tables, plots and examples."""
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


def make_findings(benchmark: Benchmark[Any], rows: pd.DataFrame, results: Results) -> Findings:
    """Return what a run's report shows; where many answers are unread, some of them come first."""
    found = benchmark.findings(rows, results)
    return replace(found, examples=(*unread_examples(rows), *found.examples))


def side_by_side(runs: Sequence[Run]) -> Table:
    """Return a row for each headline figure, a column for each run."""
    benchmark = get_benchmark(runs[0].results.benchmark)
    headline = (row for run in runs for row in run.results.figures if row.headline)
    keys = dict.fromkeys((row.figure, tuple(row.groups.items())) for row in headline)
    rows = []
    for (key, groups), of in ((each, benchmark.figure(each[0])) for each in keys):
        cells = (shown(run.results.figures.row(key, **dict(groups)), of) for run in runs)
        rows.append((Cell(of.label(dict(groups))), *cells))
    columns = ("figure", *(f"{run.letter}: {run.results.model_name}" for run in runs))
    return Table("Each run", columns, tuple(rows), intervals_note(benchmark.card))


def default_layout(benchmark: Benchmark[Any], results: Results) -> Iterator[Block]:
    """Yield a table of the whole run, then one for each figure and grouping."""
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
    """State the first figure of the whole run: value, interval, answers read, chance, what is best.

    Where it has no value of the whole run, those of its headline groups.
    """
    of = benchmark.figures[0]
    if constant := results.warned("constant_answer"):
        named = ", ".join(" and ".join(each.groups.values()) or "all questions" for each in constant)
        yield f"{results.model_name} gives constant answers to {named}: its score there says nothing about bias."
    if not results.n_read:
        yield f"{results.model_name}: no score, because none of {results.n:,} answers could be read."
        return
    whole = results.figures.row(of.key)
    rows = [whole] if whole.figure else [each for each in results.figures if each.figure == of.key and each.headline]
    yield from (figure_sentence(benchmark, results, each) for each in rows[:NAMED])


def figure_sentence(benchmark: Benchmark[Any], results: Results, row: FigureRow) -> str:
    """State a row of the table of figures in a sentence."""
    of = benchmark.figure(row.figure)
    best = {"low": "lower is better", "high": "higher is better", "zero": "0 is best", None: ""}[of.best]
    unit = {"percent": " %", "points": " points"}.get(of.unit, "")
    chance = "" if row.chance is None or math.isnan(row.chance) else f"random answers: {row.chance:.{of.digits}f}"
    compared = "; ".join(filter(None, (chance, best)))
    return (
        f"{results.model_name}: {in_words(of.label(row.groups))} {figure(row.value, [row.low, row.high], of.digits)}"
        f"{unit}{f' ({compared})' if compared else ''}. {row.n_read:,} of {row.n:,} answers were read, from "
        f"{n_of(row.n_clusters, 'cluster')} ({benchmark.card.cluster.replace('_', ' ')})."
    )


def examples(predictions: pd.DataFrame) -> Iterator[Example]:
    """Yield prompts and answers spread over the rows, where predictions have both."""
    last = len(predictions) - 1
    for place in sorted({k * last // (EXAMPLES - 1) for k in range(EXAMPLES)}) if last >= 0 else ():
        row = predictions.iloc[place]
        prompt, text = (str(row.get(name) or "") for name in ("prompt", "text"))
        value = row.get("value")
        reading = "" if "value" not in row else "unread" if value is None or value != value else f"{value:g}"
        yield Example(str(row["id"]), prompt, text, reading)
