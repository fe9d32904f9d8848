"""What is looked at before anything is sent: the client's own checks let NaN, any date and an empty task pass."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from evenhand.errors import EvenhandError, UsageError
from evenhand.hub.refusals import MOST_UNREAD, refuse_weak_results
from evenhand.hub.rows_asked import in_place_of_all
from evenhand.hub.submission.dates import checked_date
from evenhand.hub.submission.figures import bounds
from evenhand.hub.submission.identity import check_model

if TYPE_CHECKING:
    from huggingface_hub import EvalResultEntry

    from evenhand.hub.submission.figures import Submitted
    from evenhand.hub.submission.finished_run import FinishedRun

LONGEST_NAME = 200  # characters of an evaluator's; ours
LONGEST_NOTES = 1_000  # characters; ours, the Hub names no limit


def check_run(run: FinishedRun, model_id: str, under_another_name: bool) -> None:
    """Raises UsageError for a run whose figures are not the model's on the benchmark's rows."""
    check_model(run, model_id, under_another_name)
    refuse_weak_results(run.folder)
    if others := in_place_of_all(run.results):
        raise UsageError(f"{run.name} asked {others}; a run of all of the benchmark's own rows is accepted")
    if run.packaged and run.dataset_version is None:
        raise EvenhandError(
            f"{run.name} doesn't say of which version of {run.dataset} its rows are: it is older than that record; "
            "repeat its evenhand run command, which asks nothing twice"
        )
    if len(run.predictions) < run.results.n:
        raise EvenhandError(
            f"{run.name} is damaged: {run.results.n:,} answers are in its results, and {len(run.predictions):,} in its "
            "predictions; repeat its evenhand run command"
        )


def check_about(source: str | None, evaluator: str) -> None:
    """Raises UsageError for a source that is no address of the web, and an evaluator that is no name in a line."""
    if source is not None and not is_address(source):
        raise UsageError(f"--source {source[:100]!r} came; an address (https://…) is accepted")
    if (
        not evaluator.strip()
        or len(evaluator) > LONGEST_NAME
        or not evaluator.isprintable()
        or set("<>") & {*evaluator}
    ):
        raise UsageError(
            f"--evaluator {evaluator[:100]!r} came; the name of a person or an organization is accepted, in one line "
            f"of {LONGEST_NAME} characters at most"
        )


def is_address(text: str) -> bool:
    """Of the web: https or http, a host, and no blanks or line ends."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    whole = text.isprintable() and not set(" <>\"'") & {*text}
    return parts.scheme in ("https", "http") and bool(parts.hostname) and whole


def check_figures(run: FinishedRun, found: Sequence[Submitted]) -> None:
    """Raises UsageError for what is no number, out of its range, of an empty task, or of one that was mostly unread."""
    for each in found:
        what = f"{run.name}: {each.figure.key} of task {each.task or 'without a name'}"
        if not each.task.strip():
            raise UsageError(f"{what}: a task needs a name")
        if not each.n_read:
            raise UsageError(f"{what} has no read answer, and so no figure; look at the run's answers")
        if each.n - each.n_read > MOST_UNREAD * each.n:
            raise UsageError(
                f"{what}: {each.n - each.n_read:,} of {each.n:,} answers could not be read ({100 * MOST_UNREAD:.0f} % "
                "are the most); look at the run's answers, or try another --protocol"
            )
        numbers = (each.value, each.raw, *(each.interval or ()))
        if not all(map(math.isfinite, numbers)):
            raise UsageError(f"{what} is {each.value}, and not a number that can be compared; look at the run's report")
        low, high = bounds(each.figure)
        ends = -math.inf if low is None else low, math.inf if high is None else high
        if not ends[0] - 1e-9 <= each.value <= ends[1] + 1e-9:
            raise EvenhandError(f"{what} is {each.value}, and lies between {low} and {high} by its definition")


def check_entries(entries: Sequence[EvalResultEntry], now: datetime) -> None:
    """Of `.eval_results`. Raises UsageError for what the Hub, or a reader of its boards, would stumble over."""
    seen: set[tuple[str, str]] = set()
    for each in entries:
        what = f"the result of {each.dataset_id} {each.task_id}".strip()
        for part in (each.dataset_id, each.task_id):
            if not isinstance(part, str) or not part.strip() or part != part.strip():
                raise UsageError(
                    f"{what}: {part!r} came for a dataset or a task; a name without blanks around is accepted"
                )
        if each.dataset_id.count("/") != 1:
            raise UsageError(f"{what}: {each.dataset_id!r} is no dataset of the Hub; NAMESPACE/NAME is accepted")
        if isinstance(each.value, bool) or not isinstance(each.value, (int, float)) or not math.isfinite(each.value):
            raise UsageError(f"{what}: the value {each.value!r} came; a finite number is accepted")
        if each.date is not None:
            checked_date(each.date, now, what)
        if each.source_url is not None and not is_address(each.source_url):
            raise UsageError(f"{what}: the source {each.source_url[:100]!r} came; an address (https://…) is accepted")
        if each.notes is not None and len(each.notes) > LONGEST_NOTES:
            raise UsageError(f"{what}: notes of {len(each.notes):,} characters; {LONGEST_NOTES:,} are accepted")
        if (each.dataset_id, each.task_id) in seen:
            raise UsageError(f"{what} comes twice; name one run of it")
        seen.add((each.dataset_id, each.task_id))
