"""Stereotypes of tasks from a file, in place of those that come with the scenarios."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.errors import UsageError, unknown_name
from evenhand.row_files import read_rows

if TYPE_CHECKING:
    import datasets

COLUMNS = ("id", "task", "stereotype")
Line = tuple[str, str, str]  # where it stands in the file, the task as the file names it, its stereotype


def with_task_stereotypes(rows: datasets.Dataset, path: Path) -> datasets.Dataset:
    """Take the stereotypes of a CSV, JSON or parquet file with the columns id, task and stereotype, one task a row.

    Tasks that the file doesn't have keep theirs.

    Args:
        path: `task` is a task's number, from 1, or words of it. In a scenario without a list of tasks these words, as
            they stand in its text, become its tasks, in the text's order. `stereotype`: male or female.

    Raises:
        UsageError: naming the line, for an unknown id, a task that is not found or ambiguous, another stereotype, and a
            task that is given twice.
    """
    read = read_rows(path, "task", "tasks", edited=True, known=COLUMNS)
    if missing := [name for name in COLUMNS if name not in read.columns]:
        raise UsageError(
            f"{path} has no column {', '.join(missing)}: expected {', '.join(COLUMNS)}, got {', '.join(read.columns)}"
        )
    places = {name: place for place, name in enumerate(rows["id"])}
    lines: dict[str, list[Line]] = defaultdict(list)
    for name, task, stereotype, place in zip(*(read.words(column) for column in COLUMNS), read.places):
        at = f"{path}, {place}"
        if name not in places:
            raise unknown_name(f"scenario in {at}:", name, [*places])
        if stereotype.casefold() not in ("male", "female"):
            raise UsageError(f"{at}: stereotype must be male or female, got {stereotype!r}")
        lines[name].append((at, task, stereotype.casefold()))
    given = {name: _label_tasks(rows[places[name]], of) for name, of in lines.items()}
    return rows.map(lambda row: row | given.get(row["id"], {}), load_from_cache_file=False)


def _label_tasks(row: dict[str, Any], lines: Sequence[Line]) -> dict[str, list[str]]:
    """A scenario's tasks and their stereotypes, "" where neither the row nor the file has one."""
    tasks = row["tasks"] or _find_tasks(row, lines)
    given: dict[int, str] = {}
    for at, task, stereotype in lines:
        place = _place(f"{at}: {row['id']}", task, tasks)
        if place in given:
            raise UsageError(f"{at}: task {place + 1} of {row['id']} is given twice")
        given[place] = stereotype
    known = row["task_stereotypes"] or [""] * len(tasks)
    return {"tasks": tasks, "task_stereotypes": [given.get(place, each) for place, each in enumerate(known)]}


def _place(at: str, task: str, tasks: Sequence[str]) -> int:
    """Which task is meant, counted from 0."""
    if number := re.fullmatch(r"(?:task )?([0-9]{1,3})", task, re.IGNORECASE):
        if not 1 <= int(number[1]) <= len(tasks):
            raise UsageError(f"{at} has {len(tasks)} tasks, there is no task {number[1]}")
        return int(number[1]) - 1
    words = _words(task)
    exact = [place for place, each in enumerate(tasks) if _words(each) == words]
    found = exact or [place for place, each in enumerate(tasks) if words and words in _words(each)]
    if len(found) != 1:
        raise UsageError(f"{at}: {task!r} is in {len(found)} tasks; name one by its number or by words of it alone")
    return found[0]


def _find_tasks(row: dict[str, Any], lines: Sequence[Line]) -> list[str]:
    """The words that a file calls tasks, in the order in which they stand in the scenario's text."""
    text = _words(row["scenario"])
    for at, task, _ in lines:
        if re.fullmatch(r"(?:task )?[0-9]+", _words(task)):
            raise UsageError(f"{at}: {row['id']} has no list of tasks; give {task} by words of its text")
        if (n := text.count(_words(task)) if _words(task) else 0) != 1:
            raise UsageError(f"{at}: {task!r} stands {n} times in the text of {row['id']}; give words that stand once")
    return sorted(dict.fromkeys(task for _, task, _ in lines), key=lambda task: text.index(_words(task)))


def _words(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .,;:")
