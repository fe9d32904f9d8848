"""From what a visitor gives to what the page shows: HTML in which everything is escaped, and no library of pages."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from evenhand.errors import EvenhandError, UsageError
from evenhand.hub.apps.declared import PREDICTION, About, Declared, declared_columns
from evenhand.hub.apps.tables import Inputs, read_table

if TYPE_CHECKING:
    import evaluate

HERE = Path(__file__).parent
NO_FIGURES = ("n", "n_read", "unread_rate", "warnings", "intervals", "by", "n_clusters", "n_clusters_asked")
_TEMPLATES = Environment(
    loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
)


def render(template: str, **values: object) -> str:
    """The HTML of a template beside this file, such as "result.html.jinja"."""
    return _TEMPLATES.get_template(template).render(**values)


@dataclass(frozen=True)
class Figure:
    """name: "biased percentage, overall". text, interval, chance: as they are shown; empty where there is none."""

    name: str
    text: str
    interval: str
    chance: str


@dataclass(frozen=True)
class Scored:
    """What the page shows.

    Attributes:
        headline: the figures that the metric is named for. others: all further figures.
        by: {column: {value: the headline figures of its rows}}.
        counts: how many rows, read answers and clusters there are.
        warnings: the metric's. notes: the page's.
    """

    headline: list[Figure]
    others: list[Figure]
    by: Mapping[str, Mapping[str, list[Figure]]]
    counts: str
    warnings: Sequence[str]
    notes: Sequence[str]


@dataclass(frozen=True)
class MetricPage:
    """What a metric's page does, one call at a time: evaluate's metrics keep what they are given."""

    metric: evaluate.Metric
    about: About
    declared: Declared

    @classmethod
    def of(cls, metric: evaluate.Metric, folder: Path) -> MetricPage:
        """folder: the metric's, with about.json and example.csv."""
        return cls(metric, About.read(folder), declared_columns(metric))

    def first_asked(self) -> dict[str, str]:
        """What the example's first row asks, by column."""
        first = next(csv.DictReader(io.StringIO(self.about.table)))
        return {each.name: first[each.name] for each in self.declared.references}

    def pasted(self, text: str) -> str:
        """Score a table as text; HTML."""
        return self._page(lambda: self.read(text))

    def uploaded(self, path: str) -> str:
        """Score a table as a file; HTML."""
        file = Path(path)
        return self._page(lambda: read_table(file.read_bytes(), file.name, self.declared), f"{file.name}: ")

    def answers(self, text: str, asked: Mapping[str, str]) -> str:
        """Score answers to one question, one a line; HTML. asked: the cell of each reference column."""
        return self._page(lambda: self._read_answers(text, asked))

    def read(self, table: str) -> Inputs:
        """Read a table as CSV or TSV text. Raises UsageError."""
        return read_table(table.encode("utf-8", "replace"), "the table", self.declared)

    def _read_answers(self, text: str, asked: Mapping[str, str]) -> Inputs:
        if not text.strip():
            raise UsageError("there is no answer; paste at least one, one a line")
        if empty := [name for name, cell in asked.items() if not cell.strip()]:
            raise UsageError(f"{', '.join(empty)} is empty; say what was asked")
        rows = [json.dumps({PREDICTION: line.strip(), **asked}) for line in text.strip("\r\n").splitlines()]
        return read_table("\n".join(rows).encode(), "answers.jsonl", self.declared)

    def score(self, inputs: Inputs) -> Scored:
        """Raises UsageError with the metric's own words where it refuses what was given."""
        try:
            result = self.metric.compute(predictions=inputs.predictions, references=inputs.references, **inputs.columns)
        except (TypeError, ValueError) as error:
            places = dict(enumerate(inputs.places))  # the metric's "row 1: …" is the visitor's "line 3: …"
            named = re.sub(r"^row (\d+)\b", lambda row: places.get(int(row[1]), row[0]), str(error))
            raise UsageError(named) from error
        return summarize(result, self.about, list(self._notes(inputs)))

    def _notes(self, inputs: Inputs) -> Iterator[str]:
        clusters = next((each.about for each in self.declared.beside if each.name == "clusters"), None)
        if clusters is not None and "clusters" not in inputs.columns:
            yield f"There are no intervals without a column clusters ({clusters.partition(';')[0]})."
        if inputs.unused:
            ways = " or ".join(each.name.replace("COLUMN", inputs.unused[0]) for each in self.declared.crossings)
            how = f" To see figures by one of them, name it {ways}." if ways else ""
            yield f"Not used: {', '.join(inputs.unused)}.{how}"

    def _page(self, read: Callable[[], Inputs], source: str = "") -> str:
        try:
            return render("result.html.jinja", scored=self.score(read()), about=self.about, source=source)
        except EvenhandError as error:
            return render("error.html.jinja", message=str(error))


def summarize(result: Mapping[str, Any], about: About, notes: Sequence[str] = ()) -> Scored:
    """The figures of what `compute` returned."""
    counts = f"{result['n']:,} answers, {result['n_read']:,} of them read"
    if not math.isnan(unread := result["unread_rate"]):
        counts += f" ({100 * unread:.1f} % unread)"
    if (n := result.get("n_clusters")) is not None:
        counts += f"; {n:,} cluster{'s' * (n != 1)}"
    others = [key for key in result if key not in (*about.headline, *NO_FIGURES)]
    by = {
        column: {value: list(_figures(group, about.headline, about)) for value, group in groups.items()}
        for column, groups in result.get("by", {}).items()
    }
    headline, further = (list(_figures(result, keys, about)) for keys in (about.headline, others))
    return Scored(headline, further, by, counts, result["warnings"], notes)


def _figures(result: Mapping[str, Any], keys: Iterable[str], about: About) -> Iterator[Figure]:
    values, intervals = (dict(_leaves(each)) for each in (result, result.get("intervals", {})))
    for path, value in _leaves({key: result[key] for key in keys}):
        text = show(value, about.digits)
        unit = about.unit if path[0] in about.headline and any(map(str.isdigit, text)) else ""
        ends = [_round(end, about.digits) for end in intervals.get(path, ())]
        chance = about.chance.get(".".join(path), about.chance.get(path[0]))
        chance = values.get(tuple(chance.split("."))) if isinstance(chance, str) else chance
        name, interval = ", ".join(path).replace("_", " "), " to ".join(ends) if all(ends) else ""
        yield Figure(name, text + unit, interval, _round(chance, about.digits))


def _leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, (*path, str(key)))
    else:
        yield path, value


def _round(value: float | None, digits: int) -> str:
    """Nothing for None and NaN."""
    return "" if value is None or math.isnan(value) else f"{value:.{digits}f}"


def show(value: Any, digits: int) -> str:
    """A value of a result, for a reader."""
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        is_small = 0 < abs(value) < 1  # a p-value or a rate among percentages
        return "no data" if math.isnan(value) else f"{value:.{max(digits, 3) if is_small else digits}f}"
    if isinstance(value, (list, tuple)):
        return " to ".join(show(each, digits) for each in value)
    return str(value)
