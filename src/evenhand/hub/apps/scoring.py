"""From what a visitor gives to what the page shows; pure, but for the metric. Nothing here knows the page's library."""

from __future__ import annotations

import csv
import io
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.errors import EvenhandError, UsageError
from evenhand.hub.apps.declared import About, Declared, about, declared
from evenhand.hub.apps.figures import Scored, error_page, result_page, scored
from evenhand.hub.apps.given import Given, of_answers, of_table, refuse_too_large

if TYPE_CHECKING:
    import evaluate

PASTED = "the table.csv"  # what was pasted is called so in errors, without its suffix
CLUSTERS = "clusters"
_ROW = re.compile(r"^row (\d+)\b")


@dataclass(frozen=True)
class MetricPage:
    """What the page of a metric does. Each function gives HTML in which everything that came is escaped."""

    metric: evaluate.Metric
    about: About
    declared: Declared
    one_at_a_time: threading.Lock  # evaluate's metrics keep what they are given in themselves

    @classmethod
    def of(cls, metric: evaluate.Metric, folder: Path) -> MetricPage:
        """folder: the metric's, with about.json and example.csv."""
        return cls(metric, about(folder), declared(metric), threading.Lock())

    def first_asked(self) -> dict[str, str]:
        """What the example's first row asks, by column."""
        header, first = islice(csv.reader(io.StringIO(self.about.table)), 2)
        cells = dict(zip(header, first))
        return {each.name: cells[each.name] for each in self.declared.references}

    def pasted(self, text: str | None) -> str:
        """Of a table as text."""
        return self._page(lambda: self.score(of_table((text or "").encode("utf-8", "replace"), PASTED, self.declared)))

    def uploaded(self, path: str | None) -> str:
        """Of a table as a file."""

        def read() -> Scored:
            if not path:
                raise UsageError("no file came; choose one first")
            file = Path(path)
            refuse_too_large(file.stat().st_size, file.name)
            found = self.score(of_table(file.read_bytes(), file.name, self.declared))
            return replace(found, counts=f"{file.name}: {found.counts}")

        return self._page(read)

    def answers(self, text: str | None, asked: Mapping[str, str]) -> str:
        """Of answers to one question, one a line."""
        return self._page(lambda: self.score(of_answers(text or "", asked, self.declared)))

    def score(self, given: Given) -> Scored:
        """Raises UsageError with the metric's own words where it refuses what was given."""
        try:
            with self.one_at_a_time:
                result = self.metric.compute(
                    predictions=given.predictions, references=given.references, **given.columns
                )
        except (TypeError, ValueError) as error:
            raise UsageError(_placed(str(error), given)) from error
        return scored(result, self.about, tuple(self._notes(given)))

    def _notes(self, given: Given) -> list[str]:
        notes = []
        of = {column.name: column.about for column in self.declared.beside}
        if CLUSTERS in of and CLUSTERS not in given.columns:
            notes.append(f"There are no intervals without a column {CLUSTERS} ({of[CLUSTERS].partition(';')[0]}).")
        if given.unused:
            ways = " or ".join(each.name.replace("COLUMN", given.unused[0]) for each in self.declared.crossings)
            notes.append(
                f"Not used: {', '.join(given.unused)}."
                + (f" To see figures by one of them, name it {ways}." if ways else "")
            )
        return notes

    def _page(self, score: Callable[[], Scored]) -> str:
        try:
            return result_page(score(), self.about)
        except EvenhandError as error:
            return error_page(str(error).replace(PASTED, PASTED.removesuffix(".csv")))


def _placed(message: str, given: Given) -> str:
    """With a row's place as the visitor counts: "row 1: …" of a metric is "line 3: …" of a table."""
    found = _ROW.match(message)
    if not found or int(found[1]) >= len(given.places):
        return message
    return given.places[int(found[1])] + message[found.end() :]
