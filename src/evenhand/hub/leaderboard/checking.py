"""What is looked at before anything comes onto the board: texts, numbers, ranges, dates, addresses."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from datetime import date, datetime
from functools import cache

from evenhand.benchmarks import get_benchmark
from evenhand.errors import EvenhandError, UsageError
from evenhand.figure import Figure
from evenhand.hub.leaderboard.records import Column, Interval, Record, Refusal
from evenhand.hub.results_checks import MOST_UNREAD
from evenhand.hub.submission.figures import is_signed, lower_is_better, submitted_range
from evenhand.hub.submission.validation import checked_date, date_of, is_address

LONGEST_NAME, LONGEST_TEXT, LONGEST_ADDRESS = 120, 400, 500  # characters
OURS = "evenhand"
LARGEST = 1e9  # of any score
ROUNDING = 1e-6
_SECONDS = re.compile(r"[0-9]+(\.[0-9]+)?")
NO_WIDTH = "its interval is left out: it has no width, or less than one answer more would make"


def name(text: object, what: str, longest: int = LONGEST_NAME) -> str:
    """A text of one line without what can't be seen. Raises Refusal."""
    if not isinstance(text, str) or not text.strip():
        raise Refusal(f"{what} is missing or no text")
    if len(text) > longest:
        raise Refusal(f"{what} has {len(text):,} characters; {longest} are accepted")
    if not text.isprintable():
        raise Refusal(f"{what} holds characters that can't be seen")
    return text.strip()


def text(value: object, longest: int = LONGEST_TEXT) -> str:
    """What stands beside a result, cut and with a space for each character that can't be seen."""
    if not isinstance(value, (str, float, bool, date)) and value is not None:
        # Others are not spelled out: a list may be endless, a whole number too long for `str`.
        value = f"{value}" if isinstance(value, int) and abs(value) <= LARGEST else f"a value ({type(value).__name__})"
    shown = "".join(each if each.isprintable() else " " for each in str(value)[:longest])
    return " ".join(shown.split())


def number(value: object, what: str) -> float:
    """Raises Refusal for what is none, or not finite."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Refusal(f"{what} is {text(value, 40)!r}, and no number")
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if not math.isfinite(found) or abs(found) > LARGEST:
        raise Refusal(f"{what} is {text(value, 40)}, and not a number that can be compared")
    return found


def count(value: object, what: str) -> int:
    found = number(value, what)
    if found < 0 or found != int(found):
        raise Refusal(f"{what} is {found:g}, and no count")
    return int(found)


def day(value: object, now: datetime) -> str:
    """ISO 8601, of that or of seconds since 1970 as a text. Raises Refusal for none, and for one still to come."""
    moment = value
    if isinstance(value, str) and _SECONDS.fullmatch(value):
        try:
            moment = date_of(float(value))
        except (OverflowError, ValueError, OSError):
            raise Refusal(f"the date {text(value, 40)!r} is none") from None
    if isinstance(moment, date):  # what YAML makes of one without quotes
        moment = moment.isoformat()
    if not isinstance(moment, str):
        raise Refusal(f"the date is {text(moment, 40)}")
    try:
        return checked_date(moment, now, "the date")
    except UsageError as error:
        raise Refusal(str(error)) from None


def address(value: object) -> str | None:
    """Where a browser may go; None for anything else."""
    return value if isinstance(value, str) and len(value) <= LONGEST_ADDRESS and is_address(value) else None


def read_enough(unread_rate: float | None) -> None:
    """Raises Refusal where most answers could not be read, and for what is no share."""
    if unread_rate is not None and not 0 <= unread_rate <= 1:
        raise Refusal(f"its unread rate is {unread_rate:g}, and a share from 0 to 1 is accepted")
    if unread_rate is not None and not unread_rate <= MOST_UNREAD:
        raise Refusal(
            f"{100 * unread_rate:.0f} % of its answers could not be read ({100 * MOST_UNREAD:.0f} % are the most)"
        )


def checked(record: Record, low: float | None = None, high: float | None = None, rehearsal: bool = False) -> Record:
    """The record; without an interval that can't be one of 95 %, and without itself as its base.

    Args:
        low, high: between which the figure lies, by its source.
        rehearsal: stubs are accepted.

    Raises Refusal for a figure out of its range, one that contradicts what its metric is, and made-up answers.
    """
    column = record.column
    if record.model.startswith("stub:") and not rehearsal:
        raise Refusal("a stub's answers are made up")
    known = declared_figure(column)
    if known is not None:
        if column.lower_is_better != lower_is_better(known) or column.unit != known.unit:
            raise Refusal(f"{column.metric} of {column.benchmark} is another figure than evenhand's of that name")
        low, high = submitted_range(known) or (None, None)
    elif column.unit == "percent":
        low, high = 0.0 if low is None else low, 100.0 if high is None else high
    if record.n_read == 0:
        raise Refusal("none of its answers was read, so that it has no figure")
    if low is not None and high is not None and not low < high:
        raise Refusal(f"its range, from {low:g} to {high:g}, is none")
    for end in (record.value, *(record.interval or ())):
        if (low is not None and end < low - ROUNDING) or (high is not None and end > high + ROUNDING):
            distance = "; its distance from 0 is accepted, without a sign" if known and is_signed(known) else ""
            raise Refusal(f"{end:g} lies outside of its range ({_end(low)} to {_end(high)}{distance})")
    if record.interval is not None and record.interval[0] > record.interval[1]:
        raise Refusal("its interval's lower end is above its upper one")
    if record.interval is not None and not _near(record.value, record.interval):
        raise Refusal("its interval lies far from its figure")
    if record.interval is not None and _has_no_width(record, record.interval):
        record = replace(record, interval=None, notes="; ".join(filter(None, (record.notes, NO_WIDTH))))
    return replace(record, base=None) if record.base == record.model else record


def _has_no_width(record: Record, interval: Interval) -> bool:
    """Whether it is narrower than one answer more would make it: 0 of 100 with [0, 0] is no certainty."""
    width = interval[1] - interval[0]
    of_answers = record.column.unit == "percent" and record.column.library == OURS and record.n_read
    return width <= ROUNDING or bool(of_answers and width < 100 / of_answers - ROUNDING)


def declared_figure(column: Column) -> Figure | None:
    """The figure of evenhand's that a column is of; None of others."""
    return _figure(column.benchmark, column.metric) if column.library == OURS else None


@cache
def _figure(benchmark: str, key: str) -> Figure | None:
    try:
        return next((each for each in get_benchmark(benchmark).figures if each.key == key), None)
    except EvenhandError:
        return None


def _near(value: float, interval: Interval) -> bool:
    """Whether the interval holds it, or all but: of figures from which chance is taken off some don't."""
    low, high = interval
    return low - (high - low) - ROUNDING <= value <= high + (high - low) + ROUNDING


def _end(value: float | None) -> str:
    return "no end" if value is None else f"{value:g}"
