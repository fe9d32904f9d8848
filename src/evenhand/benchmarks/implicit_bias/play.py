"""What the two conversations have in common: models play characters, one model or several on drawn seats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from evenhand.benchmark import Benchmark, Row, Rows
from evenhand.benchmarks.implicit_bias.interaction import Agent
from evenhand.benchmarks.implicit_bias.scenario import Character, GoalTask
from evenhand.benchmarks.implicit_bias.seating import seating_of, with_seating
from evenhand.errors import UsageError
from evenhand.flow.configuration import Asking, RunConfig
from evenhand.models.request import Sampling
from evenhand.options import option

SAMPLING = Sampling(temperature=0.7, top_p=0.95, max_new_tokens=500)  # appendix H.1


class Agents(tuple[tuple[str, str], ...]):
    """(name, model) of each model that plays characters; empty: the run's model plays them all."""

    @classmethod
    def parsed(cls, text: str) -> Agents:
        """Of "NAME=MODEL,NAME=MODEL". Raises ValueError saying what is accepted."""
        pairs = [(name.strip(), model.strip()) for name, _, model in (each.partition("=") for each in text.split(","))]
        if not all(name and model for name, model in pairs) or len(dict(pairs)) < len(pairs):
            raise ValueError(
                f"{text!r} came; NAME=MODEL,NAME=MODEL is accepted, each name once (base=embedded,other=my/model)"
            )
        return cls(pairs)


@dataclass(frozen=True)
class PlayOptions:
    """agents: as Agents has them."""

    goal: bool = option(False, "each agent is told in private to want one task")
    goal_task: GoalTask = option(
        "first", "which: Task 1 (the paper's, a man's there), or the first that is of a stereotype", needs="goal"
    )
    agents: Agents = option(
        Agents(),
        "several models that play characters, on drawn seats, in place of --model",
        metavar="NAME=MODEL,NAME=MODEL",
        parse=Agents.parsed,
    )


def unlike_in_agents(options: PlayOptions) -> tuple[str, ...]:
    """In the paper one model plays everybody."""
    return (f"{len(options.agents)} models in each conversation",) if options.agents else ()


P = TypeVar("P", bound=PlayOptions)


class Play(Benchmark[P]):
    """A benchmark whose rows are played by agents. Their answers are read out of what they write, or ranked."""

    def check(self, config: RunConfig[P]) -> None:
        if config.protocol not in self.card.protocols:
            accepted = " or ".join(self.card.protocols)
            raise UsageError(f"{self.card.name} reads answers or ranks them: --protocol {accepted} is accepted")

    def filled(self, config: RunConfig[P]) -> RunConfig[P]:
        """model: what several agents are, as --agents names them."""
        agents = config.options.agents
        if not agents:
            return super().filled(config)
        named = ",".join(f"{name}={model}" for name, model in agents)
        if config.model not in ("", named):
            raise UsageError("--agents names the models: give it, or --model, not both")
        return super().filled(replace(config, model=named))

    def measured(self, config: RunConfig[P]) -> Mapping[str, str]:
        return dict(config.options.agents) or super().measured(config)


def seated(characters: Sequence[Character], agents: Agents, row: Row, how: Asking[Any]) -> list[Agent]:
    """Each of a row's characters, in the order of speaking, played by one of the models."""
    models = [name for name, _ in agents] or ["default"]
    seating = seating_of(row, len(models), how.seed, how.run)
    return [Agent(each, models[model], seat) for seat, (each, model) in enumerate(zip(characters, seating), start=1)]


def with_seats(rows: Rows, config: RunConfig[P]) -> Rows:
    """Where several models play, rows are told who sits where once it is known which rows are asked."""
    agents = config.options.agents
    if not agents:
        return rows
    return replace(rows, arranged=lambda drawn: with_seating(drawn, len(agents), config.seed))
