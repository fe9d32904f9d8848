"""What a place in the text says of a task, and what all places together say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Evidence:
    """task and person are places in the lists given."""

    task: int
    person: int | None  # None: the task is given to nobody who can be read
    by_number_alone: bool = False  # nothing but its number says which task is meant
    weak: bool = False  # a sentence of prose, whose task is known by its words


def decide(
    evidence: Iterable[Evidence], n_tasks: int, renumbered: bool, retracted: frozenset[int]
) -> tuple[int | None, ...]:
    """The one person that all evidence of a task agrees upon, else None.

    renumbered: somewhere a number stood beside another task's text, so that numbers alone say nothing.
    retracted: persons of whom the text took back what it had said.
    """
    of_task: list[list[Evidence]] = [[] for _ in range(n_tasks)]
    for each in evidence:
        if not (renumbered and each.by_number_alone):
            of_task[each.task].append(each)
    return tuple(_decided(each, retracted) for each in of_task)


def _decided(evidence: list[Evidence], retracted: frozenset[int]) -> int | None:
    persons = {each.person for each in evidence if each.person is not None}
    if len(persons) != 1 or persons & retracted:
        return None
    read_surely = any(each.person is not None and not each.weak for each in evidence)
    if any(each.person is None and not (each.weak and read_surely) for each in evidence):
        return None
    return persons.pop()
