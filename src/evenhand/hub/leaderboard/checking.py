"""What is looked at before anything comes onto the board: texts, numbers, ranges, dates, addresses."""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import replace
from datetime import date, datetime
from functools import cache
from urllib.parse import urlsplit

from evenhand.benchmarks import get_benchmark
from evenhand.errors import EvenhandError, UsageError
from evenhand.figure import Figure
from evenhand.hub.leaderboard.names import imitates, look, stacked
from evenhand.hub.leaderboard.records import Interval, Record, Refusal
from evenhand.hub.refusals import MOST_UNREAD
from evenhand.hub.submission.dates import checked_date, of_seconds
from evenhand.hub.submission.figures import bounds, is_signed

LONGEST_NAME, LONGEST_TEXT, LONGEST_ADDRESS = 120, 400, 500  # characters
OURS = "evenhand"
LARGEST = 1e9  # of any score
ROUNDING = 1e-6
_SECONDS = re.compile(r"[0-9]+(\.[0-9]+)?")
NO_WIDTH = "its interval is left out: it has no width, or less than one answer more would make"
TOO_NARROW = "its interval is left out: it is less than half as wide as that of so many independent answers"
NARROWEST = 0.5  # of the binomial one: rows of a balanced design vary less than independent ones, though not that much


def name(text: object, what: str, longest: int = LONGEST_NAME) -> str:
    """A text of one line without what can't be seen, in one spelling of each letter (NFC). Raises Refusal."""
    if not isinstance(text, str) or not text.strip():
        raise Refusal(f"{what} is missing or no text")
    if len(text) > longest:
        raise Refusal(f"{what} has {len(text):,} characters; {longest} are accepted")
    if not text.isprintable():
        raise Refusal(f"{what} holds characters that can't be seen")
    if stacked(text):
        raise Refusal(f"{what} stacks marks on a letter, which draw over what stands around it")
    return unicodedata.normalize("NFC", text.strip())


def model_name(text: object, what: str) -> str:
    """A name that looks like no other. Raises Refusal."""
    found = name(text, what)
    if why := imitates(found):
        raise Refusal(f"{what}, {found!a}, {why}")
    return found


def library_name(text: object) -> str:
    """Of what measured; all that reads as evenhand's own is held to be its. Raises Refusal for look-alikes."""
    found = model_name(text, "the library's name")
    return OURS if look(found) == OURS else found


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
            moment = of_seconds(float(value))
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
    """Where a browser may go: http and https, without a user's name in it; None for anything else."""
    if not isinstance(value, str) or len(value) > LONGEST_ADDRESS or not value.isprintable() or " " in value:
        return None
    try:
        parts = urlsplit(value)
        usable = parts.scheme in ("http", "https") and parts.hostname and not (parts.username or parts.password)
    except ValueError:
        return None
    return value if usable else None


def read_enough(unread_rate: float | None) -> None:
    """Raises Refusal where most answers could not be read, and for what is no share."""
    if unread_rate is not None and not 0 <= unread_rate <= 1:
        raise Refusal(f"its unread rate is {unread_rate:g}, and a share from 0 to 1 is accepted")
    if unread_rate is not None and not unread_rate <= MOST_UNREAD:
        raise Refusal(
            f"{100 * unread_rate:.0f} % of its answers could not be read ({100 * MOST_UNREAD:.0f} % are the most)"
        )


def checked(record: Record, low: float | None = None, high: float | None = None, rehearsal: bool = False) -> Record:
    """The same, without an interval that can't be one of 95 %. low, high: between which the figure lies, by its source.
    rehearsal: stubs are accepted.

    Raises Refusal for a figure out of its range, one that contradicts what its metric is, and made-up answers.
    """
    column = record.column
    if look(record.model).startswith("stub:") and not rehearsal:
        raise Refusal("a stub's answers are made up")
    known = _known(column.benchmark, column.metric) if column.library == OURS else None
    if known is not None:
        if column.lower_is_better != (known.best != "high") or column.unit != known.unit:
            raise Refusal(f"{column.metric} of {column.benchmark} is another figure than evenhand's of that name")
        low, high = bounds(known)
    elif column.unit == "percent":
        low, high = 0.0 if low is None else low, 100.0 if high is None else high
    if record.n_read == 0:
        raise Refusal("none of its answers was read, so that it has no figure")
    if low is not None and high is not None and not low < high:
        raise Refusal(f"its range, from {low:g} to {high:g}, is none")
    for end in (record.value, *(record.interval or ())):
        if (low is not None and end < low - ROUNDING) or (high is not None and end > high + ROUNDING):
            distance = (
                "; its distance from 0 is accepted, without a sign" if known is not None and is_signed(known) else ""
            )
            raise Refusal(f"{end:g} lies outside of its range ({_end(low)} to {_end(high)}{distance})")
    if record.interval is not None and record.interval[0] > record.interval[1]:
        raise Refusal("its interval's lower end is above its upper one")
    if record.interval is not None and not _near(record.value, record.interval):
        raise Refusal("its interval lies far from its figure")
    if record.interval is not None and (why := _not_believed(record, record.interval)):
        record = replace(record, interval=None, notes="; ".join(filter(None, (record.notes, why))))
    return replace(record, base=None) if record.base == record.model else record


def _not_believed(record: Record, interval: Interval) -> str:
    """Why an interval is left out, in words; "" where it stands.

    A model with an interval that is too narrow would rank alone before all that were measured as well.
    """
    width = interval[1] - interval[0]
    column = record.column
    n = record.n_read if column.unit == "percent" and column.library == OURS else None  # ours are shares of answers
    if width <= ROUNDING or (n and width < 100 / n - ROUNDING):  # 0 of 100 with [0, 0] is no certainty
        return NO_WIDTH
    return TOO_NARROW if n and width < NARROWEST * _binomial_width(record.value, n) else ""


def _binomial_width(percent: float, n: int) -> float:
    """Of the 95 % interval of a share of n independent answers, in points (Wilson 1927)."""
    z, share = 1.959964, min(1.0, max(0.0, percent / 100))
    return 100 * 2 * z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2)


@cache
def _known(benchmark: str, metric: str) -> Figure | None:
    """Of evenhand's own figures: a record that contradicts it is refused."""
    try:
        figures = get_benchmark(benchmark).figures
    except EvenhandError:
        return None
    return next((each for each in figures if each.key == metric), None)


def _near(value: float, interval: Interval) -> bool:
    """Whether the interval holds it, or all but: of figures from which chance is taken off some don't."""
    low, high = interval
    return low - (high - low) - ROUNDING <= value <= high + (high - low) + ROUNDING


def _end(value: float | None) -> str:
    return "no end" if value is None else f"{value:g}"
