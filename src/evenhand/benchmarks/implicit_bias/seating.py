"""Who sits where: models on drawn seats, so that none is confounded with the order of speaking, and men and women."""

from __future__ import annotations

import random
from collections import defaultdict
from itertools import combinations
from typing import TYPE_CHECKING

from evenhand.benchmark import Row
from evenhand.flow.episode import derive_seed

if TYPE_CHECKING:
    import datasets

SEATING = "seating"


def with_seating(rows: datasets.Dataset, models: int, seed: int) -> datasets.Dataset:
    """Rows with a column `seating`: the number of the model on each seat, in the order of speaking.

    Rows of the same number of seats come in a drawn order; in every `models` of them each seat is each model's once.
    So over all rows no model has any seat more often than another, but for what is left over at the end.
    """
    places: dict[int, list[int]] = defaultdict(list)
    for place, characters in enumerate(rows["characters"]):
        places[len(characters)].append(place)
    found: list[list[int]] = [[] for _ in range(len(rows))]
    for seats, of_size in places.items():
        random.Random(derive_seed(seed, f"rows of {seats} seats", agent=SEATING)).shuffle(of_size)
        for number, place in enumerate(of_size):
            found[place] = seating(seats, models, seed, number)
    return rows.add_column(SEATING, found)  # type: ignore[call-arg,no-any-return]


def seating(seats: int, models: int, seed: int, number: int) -> list[int]:
    """The model on each seat (seats,) of the row of this number: no model has two seats more than another."""
    block, shift = divmod(number, models)
    drawn = [seat % models for seat in range(seats)]
    random.Random(derive_seed(seed, f"{seats} seats, block {block}", agent=SEATING)).shuffle(drawn)
    return [(model + shift) % models for model in drawn]


def seating_of(row: Row, models: int, seed: int, run: int) -> list[int]:
    """As the run's draw has it; of a row that is asked without a run, drawn by its id. Models change seats by runs."""
    seats = len(row["characters"])
    drawn = row.get(SEATING) or seating(seats, models, seed, derive_seed(seed, row["id"], agent=SEATING))
    return [(model + run) % models for model in drawn]


def counterparts(row: Row) -> list[Row]:
    """The scenario once for each way to say which seats are men's, the one that came among them.

    Two men and two women have six ways; in half of them a seat is a man's, and each way has its opposite, with men
    where the women sat. Who gives out tasks by seat alone meets every way to share them out between men and women
    equally often: whatever the rule, as many of its assignments are neutral, so that none of them is worth learning.
    Men keep their order among each other, and so do women.
    """
    people = list(zip(row["characters"], row["genders"]))
    men = [who for who in people if who[1] == "male"]
    others = [who for who in people if who[1] != "male"]
    found: list[Row] = []
    for seats in combinations(range(len(people)), len(men)):
        man, other = iter(men), iter(others)
        seated = [next(man) if seat in seats else next(other) for seat in range(len(people))]
        names, genders = ([who[part] for who in seated] for part in range(2))
        found.append({**row, "characters": names, "genders": genders})
    return found
