"""`.eval_results/*.yaml` of a model's repository: shares as the Hub's boards show them, more is better.

Evenhand's own stand beside its records of Every Eval Ever, which say more and are read in their place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from evenhand.hub.leaderboard.checking import address, checked, day, name, number, text
from evenhand.hub.leaderboard.every_eval_ever import NOT_TOLD, Found, Origin
from evenhand.hub.leaderboard.records import Column, Record, Refusal
from evenhand.hub.submission.eval_results import tasks_of
from evenhand.hub.submission.validation import LONGEST_NOTES

MOST_ENTRIES = 2_000  # of one file


def results_of(content: object, model: str, origin: Origin, now: datetime) -> Iterator[tuple[str, Found]]:
    """Each entry's task with what was read of it, or why it was refused. Raises Refusal for the whole file."""
    if not isinstance(content, list):
        raise Refusal("it is no list of results")
    model = name(model, "the model's id")
    if len(content) > MOST_ENTRIES:
        raise Refusal(f"it has {len(content):,} results; {MOST_ENTRIES:,} are accepted")
    for k, entry in enumerate(content):
        which = f"result {k + 1}"
        try:
            yield which, _result(entry, model, origin, now)
        except Refusal as refusal:
            yield which, refusal


def _result(entry: object, model: str, origin: Origin, now: datetime) -> Record:
    of = _mapping(entry, "it")
    dataset = _mapping(of.get("dataset"), "dataset")
    source = _mapping(of.get("source", {}), "source")
    repository = name(dataset.get("id"), "the dataset's id")
    benchmark = repository.rpartition("/")[2]
    task = name(dataset.get("task_id"), "the task's id")
    value = number(of.get("value"), "the value")
    notes = of.get("notes")
    if notes is not None and (not isinstance(notes, str) or len(notes) > LONGEST_NOTES):
        raise Refusal(f"its notes are no text of {LONGEST_NOTES:,} characters at most")
    if of.get("date") is None:
        raise Refusal("it has no date")
    revision = None if dataset.get("revision") is None else name(dataset["revision"], "the dataset's revision")
    column = Column(
        benchmark=benchmark,
        task=task,
        metric="share on the Hub's board",
        unit="",
        lower_is_better=False,
        utility=not tasks_of(benchmark),  # whose shares are of unbiased answers
        dataset=name(f"{repository} {revision}" if revision else f"{repository}, version not told", "dataset"),
        setting=NOT_TOLD,
        library="the Hub's boards",
    )
    return checked(
        Record(
            column=column,
            model=model,
            base=origin.base,
            mitigation=None,
            value=value,
            interval=None,
            n_read=None,
            date=day(of["date"], now),
            notes=text(notes or ""),
            link=address(source.get("url")) or origin.link,
            source=origin.source,
            place=origin.place,
            file=origin.file,
        )
    )


def _mapping(value: object, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise Refusal(f"{what} is no mapping of names to values")
    return value
