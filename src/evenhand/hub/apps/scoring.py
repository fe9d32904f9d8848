"""From what a visitor gives to what the page shows. Nothing here knows the page's library."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.errors import EvenhandError, UsageError
from evenhand.hub.apps.declared import PREDICTION, About, Declared, declared_columns
from evenhand.hub.apps.figures import Scored, render, summarize
from evenhand.hub.apps.tables import Inputs, read_table

if TYPE_CHECKING:
    import evaluate

_ROW = re.compile(r"^row (\d+)\b")


@dataclass(frozen=True)
class MetricPage:
    """What a metric's page does, one call at a time: evaluate's metrics keep what they are given.

    `pasted`, `uploaded` and `answers` return HTML in which everything is escaped.
    """

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
        """Score a table as text."""
        return self._page(lambda: self.read(text))

    def uploaded(self, path: str) -> str:
        """Score a table as a file."""
        file = Path(path)
        return self._page(lambda: read_table(file.read_bytes(), file.name, self.declared), f"{file.name}: ")

    def answers(self, text: str, asked: Mapping[str, str]) -> str:
        """Score answers to one question, one a line. asked: the cell of each reference column."""
        return self._page(lambda: self._read_answers(text, asked))

    def read(self, table: str) -> Inputs:
        """Read a table as CSV or TSV text. Raises UsageError."""
        return read_table(table.encode("utf-8", "replace"), "the table", self.declared)

    def _read_answers(self, text: str, asked: Mapping[str, str]) -> Inputs:
        lines = text.strip("\r\n").splitlines()
        if not text.strip():
            raise UsageError("there is no answer; paste at least one, one a line")
        if empty := [name for name, cell in asked.items() if not cell.strip()]:
            raise UsageError(f"{', '.join(empty)} is empty; say what was asked")
        rows = [json.dumps({PREDICTION: line.strip(), **asked}) for line in lines]
        return read_table("\n".join(rows).encode(), "answers.jsonl", self.declared)

    def score(self, inputs: Inputs) -> Scored:
        """Raises UsageError with the metric's own words where it refuses what was given."""
        try:
            result = self.metric.compute(predictions=inputs.predictions, references=inputs.references, **inputs.columns)
        except (TypeError, ValueError) as error:
            raise UsageError(_name_line(str(error), inputs)) from error
        return summarize(result, self.about, tuple(self._notes(inputs)))

    def _notes(self, inputs: Inputs) -> list[str]:
        notes = []
        clusters = next((each.about for each in self.declared.beside if each.name == "clusters"), None)
        if clusters is not None and "clusters" not in inputs.columns:
            notes.append(f"There are no intervals without a column clusters ({clusters.partition(';')[0]}).")
        if inputs.unused:
            ways = " or ".join(each.name.replace("COLUMN", inputs.unused[0]) for each in self.declared.crossings)
            how = f" To see figures by one of them, name it {ways}." if ways else ""
            notes.append(f"Not used: {', '.join(inputs.unused)}.{how}")
        return notes

    def _page(self, read: Callable[[], Inputs], source: str = "") -> str:
        try:
            scored = self.score(read())
        except EvenhandError as error:
            return render("error.html.jinja", message=str(error))
        return render("result.html.jinja", scored=scored, about=self.about, source=source)


def _name_line(message: str, inputs: Inputs) -> str:
    """The metric's "row 1: …" as the visitor counts, "line 3: …" of a table."""
    found = _ROW.match(message)
    if not found or int(found[1]) >= len(inputs.places):
        return message
    return inputs.places[int(found[1])] + message[found.end() :]
