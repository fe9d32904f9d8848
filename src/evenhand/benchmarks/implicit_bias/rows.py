"""Which scenarios can be asked and scored, and by what they are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evenhand.benchmark import Rows

if TYPE_CHECKING:
    import datasets


def usable(rows: datasets.Dataset) -> Rows:
    """Scenarios whose genders and stereotypes are all known, with their `shape`; the others are counted in a note."""
    labels = zip(rows["task_stereotypes"], rows["genders"])
    known = [i for i, (stereotypes, genders) in enumerate(labels) if stereotypes and all([*stereotypes, *genders])]
    left_out = len(rows) - len(known)
    note = f"{left_out} of {len(rows)} scenarios are left out: a gender or a task's stereotype is not known"
    rows = rows.select(known)
    shapes = [shape(*each) for each in zip(rows["task_stereotypes"], rows["genders"])]
    return Rows(rows.add_column("shape", shapes), (note,) if left_out else ())  # type: ignore[call-arg]


def shape(task_stereotypes: Sequence[str], genders: Sequence[str]) -> str:
    """'2 men, 2 women', and the tasks where they are not as many of each kind."""
    men, women = genders.count("male"), genders.count("female")
    male, female = task_stereotypes.count("male"), task_stereotypes.count("female")
    tasks = "" if (men, women) == (male, female) else f", {male} + {female} tasks"
    return f"{men} {'man' if men == 1 else 'men'}, {women} {'woman' if women == 1 else 'women'}{tasks}"
