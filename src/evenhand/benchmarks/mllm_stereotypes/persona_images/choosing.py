"""Which of a trait's pictures are kept: by the persons found in them, and then at random (Jiang et al., section 4)."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Literal

from evenhand.flow.episode import derive_seed

GENERATED, KEPT = 400, 200  # of each trait (section 4)

People = Literal["none", "keep", "any"]
# The paper retains "images containing person(s)". A person in the picture would answer the question whose it is, so by
# default ours are those without: a deviation.
PEOPLE: dict[People, str] = {
    "none": "pictures without a person",
    "keep": "pictures with a person or more",
    "any": "all pictures",
}


def qualifies(persons: int | None, people: People) -> bool:
    """persons: found in the picture; None where nobody looked."""
    if people == "any":
        return True
    return persons is not None and (persons == 0) == (people == "none")


def choose(persons: Mapping[int, int | None], people: People, keep: int, seed: int, trait: str) -> frozenset[int]:
    """Numbers of the pictures that are kept: `keep` drawn from those that qualify, or all of them where they are fewer.

    persons: found in each picture, by its number. Each trait has a draw of its own.
    """
    qualified = sorted(number for number, found in persons.items() if qualifies(found, people))
    rng = random.Random(derive_seed(seed, f"persona_images/{trait}", agent="choice"))
    return frozenset(rng.sample(qualified, min(keep, len(qualified))))
