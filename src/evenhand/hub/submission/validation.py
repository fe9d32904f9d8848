"""Checks before anything is sent: huggingface_hub's own let NaN, any date and an empty task pass."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from evenhand.errors import UsageError
from evenhand.hub.results_checks import name_other_rows, refuse_weak_results
from evenhand.hub.submission.finished_run import FinishedRun, check_model

_AHEAD = timedelta(hours=14)  # a day begins so much earlier than in UTC where it begins first


def check_run(run: FinishedRun, model_id: str, under_another_name: bool) -> None:
    """Raise UsageError for a run whose figures are not the model's on the benchmark's rows."""
    check_model(run, model_id, under_another_name)
    refuse_weak_results(run.folder)
    if others := name_other_rows(run.results):
        raise UsageError(f"{run.name} asked {others}; submit a run of all of the benchmark's own rows")


def is_address(text: str) -> bool:
    """Return whether it is a web address: https or http, a host without a user name, no blanks or line ends."""
    return text.isprintable() and bool(re.fullmatch(r"(?i)https?://[^\s<>\"'@/?#]+([/?#][^\s<>\"']*)?", text))


def checked_date(text: object, now: datetime, of: str = "--date") -> str:
    """Return the text. Raises UsageError for what is no date, and for a date that has not begun anywhere."""
    try:
        moment = parse_date(text)
    except ValueError as error:
        raise UsageError(f"{of}: {error}: {str(text)[:80]!r}; expected 2026-01-31 or 2026-01-31T10:30:00Z") from error
    if moment > now + (_AHEAD if len(str(text)) == len("2026-01-31") else timedelta(0)):
        raise UsageError(f"{of}: {text!r} is still to come")
    return str(text)


def parse_date(text: object) -> datetime:
    """Return a date's beginning in UTC, or the time. Raises ValueError for others, and for a time without a zone."""
    if not isinstance(text, str) or not re.match(r"\d{4}-\d\d-\d\d(T|$)", text):
        raise ValueError("no date")
    moment = datetime.fromisoformat(text)
    if "T" in text and moment.tzinfo is None:
        raise ValueError("a time without a zone")
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def date_of(seconds: float) -> str:
    """Return seconds since 1970 as "2026-01-31T10:30:00Z"."""
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
