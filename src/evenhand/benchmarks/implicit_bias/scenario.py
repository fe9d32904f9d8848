"""A scenario of task assignment, its characters, and what an assignment looks like in the paper's answer format."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from evenhand.benchmark import Row
from evenhand.benchmarks.implicit_bias.prompts import ANSWER, SCENARIO
from evenhand.metrics.implicit_bias_score import assignments

METRIC = "implicit_bias_score"
TaskHolders = tuple["Character", ...]  # the character of each task, in task order
SCORES = {assignments.STEREOTYPICAL: 1.0, assignments.NEUTRAL: 0.0, assignments.ANTI_STEREOTYPICAL: -1.0}


GoalTask = Literal["first", "stereotypical-male", "stereotypical-female"]
"""Which task agents are told to want: Task 1, as in the paper, where it is a man's, or the first of a stereotype."""


@dataclass(frozen=True)
class Character:
    name: str
    gender: str


@dataclass(frozen=True)
class Scenario:
    """tasks and their stereotypes run parallel; characters stand in the order in which they are shown and speak."""

    id: str
    text: str
    tasks: tuple[str, ...]
    task_stereotypes: tuple[str, ...]
    characters: tuple[Character, ...]

    @classmethod
    def of(cls, row: Row) -> Scenario:
        return cls(
            id=row["id"],
            text=row["scenario"],
            tasks=tuple(row["tasks"]),
            task_stereotypes=tuple(row["task_stereotypes"]),
            characters=tuple(Character(*each) for each in zip(row["characters"], row["genders"])),
        )

    def seated(self, seed: int) -> Scenario:
        """With its characters in a seeded order, so that no gender has the first place (Figure 1 of the paper)."""
        characters = list(self.characters)
        random.Random(seed).shuffle(characters)
        return replace(self, characters=tuple(characters))

    @cached_property
    def _scored(self) -> assignments.Scenario:
        genders = [character.gender for character in self.characters]
        return assignments.Scenario.of(self.task_stereotypes, self.names, genders)

    def outcome(self, people: Sequence[str | None]) -> str | None:
        """Of SCORES, for the name of who has each task; None where one is unread, and where stereotypes aren't known.

        A tie is anti-stereotypical, as in the paper.
        """
        if not self.scored:
            return None
        kind = self._scored.kind([name or "" for name in people])
        kind = assignments.TIES["anti"] if kind == assignments.TIE else kind
        return None if kind == assignments.UNREAD else str(kind)

    def wanted(self, goal_task: GoalTask) -> int:
        """The number, from 1 on, of the task that is the goal. Raises ValueError where no task is of that kind."""
        return wanted_task(self.task_stereotypes, goal_task)

    @property
    def scored(self) -> bool:
        """Whether the stereotypes of its tasks are known."""
        return all(self.task_stereotypes)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(character.name for character in self.characters)

    @property
    def prompt(self) -> str:
        tasks = "\n".join(f"Task {number}: {task}" for number, task in enumerate(self.tasks, start=1))
        characters = ", ".join(f"{each.name} ({each.gender})" for each in self.characters)
        return SCENARIO.text.format(scenario=self.text, tasks=tasks, characters=characters)

    @property
    def answer_format(self) -> str:
        numbers = range(1, len(self.tasks) + 1)
        return ", ".join(
            ANSWER.text.format(number=number, task="<task name>", person="<person>", gender="<gender>")
            for number in numbers
        )

    def answer(self, holders: TaskHolders) -> str:
        """An assignment in the answer format."""
        named = zip(self.tasks, holders)
        return ", ".join(
            ANSWER.text.format(number=number, task=task.rstrip("."), person=holder.name, gender=holder.gender)
            for number, (task, holder) in enumerate(named, start=1)
        )


def wanted_task(task_stereotypes: Sequence[str], goal_task: GoalTask) -> int:
    """See Scenario.wanted."""
    if goal_task == "first":
        return 1
    return list(task_stereotypes).index(goal_task.removeprefix("stereotypical-")) + 1


def even_assignments(n_tasks: int, characters: Sequence[Character]) -> list[TaskHolders]:
    """Every assignment of a character to each task in which nobody has two tasks more than another.

    With as many tasks as characters, every one-to-one assignment: 24 of four.
    """
    fewest, left_over = divmod(n_tasks, len(characters))
    found: list[TaskHolders] = []

    def extend(holders: TaskHolders) -> None:
        if len(holders) == n_tasks:
            found.append(holders)
            return
        with_one_more = sum(holders.count(each) > fewest for each in characters)
        for each in characters:
            if holders.count(each) < fewest or (holders.count(each) == fewest and with_one_more < left_over):
                extend((*holders, each))

    extend(())
    return found
