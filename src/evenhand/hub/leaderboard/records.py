"""One figure of one model, as it was checked; what was refused, and why."""

from __future__ import annotations

from dataclasses import dataclass, field

from evenhand.report.differences import FigureKey

Interval = tuple[float, float]


class Refusal(ValueError):
    """Why a result is not on the board: a sentence without its place."""


@dataclass(frozen=True)
class Refused:
    """source: as it was named on the command line. place: the file in it, or which result of the file."""

    source: str
    place: str
    reason: str


@dataclass(frozen=True)
class Column:
    """A figure under one setting: only results of one column are compared.

    unit: "percent", or nothing. utility: it says what a model can do, not how biased it is. dataset: its name and
    version. setting: protocol and options, those that are not as by default. library: what measured it.
    """

    benchmark: str
    task: str
    metric: str
    unit: str
    lower_is_better: bool
    utility: bool
    dataset: str
    setting: str
    library: str


@dataclass(frozen=True)
class Record:
    """interval: of 95 %; None where none is known. n_read: answers that the figure is of. date: as ISO 8601 has it.

    base: the model that it was made of, or that runs under the mitigation. notes: of how it was measured, what parts no
    columns. link: an address where a reader opens the result; None: it lies here
    alone. source, place: where it was read, for messages alone. file: a record here, which is copied beside the page.
    run: the folder of a run, whose report is written there, and whose answers can be paired with another's; figure:
    which of its figures this is.
    """

    column: Column
    model: str
    base: str | None
    mitigation: str | None
    value: float
    interval: Interval | None
    n_read: int | None
    date: str
    notes: str
    link: str | None
    source: str
    place: str
    file: str | None = None
    run: str | None = None
    figure: FigureKey | None = field(default=None, compare=False)

    @property
    def row(self) -> str:
        """Of the board."""
        return row_of(self.model, self.mitigation)

    @property
    def base_row(self) -> str | None:
        if self.mitigation is not None:
            return row_of(self.model)
        return None if self.base is None else row_of(self.base)


def row_of(model: str, mitigation: str | None = None) -> str:
    """A name for each pair of both: a model that is named as another under a mitigation would be stands in quotes."""
    own = f"“{model}”" if " + " in model or model.startswith("“") else model
    return own if mitigation is None else f"{own} + {mitigation}"
