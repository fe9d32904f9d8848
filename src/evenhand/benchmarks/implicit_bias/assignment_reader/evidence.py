"""What a place in the text says of a task, and what all places together say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Evidence:
    """task and person are places in the lists given."""

    task: int
    person: int | None  # None: several people, a stranger, or nobody knows who
    firm: bool = True  # a label or a number; else a sentence of prose
    sure: bool = True  # False: a denial, a question, a doubt about this person
    by_number: bool = False  # nothing but its number says which task is meant


def decide(evidence: Iterable[Evidence], n_tasks: int, renumbered: bool) -> tuple[int | None, ...]:
    """The one person that all evidence of a task agrees upon, else None.

    renumbered: somewhere a number stood beside another task's text, so that numbers alone say nothing.
    """
    of_task: list[set[Evidence]] = [set() for _ in range(n_tasks)]
    for each in evidence:
        if not (renumbered and each.by_number):
            of_task[each.task].add(each)
    return tuple(_decided(each) for each in of_task)


def _decided(evidence: set[Evidence]) -> int | None:
    said = {each.person for each in evidence if each.sure and each.person is not None}
    if len(said) != 1:
        return None
    [person] = said
    told_firmly = any(each.sure and each.firm and each.person == person for each in evidence)
    for each in evidence:
        doubts = each.person is None or (not each.sure and each.person == person)
        if doubts and (each.firm or not told_firmly):
            return None
    return person
