"""One figure of one model, where it was read, and what was refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from evenhand.report.differences import FigureKey

Interval = tuple[float, float]


class Refusal(ValueError):
    """Why a result is not on the board: a sentence without its place."""


@dataclass(frozen=True)
class Refused:
    """source: as on the command line. place: the file in it, or which result of the file."""

    source: str
    place: str
    reason: str


@dataclass(frozen=True)
class Origin:
    """Where results were read.

    Attributes:
        source: as on the command line. place: the path in it.
        link: an address where a reader opens the result; None: it is on this machine alone.
        file: a file that can be copied next to the page.
        run: a run folder, whose report can be written and whose answers can be paired with another run's.
        model: the repository's, where it is a model's. base: the base model by its card.
    """

    source: str
    place: str
    link: str | None = None
    file: Path | None = None
    run: Path | None = None
    model: str | None = None
    base: str | None = None


@dataclass(frozen=True)
class Column:
    """A figure under one setting: only results of one column are compared.

    Attributes:
        unit: "percent", or nothing.
        utility: it says what a model can do, not how biased it is.
        dataset: its name and version.
        setting: protocol and options, those that are not as by default.
        library: what measured it.
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
    """A result.

    Attributes:
        base: the model that this one was made from.
        interval: 95 % confidence interval; None: unknown.
        n_read: answers that the figure is of.
        date: in ISO 8601.
        notes: how it was measured, as far as that separates no columns.
        bounds: the least and the most that the figure can be, by its source.
        unread_rate: from 0 to 1.
        is_part: it is of a part of the rows, or a rehearsal.
        figure: which of a run's figures this is.
    """

    column: Column
    model: str
    value: float
    date: str
    origin: Origin
    base: str | None = None
    mitigation: str | None = None
    interval: Interval | None = None
    n_read: int | None = None
    notes: str = ""
    bounds: tuple[float | None, float | None] = (None, None)
    unread_rate: float = 0.0
    is_part: bool = False
    figure: FigureKey | None = field(default=None, compare=False)

    @property
    def row(self) -> str:
        """The name of its row on the board."""
        return row_name(self.model, self.mitigation)

    @property
    def base_row(self) -> str | None:
        if self.mitigation is not None:
            return row_name(self.model)
        return None if self.base is None else row_name(self.base)


def row_name(model: str, mitigation: str | None = None) -> str:
    """Unique for each pair: a model whose own name looks like "model + mitigation" is quoted."""
    name = f"“{model}”" if " + " in model or model.startswith("“") else model
    return name if mitigation is None else f"{name} + {mitigation}"
