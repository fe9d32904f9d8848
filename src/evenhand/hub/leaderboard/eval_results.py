"""`.eval_results/*.yaml` of a model's repository: evenhand's own, whose notes tell the rest, and anybody's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from evenhand.hub.leaderboard.checking import OURS, address, checked, count, day, name, number, text
from evenhand.hub.leaderboard.every_eval_ever import DEFAULTS, NOT_TOLD, Found, Origin, setting
from evenhand.hub.leaderboard.records import Column, Record, Refusal
from evenhand.hub.submission.eval_results import tasks_of
from evenhand.hub.submission.validation import LONGEST_NOTES

MOST_ENTRIES = 2_000  # of one file
_NUMBER = r"-?\d+(?:\.\d+)?"
_NOTES = re.compile(
    rf"value = 1 - (?P<key>\w+) / 100; (?P=key) (?P<raw>{_NUMBER})(?: \[(?P<low>{_NUMBER}), (?P<high>{_NUMBER})\])?, "
    r"0 is best; (?P<read>[\d,]+) of (?P<n>[\d,]+) answers read; (?P<rest>.*)"
)
"""As `evenhand submit` writes them; the raw figure has one digit, so its own is taken from the value."""
_ABOUT = ("seed ", "dtype ", "evenhand ", "model commit ", "ran as ", "under the name ", "nearly all answers ")


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
    task = name(dataset.get("task_id"), "the task's id")
    value = number(of.get("value"), "the value")
    notes = of.get("notes")
    if notes is not None and (not isinstance(notes, str) or len(notes) > LONGEST_NOTES):
        raise Refusal(f"its notes are no text of {LONGEST_NOTES:,} characters at most")
    if of.get("date") is None:
        raise Refusal("it has no date")
    known = _NOTES.fullmatch(notes) if notes else None
    shown: dict[str, Any] = {
        "date": day(of["date"], now),
        "link": address(source.get("url")) or origin.link,
        "model": model,
        "base": origin.base,
        "mitigation": None,
        "source": origin.source,
        "place": origin.place,
        "file": origin.file,
    }
    if known is None:
        revision = None if dataset.get("revision") is None else name(dataset["revision"], "the dataset's revision")
        return checked(
            Record(
                column=Column(
                    benchmark=repository.rpartition("/")[2],
                    task=task,
                    metric="share on the Hub's board",
                    unit="",
                    lower_is_better=False,
                    utility=not tasks_of(repository.rpartition("/")[2]),  # whose shares are of unbiased answers
                    dataset=name(
                        f"{repository} {revision}" if revision else f"{repository}, version not told", "dataset"
                    ),
                    setting=NOT_TOLD,
                    library="the Hub's boards",
                ),
                value=value,
                interval=None,
                n_read=None,
                notes=text(notes or ""),
                **shown,
            )
        )
    return checked(_of_ours(known, value, task, repository.rpartition("/")[2], shown), 0.0, 100.0)


def _of_ours(known: re.Match[str], value: float, task: str, benchmark: str, shown: dict[str, Any]) -> Record:
    """In percent again. Raises Refusal where value and notes contradict each other."""
    raw = 100 * (1 - value)
    if abs(raw - float(known["raw"])) > 0.05 + 1e-4:
        raise Refusal(f"its value says {raw:.4f}, and its notes {known['raw']}")
    parts = known["rest"].split("; ")
    dataset = next((each for each in parts if each.startswith(f"{benchmark} ")), f"{benchmark}, version not told")
    about = [each for each in parts if each.startswith(_ABOUT)]
    asked = [each for each in parts if each not in about and each not in DEFAULTS and each != dataset]
    if "protocol generate" in asked:
        asked.append("sampling not told")
    return Record(
        column=Column(
            benchmark=benchmark,
            task=task,
            metric=known["key"],
            unit="percent",
            lower_is_better=True,
            utility=False,
            dataset=name(dataset, "the dataset"),
            setting=name(setting(asked) or "as by default", "the settings", 1_000),
            library=OURS,
        ),
        value=raw,
        interval=None if known["low"] is None else (float(known["low"]), float(known["high"])),
        n_read=count(int(known["read"].replace(",", "")), "the number of answers"),
        notes=text("; ".join(about)),
        **shown,
    )


def _mapping(value: object, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise Refusal(f"{what} is no mapping of names to values")
    return value
