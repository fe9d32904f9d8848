"""Options of conversations, and how a run's configuration is checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from evenhand.benchmark import Configuring
from evenhand.benchmarks.forced_format import UNLIKE_THE_PAPER, check_constraining
from evenhand.benchmarks.implicit_bias.official_prompts import official_file, read_official_prompts
from evenhand.benchmarks.implicit_bias.scenario import GoalTask
from evenhand.errors import UsageError
from evenhand.flow.configuration import RunConfig
from evenhand.models.request import Sampling
from evenhand.options import option

if TYPE_CHECKING:
    from evenhand.benchmark import Card
    from evenhand.models.protocol import Model

SAMPLING = Sampling(temperature=0.7, top_p=0.95, max_new_tokens=500)  # appendix H.1, of the GPT models
MISTRAL = Sampling(temperature=0.7, top_p=1.0, max_new_tokens=1000)
"""Appendix H.1: the same temperature, else the model's own settings; its published code has 1,000 new tokens."""
NONE, NO_GOAL, GOAL = "none", "interaction", "interaction, goal"
REFLECTION = "reflection"
TEST_SET = "test: Table 1 is of scenarios"  # so Figures 6 and 16 to 18 are of it
RUNS = 5  # every figure of the paper is a mean of five (section 4, appendix H.1)


def published_sampling(model: str) -> Sampling:
    """Return how the paper sampled a model of this name; models that it doesn't have, as its GPT models."""
    return MISTRAL if "mistral" in model.casefold() else SAMPLING


def describe_runs(n_runs: int) -> tuple[str, ...]:
    """Say that a run is not averaged over as many runs as in the paper, if it isn't."""
    return () if n_runs == RUNS else (f"{n_runs} run{'s' * (n_runs > 1)}, not {RUNS}",)


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
class ConversationOptions:
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


O = TypeVar("O", bound=ConversationOptions)  # noqa: E741


def published_figures(setting: str) -> list[dict[str, Any]]:
    """Table 1's figures of a setting as printed, slips included: gpt-4's shares with goal, first response, add up to
    1.166. For reflection, appendix E's ranges over settings, which have no value.
    """
    from evenhand.flow.results import read_published

    records = read_published(Path(__file__).with_name("published.csv"), setting=setting)
    return [{"value": None, **{name: each[name] for name in each if name != "setting"}} for each in records]


class ConversationConfiguring(Configuring[O]):
    def check(self, config: RunConfig[O], models: Mapping[str, Model] | None = None) -> None:
        if config.protocol not in self.card.protocols:
            expected = " or ".join(self.card.protocols)
            raise UsageError(f"{self.card.name} reads answers or ranks them: use --protocol {expected}")

    def filled(self, config: RunConfig[O], models: Mapping[str, Model] | None = None) -> RunConfig[O]:
        """With several agents, the model's name is what --agents names."""
        named = ",".join(f"{name}={model}" for name, model in config.options.agents)
        if named and config.model not in ("", named):
            raise UsageError("--agents names the models: give it, or --model, not both")
        named = named or config.model
        return replace(config, model=named).filled(self.sampled(named))

    def sampled(self, model: str) -> Card:
        """The card with the sampling of this model in the paper."""
        return replace(self.card, sampling=published_sampling(model))

    def differs(self, config: RunConfig[O]) -> tuple[str, ...]:
        """In the paper one model plays all characters."""
        agents = config.options.agents
        return (
            *config.unlike(self.sampled(config.model)),
            *([f"{len(agents)} models in each conversation"] if agents else []),
        )

    def measured(self, config: RunConfig[O]) -> Mapping[str, str]:
        return dict(config.options.agents) or super().measured(config)


@dataclass(frozen=True)
class ImplicitBiasOptions(ConversationOptions):
    setting: Literal["none", "interaction"] = option("interaction", "whether agents discuss")
    moderator: bool = option(
        False, "without interaction, the published code's system message: the model is a moderator"
    )
    task_stereotypes: str | None = option(
        None,
        "stereotypes of tasks, in place of the rows' own (columns id, task, stereotype)",
        metavar="FILE",
    )
    prompts: Literal["evenhand", "official"] = option(
        "evenhand",
        "evenhand: the paper's prompts in other words; official: the authors' own, read from their published code",
    )
    constrain: bool = option(False, "constrain written assignments to JSON by a schema, of models that support it")


def official_files(config: RunConfig[ImplicitBiasOptions]) -> list[str]:
    """List the files of the authors' code whose prompts a run takes."""
    alone, reflecting = config.options.setting == "none", bool(config.mitigation)
    return list(dict.fromkeys(official_file(alone, reflecting, name == "test") for name in config.configs))


class ImplicitBiasConfiguring(ConversationConfiguring[ImplicitBiasOptions]):
    def check(self, config: RunConfig[ImplicitBiasOptions], models: Mapping[str, Model] | None = None) -> None:
        super().check(config)
        options, ranked, alone = config.options, config.protocol == "rank", config.options.setting == "none"
        if options.goal and alone:
            raise UsageError("--goal is given to agents before they discuss: it needs --setting interaction")
        if options.moderator and not alone:
            raise UsageError("--moderator is for a model that plays no character: it needs --setting none")
        if options.agents and alone:
            raise UsageError("--agents are models that discuss: they need --setting interaction")
        if options.constrain and ranked:
            raise UsageError("--constrain has no effect on ranked assignments: use --protocol generate")
        for name in ("temperature", "top_p", "max_new_tokens") if alone and ranked else ():
            if getattr(config, name) != getattr(published_sampling(config.model), name):
                flag = f"--{name.replace('_', '-')}"
                raise UsageError(f"{flag} has no effect: --protocol rank without interaction writes nothing")
        if options.prompts == "official":
            self._check_official(config)
        if models and options.constrain:
            check_constraining(models, "leave it out, or take --protocol rank, which leaves nothing unread either")

    def _check_official(self, config: RunConfig[ImplicitBiasOptions]) -> None:
        """Raise UsageError for what the authors' prompts don't fit, EvenhandError where they can't be had."""
        options, reflecting, alone = config.options, bool(config.mitigation), config.options.setting == "none"
        unfit = {
            "are for four tasks: use --source official": config.source != "official",
            "have an answer format of their own: use --protocol generate": config.protocol != "generate",
            "have an answer format of their own: leave --constrain out": options.constrain,
            "make the model that answers without interaction a moderator: leave --moderator out": options.moderator,
            "have Task 1 as the goal: leave --goal-task out": options.goal and options.goal_task != "first",
            "have none for reflection without interaction: use --setting interaction": reflecting and alone,
        }
        for why in (words for words, wrong in unfit.items() if wrong):
            raise UsageError(f"the authors' prompts {why}, or --prompts evenhand")
        for name in official_files(config):
            read_official_prompts(name)

    def differs(self, config: RunConfig[ImplicitBiasOptions]) -> tuple[str, ...]:
        """Table 1 is of the scenarios, mitigations are of the test set; the goal is Task 1, a man's in all of them."""
        options, official = config.options, config.source == "official"
        configs, papers = ", ".join(config.configs), "test" if config.mitigation else "scenarios"
        figures = "appendix E's figures are" if config.mitigation else "Table 1 is"
        goal_task = options.goal_task if options.goal else ""
        mistral = "mistral" in config.model.casefold()
        differences: dict[str, object] = {
            TEST_SET if (configs, papers) == ("test", "scenarios") else f"{configs}: {figures} of {papers}": (
                config.configs != (papers,)
            ),
            "evenhand's scenarios, not the authors' (--source official)": not official,
            "prompts in evenhand's words, not the authors' (--prompts official)": options.prompts == "evenhand",
            "in-context examples of evenhand's, but for Figure 21's": config.mitigation == "self-reflection-ice",
            **dict.fromkeys(super().differs(config), True),
            "no limit of the 50 likeliest tokens, transformers' default of then": mistral,
            "no marks of ChatML inside mistral's own template": mistral,
            UNLIKE_THE_PAPER: options.constrain,
            "a model asked to be a moderator": options.moderator,
            "task stereotypes from a file": options.task_stereotypes,
            "the goal is a task that is a woman's by stereotype, not a man's": goal_task == "stereotypical-female",
            "the goal is Task 1, which is not a man's by stereotype in all scenarios "
            "(--goal-task stereotypical-male)": goal_task == "first" and not official,
        }
        return (*(words for words, differs in differences.items() if differs), *describe_runs(config.n_runs))

    def published(self, config: RunConfig[ImplicitBiasOptions]) -> list[dict[str, Any]]:
        """Table 1's rows of this setting; for agents of the test set that reflect, appendix E's ranges of rates.

        The paper's other figures of the test set are drawn, not printed.
        """
        setting = GOAL if config.options.goal else config.options.setting
        if config.configs == ("scenarios",) and not config.mitigation:
            return published_figures(setting)
        reflecting = config.configs == ("test",) and config.mitigation and setting != NONE
        return published_figures(REFLECTION) if reflecting else []
