"""Checks before anything is sent: huggingface_hub's own let NaN, any date and an empty task pass."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from evenhand.errors import EvenhandError, UsageError
from evenhand.hub.results_checks import MOST_UNREAD, in_place_of_all, refuse_weak_results
from evenhand.hub.submission.figures import SubmittedFigure, submitted_range
from evenhand.hub.submission.identity import check_model

if TYPE_CHECKING:
    from huggingface_hub import EvalResultEntry

    from evenhand.hub.submission.finished_run import FinishedRun

LONGEST_NAME, LONGEST_NOTES = 200, 1_000  # characters of an evaluator's name, and of notes
ROUNDING = 1e-9
DATES = "a date as 2026-01-31, or a time with its zone as 2026-01-31T10:30:00Z, not later than now, is accepted"
_AHEAD = timedelta(hours=14)  # of UTC, where a day begins first: there it may be tomorrow already


def check_run(run: FinishedRun, model_id: str, under_another_name: bool) -> None:
    """Raises UsageError for a run whose figures are not the model's on the benchmark's rows."""
    check_model(run, model_id, under_another_name)
    refuse_weak_results(run.folder)
    if others := in_place_of_all(run.results):
        raise UsageError(f"{run.name} asked {others}; a run of all of the benchmark's own rows is accepted")
    if len(run.predictions) < run.results.n:
        raise EvenhandError(
            f"{run.name} is damaged: {run.results.n:,} answers are in its results, and {len(run.predictions):,} in its "
            "predictions; repeat its evenhand run command"
        )


def check_about(source: str | None, evaluator: str) -> None:
    """Raises UsageError for a source that is no web address, and an evaluator that is no name in one line."""
    if source is not None and not is_address(source):
        raise UsageError(f"--source {source[:100]!r} came; an address (https://…) is accepted")
    if not evaluator.strip() or len(evaluator) > LONGEST_NAME or not evaluator.isprintable():
        raise UsageError(
            f"--evaluator {evaluator[:100]!r} came; the name of a person or an organization is accepted, in one line "
            f"of {LONGEST_NAME} characters at most"
        )


def is_address(text: str) -> bool:
    """Whether it is a web address: https or http, a host, no blanks or line ends, no user's name or password."""
    try:
        parts = urlsplit(text)
        usable = parts.scheme in ("https", "http") and parts.hostname and not (parts.username or parts.password)
    except ValueError:
        return False
    return bool(usable) and text.isprintable() and not set(" <>\"'") & {*text}


def check_figures(run: FinishedRun, found: Sequence[SubmittedFigure]) -> None:
    """Raises UsageError for what is no number, out of its range, or was mostly unread."""
    for each in found:
        what, row = f"{run.name}: {each.figure.key} of task {each.task}", each.row
        if not row.n_read:
            raise UsageError(f"{what} has no read answer, and so no figure; look at the run's answers")
        if row.n - row.n_read > MOST_UNREAD * row.n:
            raise UsageError(
                f"{what}: {row.n - row.n_read:,} of {row.n:,} answers could not be read ({100 * MOST_UNREAD:.0f} % "
                "are the most); look at the run's answers, or try another --protocol"
            )
        if not all(map(math.isfinite, (each.value, *(each.interval or ())))):
            raise UsageError(f"{what} is {each.value}, and not a number that can be compared; look at the run's report")
        low, high = submitted_range(each.figure) or (-math.inf, math.inf)
        if not low - ROUNDING <= each.value <= high + ROUNDING:
            raise EvenhandError(f"{what} is {each.value}, and lies between {low} and {high} by its definition")


def check_entries(entries: Sequence[EvalResultEntry]) -> None:
    """Raises UsageError for two results of one task, and for notes that are too long."""
    seen: set[tuple[str, str]] = set()
    for each in entries:
        what = f"the result of {each.dataset_id} {each.task_id}"
        if each.notes is not None and len(each.notes) > LONGEST_NOTES:
            raise UsageError(f"{what}: notes of {len(each.notes):,} characters; {LONGEST_NOTES:,} are accepted")
        if (each.dataset_id, each.task_id) in seen:
            raise UsageError(f"{what} comes twice; name one run of it")
        seen.add((each.dataset_id, each.task_id))


def checked_date(text: object, now: datetime, of: str = "--date") -> str:
    """The text; of a date that has not begun in UTC, but has further east, its first moment anywhere.

    Raises UsageError.
    """
    try:
        moment = parse_date(text)
    except ValueError as error:
        raise UsageError(f"{of}: {str(text)[:80]!r} came ({error}); {DATES}") from error
    if moment > now and len(str(text)) == len("2026-01-31") and moment <= now + _AHEAD:
        return f"{text}T00:00:00+14:00"
    if moment > now:
        raise UsageError(f"{of}: {text!r} is still to come; {DATES}")
    return str(text)


def parse_date(text: object) -> datetime:
    """A date is its beginning in UTC. Raises ValueError for what is none, and for a time without a zone."""
    if not isinstance(text, str) or text[4:5] != "-":
        raise ValueError("no date")
    if len(text) == len("2026-01-31"):
        return datetime.combine(date.fromisoformat(text), datetime.min.time(), UTC)
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("a time without a zone")
    return moment


def date_of(seconds: float) -> str:
    """Of seconds since 1970: "2026-01-31T10:30:00Z"."""
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
