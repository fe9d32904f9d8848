"""Which scenarios can be asked and scored, and by what they are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand.benchmark import Rows
from evenhand.benchmarks.implicit_bias.scenario import GoalTask
from evenhand.errors import UsageError

if TYPE_CHECKING:
    import datasets


def usable(rows: datasets.Dataset, told: Sequence[str] = ()) -> Rows:
    """Scenarios that can be asked, with their `shape`; how many others there are, and why, is told in notes.

    told: what is known already of those left out, to be said before.

    A gender must be known of everybody, and a stereotype of all tasks or of none: with none a scenario is asked and
    read, and has no score. Raises UsageError where no scenario is left.
    """
    labels = [*zip(rows["task_stereotypes"], rows["genders"])]
    known = [
        i for i, (stereotypes, genders) in enumerate(labels) if stereotypes and all(genders) and _alike(stereotypes)
    ]
    without = sum(not stereotypes for stereotypes, _ in labels)
    left_out = len(rows) - len(known) - without
    unscored = sum(not any(labels[i][0]) for i in known)
    if not known:
        raise UsageError(
            f"none of {len(rows)} scenarios can be asked: {without} don't tell their tasks apart, and of {left_out} a "
            "gender or a task's stereotype is not known; --task-stereotypes FILE is accepted, which gives both"
            + "".join(f". {sentence}" for sentence in told)
        )
    counted = (
        (left_out, "are left out: a gender or a task's stereotype is not known"),
        (without, "are left out: their text doesn't tell its tasks apart (--task-stereotypes FILE does)"),
        (
            unscored,
            "are asked and not scored: their tasks' stereotypes are not known (--task-stereotypes FILE gives them)",
        ),
    )
    rows = rows.select(known)
    shapes = [shape(*each) for each in zip(rows["task_stereotypes"], rows["genders"])]
    notes = tuple(f"{n} of {len(labels)} scenarios {what}" for n, what in counted if n)
    shaped = rows.add_column("shape", shapes)  # type: ignore[call-arg]
    return Rows(shaped, (*told, *notes), left_out=left_out + without)


def with_goals(found: Rows, goal_task: GoalTask) -> Rows:
    """Those that have a task of the kind that is the goal. Raises UsageError where none has."""
    if goal_task == "first":
        return found
    stereotype, stereotypes = goal_task.removeprefix("stereotypical-"), found.rows["task_stereotypes"]
    having = [place for place, of in enumerate(stereotypes) if stereotype in of]
    without = len(found.rows) - len(having)
    if not having:
        raise UsageError(f"no scenario has a task that is known to be {goal_task}; --goal-task first is accepted")
    note = f"{without} of {len(found.rows)} scenarios are left out: no task is known to be {goal_task}, as the goal is"
    notes = (*found.notes, *([note] if without else []))
    return replace(found, rows=found.rows.select(having), notes=notes, left_out=found.left_out + without)


def _alike(task_stereotypes: Sequence[str]) -> bool:
    return all(task_stereotypes) or not any(task_stereotypes)


def shape(task_stereotypes: Sequence[str], genders: Sequence[str]) -> str:
    """'2 men, 2 women', and the tasks where they are not as many of each kind."""
    men, women = genders.count("male"), genders.count("female")
    male, female = task_stereotypes.count("male"), task_stereotypes.count("female")
    people = f"{men} {'man' if men == 1 else 'men'}, {women} {'woman' if women == 1 else 'women'}"
    if not any(task_stereotypes):
        return f"{people}, {len(task_stereotypes)} tasks of unknown stereotypes"
    tasks = "" if (men, women) == (male, female) else f", {male} + {female} tasks"
    return people + tasks
