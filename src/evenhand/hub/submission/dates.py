"""When a run was made, as ISO 8601 has it: a date, or a time with its zone, and none that is still to come."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

from evenhand.errors import UsageError

ACCEPTED = "a date as 2026-01-31, or a time with its zone as 2026-01-31T10:30:00Z, not later than now, is accepted"
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_AHEAD = timedelta(hours=14)  # of UTC, where a day begins first: there it may be tomorrow already
_FIRST = date(2023, 1, 1)  # no run of evenhand is older; files without a time say 1970 or 1980


def checked_date(text: object, now: datetime, of: str = "--date") -> str:
    """The text; of a date that has not begun in UTC, but has further east, its first moment anywhere.

    Raises UsageError.
    """
    try:
        moment = read(text)
    except ValueError as error:
        raise UsageError(f"{of}: {str(text)[:80]!r} came ({error}); {ACCEPTED}") from error
    if moment > now and _DATE.fullmatch(str(text)) and moment <= now + _AHEAD:
        return f"{text}T00:00:00+14:00"
    if moment > now:
        raise UsageError(f"{of}: {text!r} is still to come; {ACCEPTED}")
    if moment.date() < _FIRST:
        raise UsageError(f"{of}: {text!r} is before the first run that there can be; {ACCEPTED}")
    return str(text)


def read(text: object) -> datetime:
    """A date is its beginning in UTC. Raises ValueError for what is none, and for a time without a zone."""
    if not isinstance(text, str) or not re.match(_DATE, text):
        raise ValueError("no date")
    if _DATE.fullmatch(text):
        return datetime.combine(date.fromisoformat(text), datetime.min.time(), UTC)
    moment = datetime.fromisoformat(re.sub("Z$", "+00:00", text))
    if moment.tzinfo is None:
        raise ValueError("a time without a zone")
    return moment


def of_seconds(seconds: float) -> str:
    """Of seconds since 1970: "2026-01-31T10:30:00Z"."""
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
