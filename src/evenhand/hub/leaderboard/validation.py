"""What every result must satisfy before it is on the board, whoever wrote it: form, names, numbers, ranges, date."""

from __future__ import annotations

import json
import math
import re
from dataclasses import asdict, replace
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.benchmarks import get_benchmark
from evenhand.errors import EvenhandError
from evenhand.figure import Figure
from evenhand.hub.leaderboard.records import Column, Interval, Record, Refusal
from evenhand.hub.results_checks import MOST_UNREAD
from evenhand.hub.submission.figures import is_signed, lower_is_better, submitted_range
from evenhand.hub.submission.validation import checked_date, date_of

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

OURS = "evenhand"
LONGEST_NAME, LONGEST_SETTING, LONGEST_TEXT = 120, 1_000, 400  # characters
LARGEST = 1e9  # of any score
ROUNDING = 1e-6
NO_WIDTH = "its interval is left out: it has no width, or less than one answer more would make"
_SECONDS = re.compile(r"[0-9]+(\.[0-9]+)?")


def check_form(part: str, value: object) -> None:
    """Raise Refusal for what doesn't fit the part of formats.schema.json, naming the first fault."""
    for error in _validators()[part].iter_errors(value):
        where = error.json_path.removeprefix("$").removeprefix(".")
        raise Refusal(f"its form is wrong: {f'{where[:80]}: ' if where else ''}{error.message[:120]}")


@cache
def _validators() -> dict[str, Draft202012Validator]:
    from jsonschema import Draft202012Validator  # takes a while to import

    schema = json.loads(Path(__file__).with_name("formats.schema.json").read_text(encoding="utf-8"))
    return {part: Draft202012Validator({"$ref": f"#/$defs/{part}", **schema}) for part in schema["$defs"]}


def is_name(text: object, longest: int = LONGEST_NAME) -> bool:
    """Whether it is a short text without characters that can't be seen."""
    return isinstance(text, str) and bool(text.strip()) and text.isprintable() and len(text) <= longest


def clean(text: str, longest: int = LONGEST_TEXT) -> str:
    """A text in one line, cut, with a space for each character that can't be seen."""
    return " ".join("".join(each if each.isprintable() else " " for each in text[:longest]).split())


def parse_day(value: object) -> str:
    """A date in ISO 8601, from that, from what YAML makes of it, or from seconds since 1970 as a text.

    Raises UsageError for no date, and for one in the future.
    """
    if isinstance(value, str) and _SECONDS.fullmatch(value):
        value = date_of(float(value))
    if isinstance(value, date):
        value = value.isoformat()
    return checked_date(value, datetime.now(UTC), "the date")


def check_record(record: Record, rehearsal: bool = False) -> Record:
    """The record; without an interval that can't be one of 95 %, and without itself as its base.

    Args:
        rehearsal: stubs and parts of the rows are shown, too.

    Raises:
        Refusal: a name, a number or the date is none, or the figure is out of its range, contradicts what its metric
            is, is made up, or was mostly unread.
    """
    _check_names(record)
    if not rehearsal and record.model.startswith("stub:"):
        raise Refusal("a stub's answers are made up")
    if not rehearsal and record.is_part:
        raise Refusal("it is of a part of the rows, or a rehearsal")
    if record.n_read == 0:
        raise Refusal("none of its answers was read, so that it has no figure")
    if record.unread_rate > MOST_UNREAD:
        share, most = 100 * record.unread_rate, 100 * MOST_UNREAD
        raise Refusal(f"{share:.0f} % of its answers could not be read; the limit is {most:.0f} %")
    _check_range(record)
    if record.interval is not None and _has_no_width(record, record.interval):
        notes = "; ".join(filter(None, (record.notes, NO_WIDTH)))
        record = replace(record, interval=None, notes=notes)
    return replace(record, base=None) if record.base == record.model else record


def _check_names(record: Record) -> None:
    texts = {**asdict(record.column), "model": record.model, "base": record.base, "mitigation": record.mitigation}
    for what, text in texts.items():
        longest = LONGEST_SETTING if what == "setting" else LONGEST_NAME
        may_be_blank = what == "unit" and not text
        if isinstance(text, str) and not may_be_blank and not is_name(text, longest):
            raise Refusal(
                f"the {what} {clean(text, 40)!r} is empty, holds characters that can't be seen, or has more than "
                f"{longest} characters"
            )


def _check_range(record: Record) -> None:
    """Against the range of evenhand's own figure; of others, the one that their source gives."""
    column, (low, high) = record.column, record.bounds
    values = (record.value, *(record.interval or ()))
    if not all(abs(each) <= LARGEST for each in (*values, low or 0, high or 0)):
        raise Refusal("its score, interval or range is not a number that can be compared")
    known = declared_figure(column)
    if known is not None:
        if column.lower_is_better != lower_is_better(known) or column.unit != known.unit:
            raise Refusal(f"{column.metric} of {column.benchmark} is another figure than evenhand's of that name")
        low, high = submitted_range(known) or (None, None)
    elif column.unit == "percent":
        low, high = 0.0 if low is None else low, 100.0 if high is None else high
    least, most = -math.inf if low is None else low, math.inf if high is None else high
    if not least < most:
        raise Refusal(f"its range, from {least:g} to {most:g}, is none")
    for value in values:
        if not least - ROUNDING <= value <= most + ROUNDING:
            distance = "; give its distance from 0" if known and is_signed(known) else ""
            raise Refusal(f"{value:g} lies outside of its range ({least:g} to {most:g}{distance})")
    if record.interval is not None:
        low, high = record.interval
        if low > high:
            raise Refusal("its interval's lower end is above its upper one")
        # Figures from which chance is subtracted may lie a little outside of theirs.
        if not 2 * low - high - ROUNDING <= record.value <= 2 * high - low + ROUNDING:
            raise Refusal("its interval lies far from its figure")


def _has_no_width(record: Record, interval: Interval) -> bool:
    """Whether it is narrower than one answer more would make it: 0 of 100 with [0, 0] is no certainty."""
    width = interval[1] - interval[0]
    of_answers = record.column.unit == "percent" and record.column.library == OURS and record.n_read
    return width <= ROUNDING or bool(of_answers and width < 100 / of_answers - ROUNDING)


def declared_figure(column: Column) -> Figure | None:
    """The figure of evenhand's that a column is of; None for others."""
    return _figure(column.benchmark, column.metric) if column.library == OURS else None


@cache
def _figure(benchmark: str, key: str) -> Figure | None:
    try:
        return next((each for each in get_benchmark(benchmark).figures if each.key == key), None)
    except EvenhandError:
        return None
