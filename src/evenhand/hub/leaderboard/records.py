"""One figure of one model, where it was read, and what was refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from evenhand.report.differences import FigureKey

Interval = tuple[float, float]
OURS = "evenhand"


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
        rehearsal: stubs and parts of the rows are shown, too.
    """

    source: str
    place: str
    link: str | None = None
    file: Path | None = None
    run: Path | None = None
    model: str | None = None
    base: str | None = None
    rehearsal: bool = False


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
    figure: FigureKey | None = field(default=None, compare=False)

    @property
    def row(self) -> str:
        """The name of its row on the board."""
        return self.model if self.mitigation is None else f"{self.model} + {self.mitigation}"

    @property
    def base_row(self) -> str | None:
        return self.base if self.mitigation is None else self.model
