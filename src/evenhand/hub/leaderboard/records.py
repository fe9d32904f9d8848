"""One figure of one model, where it was read, and what it must satisfy to be on the board, whoever wrote it."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import astuple, dataclass, field, replace
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.benchmarks import get_benchmark
from evenhand.errors import EvenhandError
from evenhand.figure import Figure
from evenhand.hub.submission.figures import is_signed, lower_is_better, submitted_range
from evenhand.hub.submission.validation import checked_date, date_of
from evenhand.report.differences import FigureKey

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

Interval = tuple[float, float]
OURS = "evenhand"
FAULTS = (EvenhandError, OSError, ValueError, OverflowError)
"""What reading a result raises: it is refused with the error's sentence."""
MODEL_ID = re.compile(r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+")
LONGEST_NAME, LONGEST_SETTING, LONGEST_TEXT = 120, 1_000, 400  # characters
LARGEST = 1e9  # of any score
ROUNDING = 1e-6
NO_WIDTH = "its interval is left out: it has no width, or less than one answer more would make"


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
    place: str = ""
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


def check_form(part: str, value: object) -> None:
    """Raise ValueError for what doesn't fit the part of formats.schema.json, naming the first fault."""
    for error in _validators()[part].iter_errors(value):
        where = error.json_path.removeprefix("$").removeprefix(".")
        raise ValueError(f"its form is wrong: {f'{where[:80]}: ' if where else ''}{error.message[:120]}")


@cache
def _validators() -> dict[str, Draft202012Validator]:
    from jsonschema import Draft202012Validator  # takes a while to import

    schema = json.loads(Path(__file__).with_name("formats.schema.json").read_text(encoding="utf-8"))
    return {part: Draft202012Validator({"$ref": f"#/$defs/{part}", **schema}) for part in schema["$defs"]}


def clean(text: str, longest: int = LONGEST_TEXT) -> str:
    """A text in one line, cut, with a space for each character that can't be seen."""
    return " ".join("".join(each if each.isprintable() else " " for each in text[:longest]).split())


def parse_day(value: object) -> str:
    """A date in ISO 8601, from that, from what YAML makes of it, or from seconds since 1970 as a text.

    Raises UsageError for no date, and for one in the future.
    """
    if isinstance(value, str) and re.fullmatch(r"[0-9]+(\.[0-9]+)?", value):
        value = date_of(float(value))
    return checked_date(value.isoformat() if isinstance(value, date) else value, datetime.now(UTC), "the date")


def check_record(record: Record, bounds: tuple[float | None, float | None] = (None, None)) -> Record:
    """The record; without an interval that can't be one of 95 %, and without a base that is itself or no ORG/NAME.

    Args:
        bounds: the least and the most that the figure can be, by its source.

    Raises:
        ValueError: a name is none, or the figure is of no answer, no number, out of its range, or contradicts what its
            metric is.
    """
    if record.origin.run is None and not MODEL_ID.fullmatch(record.model):
        raise ValueError(f"the model {clean(record.model, 100)!r} must be ORG/NAME in ASCII letters, digits, . - and _")
    for text in (*astuple(record.column), record.model, record.mitigation or ""):
        longest = LONGEST_SETTING if text == record.column.setting else LONGEST_NAME
        if isinstance(text, str) and not (text.isprintable() and len(text) <= longest):
            raise ValueError(f"{clean(text, 40)!r} holds characters that can't be seen, or more than {longest}")
    if record.n_read == 0:
        raise ValueError("none of its answers was read, so that it has no figure")
    _check_range(record, *bounds)
    if record.interval is not None and _has_no_width(record):
        record = replace(record, interval=None, notes="; ".join(filter(None, (record.notes, NO_WIDTH))))
    has_base = record.base is not None and record.base != record.model and MODEL_ID.fullmatch(record.base)
    return record if has_base else replace(record, base=None)


def _check_range(record: Record, low: float | None, high: float | None) -> None:
    """Against the range of evenhand's own figure; of others, the one that their source gives."""
    column, known = record.column, declared_figure(record.column)
    if known is not None:
        if column.lower_is_better != lower_is_better(known) or column.unit != known.unit:
            raise ValueError(f"{column.metric} of {column.benchmark} is another figure than evenhand's of that name")
        low, high = submitted_range(known) or (None, None)
    elif column.unit == "percent":
        low, high = 0.0 if low is None else low, 100.0 if high is None else high
    least, most = -LARGEST if low is None else low, LARGEST if high is None else high
    for value in (record.value, *(record.interval or ())):
        if not least - ROUNDING <= value <= most + ROUNDING:
            distance = "; give its distance from 0" if known and is_signed(known) else ""
            raise ValueError(f"{value:g} lies outside of its range ({least:g} to {most:g}{distance})")
    low, high = record.interval or (record.value, record.value)
    # Figures from which chance is subtracted may lie a little outside of their interval.
    if not 2 * low - high - ROUNDING <= record.value <= 2 * high - low + ROUNDING:
        raise ValueError(f"its interval [{low:g}, {high:g}] does not fit its figure, {record.value:g}")


def _has_no_width(record: Record) -> bool:
    """Whether it is narrower than one answer more would make it: 0 of 100 with [0, 0] is no certainty."""
    low, high = record.interval or (0.0, 0.0)
    of_answers = record.column.unit == "percent" and record.column.library == OURS and record.n_read
    return high - low <= ROUNDING or bool(of_answers and high - low < 100 / of_answers - ROUNDING)


@cache
def declared_figure(column: Column) -> Figure | None:
    """The figure of evenhand's that a column is of; None for others."""
    with suppress(EvenhandError):
        if column.library == OURS:
            return next((each for each in get_benchmark(column.benchmark).figures if each.key == column.metric), None)
    return None
