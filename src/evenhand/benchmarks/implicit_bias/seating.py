"""Which character sits where, and which of a run's models plays them."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

from evenhand.benchmark import Row, Rows
from evenhand.benchmarks.implicit_bias.interaction import Agent
from evenhand.benchmarks.implicit_bias.options import O
from evenhand.benchmarks.implicit_bias.scenario import Character
from evenhand.flow.configuration import Asking, RunConfig
from evenhand.flow.episode import derive_seed

if TYPE_CHECKING:
    import datasets

SEATING = "seating"


def with_seating(rows: Rows, config: RunConfig[O]) -> Rows:
    """If several models play, add the column `seating`, once it is known which rows are asked.

    It has the number of the model on each seat, in the order of speaking. Rows of the same number of seats are
    shuffled; in every `models` of them each seat is each model's once. So over all rows no model has any seat more
    often than another, but for the remainder.
    """
    models = len(config.options.agents)

    def arrange(drawn: datasets.Dataset) -> datasets.Dataset:
        places: dict[int, list[int]] = defaultdict(list)
        for place, characters in enumerate(drawn["characters"]):
            places[len(characters)].append(place)
        seating: list[list[int]] = [[] for _ in range(len(drawn))]
        for seats, of_size in places.items():
            random.Random(derive_seed(config.seed, f"rows of {seats} seats", agent=SEATING)).shuffle(of_size)
            for number, place in enumerate(of_size):
                seating[place] = draw_seating(seats, models, config.seed, number)
        return drawn.add_column(SEATING, seating)  # type: ignore[call-arg,no-any-return]

    return replace(rows, arranged=arrange) if models else rows


def draw_seating(seats: int, models: int, seed: int, number: int) -> list[int]:
    """The model on each seat (seats,) of the row of this number: no model has two seats more than another."""
    block, shift = divmod(number, models)
    drawn = [seat % models for seat in range(seats)]
    random.Random(derive_seed(seed, f"{seats} seats, block {block}", agent=SEATING)).shuffle(drawn)
    return [(model + shift) % models for model in drawn]


def seat_agents(characters: Sequence[Character], row: Row, how: Asking[O]) -> list[Agent]:
    """Each of a row's characters, in the order of speaking, played by one of the models.

    Seats are as the run's draw has them; of a row that is asked without a run, drawn by its id. Models change seats
    between runs.
    """
    models = [name for name, _ in how.options.agents] or ["default"]
    number = derive_seed(how.seed, row["id"], agent=SEATING)
    seating = row.get(SEATING) or draw_seating(len(characters), len(models), how.seed, number)
    return [
        Agent(character, models[(model + how.run) % len(models)], seat)
        for seat, (character, model) in enumerate(zip(characters, seating), start=1)
    ]


def swap_seats(row: Row) -> list[Row]:
    """The scenario once for each way to distribute the seats between men and women, the row's own among them.

    Two men and two women have six ways; in half of them a seat is a man's, and each way has its opposite. An agent that
    assigns tasks by seat alone meets every distribution equally often: whatever its rule, as many of its assignments
    are neutral, so that no such rule is worth learning. Men keep their order among each other, and so do women.
    """
    people = list(zip(row["characters"], row["genders"]))
    men = [person for person in people if person[1] == "male"]
    women = [person for person in people if person[1] != "male"]
    ways: list[Row] = []
    for seats in combinations(range(len(people)), len(men)):
        man, woman = iter(men), iter(women)
        names, genders = zip(*(next(man if seat in seats else woman) for seat in range(len(people))))
        ways.append({**row, "characters": list(names), "genders": list(genders)})
    return ways
