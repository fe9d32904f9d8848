"""How BBQ's questions are put to a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from evenhand.benchmarks.option_order import OptionOrder
from evenhand.options import option

ANSWERS = 3
LISTED = ("first", "second", "third")


@dataclass(frozen=True)
class BbqOptions(OptionOrder):
    order: Literal["paper", "balanced"] = option(
        "paper", "of the answers; balanced: asked in all three rotations, averaged"
    )

    @property
    def rotations(self) -> tuple[int, ...]:
        """By how many places the answers are listed later, for each request about one question."""
        return tuple(range(ANSWERS)) if self.order == "balanced" else (0,)


def listed(rotation: int) -> tuple[int, ...]:
    """Places of the row's answers in the order in which a rotation lists them."""
    return tuple((place - rotation) % ANSWERS for place in range(ANSWERS))
