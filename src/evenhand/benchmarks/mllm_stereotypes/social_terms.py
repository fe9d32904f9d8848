"""The terms for social groups that a persona prompt lists, in a random order (Jiang et al., section 3.2, Table A6)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Literal

Order = Literal["paper", "balanced"]
SLOT = "[SOCIAL TERMS]"

# How the terms are joined isn't printed. Table A6 has "a" before the slot for gender and none for race, whose answers
# are read by 'a white', 'a black', 'an Asian', 'an Indian' (Appendix A).
TERMS = {
    "gender": {"male": "male", "female": "female"},
    "race": {"white": "a white", "black": "a black", "Asian": "an Asian", "Indian": "an Indian"},
}


def filled_in(prompt: str, attribute: str, groups: Sequence[str]) -> str:
    """ "… is a male or female.", "… is a white, a black, an Asian, or an Indian person." """
    *before, last = (TERMS[attribute][group] for group in groups)
    listed = f"{', '.join(before)}{',' if len(before) > 1 else ''} or {last}"
    return prompt.replace(SLOT, listed)


def orders(groups: Sequence[str], rng: random.Random, balanced: bool) -> list[tuple[str, ...]]:
    """One shuffled order; balanced: its rotations, too, so that each group stands in each place once."""
    # Only rng.random() is used, whose numbers Python promises to keep from version to version.
    shuffled = tuple(sorted(groups, key=lambda _: rng.random()))
    return [shuffled[i:] + shuffled[:i] for i in range(len(shuffled) if balanced else 1)]
