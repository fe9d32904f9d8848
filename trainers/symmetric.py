"""An order of prompts in which whoever always answers the same gains nothing."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

P = TypeVar("P")


@dataclass(frozen=True)
class Opposed(Generic[P]):
    """prompts: so many in a group (size: 2 or more) that follow each other, which all want something else."""

    prompts: tuple[P, ...]
    size: int


def opposed(prompts: Sequence[P], kind: Callable[[P], tuple[Hashable, str]], seed: int) -> Opposed[P]:
    """Prompts in groups of one kind, of which each wants another answer; shuffled by the seed.

    kind: of a prompt, what its opposites share with it (such as its options), and what it wants. A group has as many
    prompts as any kind has answers; what finds no whole group is left out. So whatever is said regardless of what is
    asked is right in one prompt of each group.
    """
    rng = random.Random(f"opposites {seed}")
    found: dict[Hashable, dict[str, list[P]]] = defaultdict(lambda: defaultdict(list))
    for each in prompts:
        shared, wanted = kind(each)
        found[shared][wanted].append(each)
    size = max([2, *map(len, found.values())])
    groups: list[tuple[P, ...]] = []
    for of_kind in found.values():
        by_answer = [of_kind[wanted] for wanted in sorted(of_kind)]
        for some in by_answer:
            rng.shuffle(some)
        if len(by_answer) == size:
            groups += zip(*by_answer)
    rng.shuffle(groups)
    return Opposed(tuple(each for group in groups for each in group), size)
