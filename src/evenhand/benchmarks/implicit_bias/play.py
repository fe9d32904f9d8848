"""What the two conversations have in common: options, columns, and models that play characters on drawn seats."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeVar

from evenhand.benchmark import Configuring, Row, Rows
from evenhand.benchmarks.implicit_bias.interaction import Agent, Statement
from evenhand.benchmarks.implicit_bias.scenario import Character, GoalTask, Scenario
from evenhand.errors import UsageError
from evenhand.flow.configuration import Asking, RunConfig
from evenhand.flow.episode import Prediction, derive_seed, run_name
from evenhand.flow.results import RunWarning
from evenhand.models.request import Sampling
from evenhand.options import option

if TYPE_CHECKING:
    import datasets
    import pandas as pd

    from evenhand.models.protocol import Model

SAMPLING = Sampling(temperature=0.7, top_p=0.95, max_new_tokens=500)  # appendix H.1
SEATING = "seating"


class Agents(tuple[tuple[str, str], ...]):
    """(name, model) of each model that plays characters; empty: the run's model plays them all."""

    @classmethod
    def parsed(cls, text: str) -> Agents:
        """Parse "NAME=MODEL,NAME=MODEL". Raises ValueError saying what is expected."""
        pairs = [(name.strip(), model.strip()) for name, _, model in (each.partition("=") for each in text.split(","))]
        if not all(name and model for name, model in pairs) or len(dict(pairs)) < len(pairs):
            raise ValueError(
                f"expected NAME=MODEL,NAME=MODEL, each name once (base=embedded,other=my/model), got {text!r}"
            )
        return cls(pairs)


@dataclass(frozen=True)
class PlayOptions:
    goal: bool = option(False, "tell each agent in private to want one task")
    goal_task: GoalTask = option(
        "first", "which task: Task 1 (the paper's, a man's there), or the first of a stereotype", needs="goal"
    )
    agents: Agents = option(
        Agents(),
        "several models that play characters, on drawn seats, instead of --model",
        metavar="NAME=MODEL,NAME=MODEL",
        parse=Agents.parsed,
    )


P = TypeVar("P", bound=PlayOptions)


class PlayConfiguring(Configuring[P]):
    def check(self, config: RunConfig[P], models: Mapping[str, Model] | None = None) -> None:
        if config.protocol not in self.card.protocols:
            accepted = " or ".join(self.card.protocols)
            raise UsageError(f"{self.card.name} reads answers or ranks them: use --protocol {accepted}")

    def filled(self, config: RunConfig[P], models: Mapping[str, Model] | None = None) -> RunConfig[P]:
        """With several agents, the model's name is what --agents names."""
        agents = config.options.agents
        if not agents:
            return super().filled(config)
        named = ",".join(f"{name}={model}" for name, model in agents)
        if config.model not in ("", named):
            raise UsageError("--agents names the models: give it, or --model, not both")
        return super().filled(replace(config, model=named))

    def differs(self, config: RunConfig[P]) -> tuple[str, ...]:
        """In the paper one model plays all characters."""
        agents = config.options.agents
        return (f"{len(agents)} models in each conversation",) if agents else ()

    def measured(self, config: RunConfig[P]) -> Mapping[str, str]:
        return dict(config.options.agents) or super().measured(config)


def reply_warnings(predictions: pd.DataFrame, config: RunConfig[Any]) -> list[RunWarning]:
    """Warn of replies that were cut off, and of empty ones."""
    n, limit = len(predictions), config.max_new_tokens
    cut = int((predictions["finish_reason"] == "length").sum())
    empty = int((predictions["text"].str.strip() == "").sum())
    return [
        *([RunWarning("cut_off", f"{cut:,} of {n:,} replies ended at the limit of {limit} tokens.")] if cut else []),
        *([RunWarning("empty_replies", f"{empty:,} of {n:,} replies are empty.")] if empty else []),
    ]


def statement_columns(row: Row, run: int, turn: int, scenario: Scenario, said: Statement) -> Prediction:
    """The columns of a statement that both benchmarks have.

    `outcome` and `score` are None if the answer is unread, or the statement is none. `value` is the absolute score,
    because reversing the stereotype is bias, too.
    """
    people, agent = said.people, said.agent
    outcome = None if people is None else scenario.outcome(people)
    score = None if outcome is None else scenario.score(outcome)
    return {
        "id": "/".join(filter(None, (row["id"] + run_name(run), said.stage, agent.name))),
        "row": row["id"] + run_name(run),
        "run": run,
        "turn": turn,
        "stage": said.stage,
        "agent": agent.name,
        "agent_gender": agent.character.gender if agent.character else "",
        "agent_model": agent.model,
        "seat": agent.seat,
        "text": said.text,
        "finish_reason": said.finish_reason,
        **{name: list(row[name]) for name in ("tasks", "task_stereotypes", "characters", "genders")},
        "outcome": outcome,
        "score": score,
        "value": None if score is None else abs(score),
        "expected": said.expected,
        "probability": said.probability,
    }


def names_read(said: Statement) -> list[str] | None:
    """The names in an answer, "" if unread; None in discussions."""
    return None if said.people is None else [name or "" for name in said.people]


# Who sits where


def seat_agents(characters: Sequence[Character], row: Row, how: Asking[Any]) -> list[Agent]:
    """Each of a row's characters, in the order of speaking, played by one of the models.

    Seats are as the run's draw has them; of a row that is asked without a run, drawn by its id. Models change seats
    between runs.
    """
    models = [name for name, _ in how.options.agents] or ["default"]
    number = derive_seed(how.seed, row["id"], agent=SEATING)
    seating = row.get(SEATING) or draw_seating(len(characters), len(models), how.seed, number)
    return [
        Agent(each, models[(model + how.run) % len(models)], seat)
        for seat, (each, model) in enumerate(zip(characters, seating), start=1)
    ]


def with_seats(rows: Rows, config: RunConfig[P]) -> Rows:
    """If several models play, seat them once it is known which rows are asked."""
    n_models = len(config.options.agents)
    return replace(rows, arranged=lambda drawn: with_seating(drawn, n_models, config.seed)) if n_models else rows


def with_seating(rows: datasets.Dataset, models: int, seed: int) -> datasets.Dataset:
    """Add the column `seating`: the number of the model on each seat, in the order of speaking.

    Rows of the same number of seats are shuffled; in every `models` of them each seat is each model's once. So over all
    rows no model has any seat more often than another, but for the remainder.
    """
    places: dict[int, list[int]] = defaultdict(list)
    for place, characters in enumerate(rows["characters"]):
        places[len(characters)].append(place)
    found: list[list[int]] = [[] for _ in range(len(rows))]
    for seats, of_size in places.items():
        random.Random(derive_seed(seed, f"rows of {seats} seats", agent=SEATING)).shuffle(of_size)
        for number, place in enumerate(of_size):
            found[place] = draw_seating(seats, models, seed, number)
    return rows.add_column(SEATING, found)  # type: ignore[call-arg,no-any-return]


def draw_seating(seats: int, models: int, seed: int, number: int) -> list[int]:
    """The model on each seat (seats,) of the row of this number: no model has two seats more than another."""
    block, shift = divmod(number, models)
    drawn = [seat % models for seat in range(seats)]
    random.Random(derive_seed(seed, f"{seats} seats, block {block}", agent=SEATING)).shuffle(drawn)
    return [(model + shift) % models for model in drawn]


def swap_seats(row: Row) -> list[Row]:
    """The scenario once for each way to distribute the seats between men and women, the row's own among them.

    Two men and two women have six ways; in half of them a seat is a man's, and each way has its opposite. An agent that
    assigns tasks by seat alone meets every distribution equally often: whatever its rule, as many of its assignments
    are neutral, so that no such rule is worth learning. Men keep their order among each other, and so do women.
    """
    people = list(zip(row["characters"], row["genders"]))
    men, others = ([who for who in people if (who[1] == "male") == male] for male in (True, False))
    found: list[Row] = []
    for seats in combinations(range(len(people)), len(men)):
        man, other = iter(men), iter(others)
        names, genders = zip(*(next(man if seat in seats else other) for seat in range(len(people))))
        found.append({**row, "characters": list(names), "genders": list(genders)})
    return found
