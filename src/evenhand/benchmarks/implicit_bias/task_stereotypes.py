"""Stereotypes of tasks from a file, for scenarios that come without: those of the published test set."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.errors import UsageError, unknown_name
from evenhand.row_files import read_rows

if TYPE_CHECKING:
    import datasets

COLUMNS = ("id", "task", "stereotype")
GENDERS = ("male", "female")
NAMED = 8  # scenarios, in a sentence
ASK = "one of its tasks is accepted, by its number from 1 on or by words of it"


@dataclass
class _Given:
    """Of one scenario: per task its stereotype, and where the file says so."""

    tasks: list[str]
    stereotypes: dict[int, str] = field(default_factory=dict)


def with_task_stereotypes(rows: datasets.Dataset, path: Path) -> tuple[datasets.Dataset, tuple[str, ...]]:
    """Rows with the stereotypes that a CSV, JSON or parquet file gives: columns id, task and stereotype, a row a task.

    Also what is to be said of scenarios of which it gives some stereotypes and not all: they can't be scored.

    task: its number, from 1 on, or words of it. Of a scenario whose text doesn't tell its tasks apart, the words, as
    they stand in the text, are the tasks, in the order in which they stand there. stereotype: male or female.
    Raises UsageError naming the line for an unknown id, a scenario whose stereotypes are known, a task that is none or
    not one alone, another stereotype, and a task that is given twice.
    """
    read = read_rows(path, "task", "tasks", edited=True, known=COLUMNS)
    if missing := [name for name in COLUMNS if name not in read.columns]:
        raise _no_columns(path, missing, read.columns)
    places = {name: place for place, name in enumerate(rows["id"])}
    lines: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    for name, task, stereotype, line in zip(*(read.words(column) for column in COLUMNS), read.places):
        at = f"{path}, {line}"
        if name not in places:
            raise unknown_name(f"scenario in {at}:", name, [*places])
        if stereotype.casefold() not in GENDERS:
            raise UsageError(f"{at}: stereotype {stereotype!r} came; {' or '.join(GENDERS)} is accepted")
        lines[name].append((at, task, stereotype.casefold()))
    given = {name: _given(rows[places[name]], of) for name, of in lines.items()}

    def filled(row: dict[str, object]) -> dict[str, object]:
        of = given.get(str(row["id"]))
        if of is None:
            return row
        return row | {
            "tasks": of.tasks,
            "task_stereotypes": [of.stereotypes.get(place, "") for place in range(len(of.tasks))],
        }

    return rows.map(filled, load_from_cache_file=False), _in_part(path, given)


def _no_columns(path: Path, missing: Sequence[str], there: Sequence[str]) -> UsageError:
    others = [name for name in there if name.strip().casefold() in missing]
    advice = f"; {', '.join(map(repr, others))} came: write it in small letters, without blanks" if others else ""
    return UsageError(f"{path} has no column {', '.join(missing)}; {', '.join(COLUMNS)} are accepted{advice}")


def _in_part(path: Path, given: Mapping[str, _Given]) -> tuple[str, ...]:
    """Of which scenarios stereotypes are missing, and how many."""
    in_part = {name: of for name, of in given.items() if len(of.stereotypes) < len(of.tasks)}
    if not in_part:
        return ()
    named = ", ".join(
        f"{len(of.stereotypes)} of {len(of.tasks)} tasks of {name}" for name, of in islice(in_part.items(), NAMED)
    )
    more = f" and {len(in_part) - NAMED} others" if len(in_part) > NAMED else ""
    return (
        f"{len(in_part)} of {len(given)} scenarios in {path.name} are given in part, and so left out: it has the "
        f"stereotypes of {named}{more}; give those of all tasks",
    )


def _given(row: dict[str, object], lines: Sequence[tuple[str, str, str]]) -> _Given:
    """lines: where in the file, the task as it names it, its stereotype."""
    tasks: list[str] = list(row["tasks"])  # type: ignore[call-overload]
    if any(row["task_stereotypes"]):  # type: ignore[arg-type]
        raise UsageError(f"{lines[0][0]}: the stereotypes of {row['id']} are known; it needs none from a file")
    if not tasks:
        tasks = _tasks_in(str(row["id"]), str(row["scenario"]), lines)
    of = _Given(tasks)
    for at, task, stereotype in lines:
        place = _place(at, str(row["id"]), task, tasks)
        if place in of.stereotypes:
            raise UsageError(f"{at}: task {place + 1} of {row['id']} is given twice; once is accepted")
        of.stereotypes[place] = stereotype
    return of


def _place(at: str, name: str, task: str, tasks: Sequence[str]) -> int:
    """Which task is meant, counted from 0."""
    if number := re.fullmatch(r"(?:task )?([0-9]{1,3})", task.strip(), re.IGNORECASE):
        if not 1 <= int(number[1]) <= len(tasks):
            raise UsageError(f"{at}: task {number[1]} came, and {name} has {len(tasks)}; {ASK}")
        return int(number[1]) - 1
    exact = [place for place, each in enumerate(tasks) if _words(each) == _words(task)]
    found = exact or [place for place, each in enumerate(tasks) if _words(task) and _words(task) in _words(each)]
    if len(found) != 1:
        several = "stand in several tasks" if found else "stand in no task"
        raise UsageError(f"{at}: {task!r} came, words that {several} of {name}; {ASK}")
    return found[0]


def _tasks_in(name: str, scenario: str, lines: Sequence[tuple[str, str, str]]) -> list[str]:
    """The words that a file calls tasks, in the order in which they stand in the scenario's text."""
    text = _words(scenario)
    starts: dict[str, int] = {}
    for at, task, _ in lines:
        words = _words(task)
        if re.fullmatch(r"(?:task )?[0-9]+", words):
            raise UsageError(
                f"{at}: {name} doesn't tell its tasks apart, so it has no task {words}; give each by words of its text"
            )
        if not words or text.count(words) != 1:
            often = "not" if not words or words not in text else "more than once"
            raise UsageError(
                f"{at}: {task!r} stands {often} in the text of {name}; words that stand there once are accepted"
            )
        if task.strip() in starts:
            raise UsageError(f"{at}: {task!r} of {name} is given twice; once is accepted")
        starts[task.strip()] = text.index(words)
    return sorted(starts, key=lambda task: starts[task])


def _words(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .,;:")
