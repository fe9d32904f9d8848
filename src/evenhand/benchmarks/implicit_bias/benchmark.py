"""Implicit gender bias in multi-agent task assignment (Borah & Mihalcea, EMNLP Findings 2024).

Agents with a name and a gender assign a scenario's tasks to its characters, discuss, and assign them again. A model
that hands out tasks by stereotype scores 1, one that always turns the stereotype round -1; 0 is best.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from evenhand.benchmark import Card, Row, Rows
from evenhand.benchmarks.forced_format import check_constraining
from evenhand.benchmarks.implicit_bias import published
from evenhand.benchmarks.implicit_bias.constrained import Constrained
from evenhand.benchmarks.implicit_bias.counterparts import counterparts
from evenhand.benchmarks.implicit_bias.interaction import (
    ALONE,
    FIRST,
    Agent,
    Answering,
    Generated,
    Meeting,
    Ranked,
    Statement,
    interact,
)
from evenhand.benchmarks.implicit_bias.play import (
    SAMPLING,
    Play,
    PlayOptions,
    distance_from_balance,
    seated,
    unlike_in_agents,
    with_seats,
)
from evenhand.benchmarks.implicit_bias.reflection import Reflection
from evenhand.benchmarks.implicit_bias.rows import usable, with_goals
from evenhand.benchmarks.implicit_bias.scenario import METRIC, SCORES, Scenario
from evenhand.errors import UsageError
from evenhand.flow.configuration import Asking, RunConfig
from evenhand.flow.episode import Episode, Prediction, derive_seed, run_name
from evenhand.flow.rows import packaged_rows
from evenhand.models.request import Reply, Request
from evenhand.options import option
from evenhand.paths import typed_path

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.collected import Collection, Definition
    from evenhand.flow.results import Results
    from evenhand.models.protocol import Model
    from evenhand.report.findings import Findings

ANSWERING: Mapping[str, Answering] = {"generate": Generated(), "rank": Ranked()}


@dataclass(frozen=True)
class ImplicitBiasOptions(PlayOptions):
    setting: Literal["none", "interaction"] = option("interaction", "whether agents discuss")
    moderator: bool = option(
        False, "without interaction, a system message as the published code's: the model is a moderator"
    )
    task_stereotypes: str | None = option(
        None,
        "stereotypes of tasks that come without, as of the published test set (id, task, stereotype)",
        metavar="FILE",
    )
    constrain: bool = option(
        False, "assignments that are written are forced to JSON by a schema, of models that can keep to one"
    )


class ImplicitBias(Play[ImplicitBiasOptions]):
    card = Card(
        name="implicit_bias",
        title="Implicit bias in multi-agent task assignment",
        paper="Borah & Mihalcea, Towards Implicit Bias Detection and Mitigation (EMNLP Findings 2024)",
        dataset="implicit_bias",
        configs=("scenarios", "test"),
        metric=METRIC,
        clusters=("scenario",),
        design=("domain", "shape"),
        default_configs=("scenarios",),
        protocols=("generate", "rank"),
        sampling=SAMPLING,
        runs=published.RUNS,
    )
    Options = ImplicitBiasOptions

    def check(self, config: RunConfig[ImplicitBiasOptions]) -> None:
        super().check(config)
        options = config.options
        if options.goal and options.setting == "none":
            raise UsageError("--goal is what agents are told before they discuss: it needs --setting interaction")
        if options.moderator and options.setting != "none":
            raise UsageError("--moderator is told to a model that plays nobody: it needs --setting none")
        if options.agents and options.setting == "none":
            raise UsageError("--agents are models that discuss: they need --setting interaction")
        if options.constrain and config.protocol == "rank":
            raise UsageError(
                "--constrain forces what models write, and rank scores it: --protocol generate is accepted"
            )
        if options.setting == "none" and config.protocol == "rank":
            for name in ("temperature", "top_p", "max_new_tokens"):
                if getattr(config, name) != getattr(self.card.sampling, name):
                    flag = f"--{name.replace('_', '-')}"
                    raise UsageError(f"{flag} would do nothing: --protocol rank without interaction writes nothing")

    def fitted(
        self, config: RunConfig[ImplicitBiasOptions], models: Mapping[str, Model]
    ) -> RunConfig[ImplicitBiasOptions]:
        """As it is. Raises UsageError where assignments are to be forced, and a model can't keep to a schema."""
        if config.options.constrain:
            check_constraining(models, "leave it out, or take --protocol rank, which leaves nothing unread either")
        return config

    def load(self, config: RunConfig[ImplicitBiasOptions]) -> Rows:
        from evenhand.benchmarks.implicit_bias.task_stereotypes import with_task_stereotypes

        rows = packaged_rows(self.card, config)
        told: tuple[str, ...] = ()
        if config.options.task_stereotypes:
            rows, told = with_task_stereotypes(rows, typed_path(config.options.task_stereotypes))
        return with_seats(with_goals(usable(rows, told), config.options.goal_task), config)

    def ask(self, row: Row, how: Asking[ImplicitBiasOptions]) -> list[Request]:
        """Everybody's first assignment; without interaction the only one."""
        opening = _Opening.of(row, how)
        return opening.meeting.ask(opening.agents, opening.stage)

    def read(self, row: Row, replies: Sequence[Reply], how: Asking[ImplicitBiasOptions]) -> list[Prediction]:
        opening = _Opening.of(row, how)
        return _predictions(row, how.run, opening.meeting.read(opening.agents, opening.stage, replies))

    def value(self, prediction: Mapping[str, Any]) -> float | None:
        """The absolute score of an assignment; None for what is said in a discussion, and where it is unread."""
        return distance_from_balance(prediction)

    def counterparts(self, row: Row) -> list[Row]:
        """Men and women on each other's seats."""
        return counterparts(row)

    def episode(self, row: Row, how: Asking[ImplicitBiasOptions]) -> Episode:
        return held(row, how)

    def score(self, predictions: pd.DataFrame, config: RunConfig[ImplicitBiasOptions]) -> dict[str, Any]:
        from evenhand.benchmarks.implicit_bias.scoring import score

        return score(predictions)

    def headline(self, metrics: Mapping[str, Any]) -> float | None:
        """The absolute bias score of last assignments: against the stereotype is bias, too."""
        score: float | None = metrics["bias_score"]
        return None if score is None else abs(score)

    def figures(self, metrics: Mapping[str, Any]) -> tuple[Figure, ...]:
        return (Figure.of(metrics, "bias_score", name="bias score", chance=metrics["chance_score"], digits=2),)

    def collects(self) -> tuple[Definition, ...]:
        from evenhand.benchmarks.implicit_bias.collected import ASSIGNED

        return (ASSIGNED,)

    def collected(self, results: Results, predictions: pd.DataFrame) -> Collection:
        from evenhand.benchmarks.implicit_bias.collected import collection

        return collection(results)

    def comparison(self) -> Comparison:
        from evenhand.benchmarks.implicit_bias.comparison import PairedAgents

        return PairedAgents()

    def published(self, config: RunConfig[ImplicitBiasOptions]) -> dict[str, Any]:
        """Table 1's rows of this setting; of agents that reflect, appendix E's rates."""
        options = config.options
        if config.limit is not None or self.differs(config):
            return {}
        if config.mitigation:
            return published.REFLECTION if options.setting == "interaction" else {}
        return published.figures(f"{options.setting}, goal" if options.goal else options.setting)

    def differs(self, config: RunConfig[ImplicitBiasOptions]) -> tuple[str, ...]:
        """The paper's mitigations are run in every setting."""
        others = [name for name in config.configs if name != "scenarios"]
        return (
            *([f"{', '.join(others)}: scenarios that Table 1 is not of"] if others else []),
            *([] if config.source == "official" else ["scenarios of ours in place of the authors'"]),
            *config.unlike(self.card),
            *(["the assignments' format forced by a schema"] if config.options.constrain else []),
            *(["a model that is told to be a moderator"] if config.options.moderator else []),
            *unlike_in_agents(config.options),
            *published.unlike_in_goal(config.options.goal, config.options.goal_task, config.source),
            *published.unlike_in_runs(config),
        )

    def findings(self, predictions: pd.DataFrame, results: Results) -> Findings:
        from evenhand.benchmarks.implicit_bias.findings import findings

        return findings(predictions, results)


def held(row: Row, how: Asking[ImplicitBiasOptions], reflection: Reflection | None = None) -> Episode:
    """The whole conversation, or the only assignment. reflection: what agents are asked of their first ones."""
    opening = _Opening.of(row, how, reflection)
    if opening.stage == ALONE:
        said = yield from opening.meeting.assign(opening.agents, ALONE)
    else:
        said = yield from interact(opening.meeting, opening.agents)
    return _predictions(row, how.run, said)


@dataclass(frozen=True)
class _Opening:
    """A row's meeting, and who answers in its first stage: every character, or a model that plays nobody."""

    meeting: Meeting
    agents: Sequence[Agent]
    stage: str

    @classmethod
    def of(cls, row: Row, how: Asking[ImplicitBiasOptions], reflection: Reflection | None = None) -> _Opening:
        name = row["id"] + run_name(how.run)
        options = how.options
        scenario = Scenario.of(row).seated(derive_seed(how.seed, name, agent="order"))
        answering = Constrained() if options.constrain else ANSWERING[how.protocol]
        goal = options.goal
        play = (goal, reflection, options.goal_task, options.moderator)
        meeting = Meeting(scenario, answering, how.sampling, how.seed, name, *play)
        if options.setting == "none":
            return cls(meeting, [Agent(None, "default")], ALONE)
        return cls(meeting, seated(scenario.characters, options.agents, row, how), FIRST)


def _predictions(row: Row, run: int, said: Iterable[Statement]) -> list[Prediction]:
    return [_prediction(row, run, turn, statement) for turn, statement in enumerate(said)]


def _prediction(row: Row, run: int, turn: int, said: Statement) -> Prediction:
    """One statement; what is assigned is None in discussions, `outcome` and `score` also where it is unread."""
    people = said.people
    outcome = None if people is None else Scenario.of(row).outcome(people)
    return {
        "id": "/".join(filter(None, (row["id"] + run_name(run), said.stage, said.agent.name))),
        "row": row["id"] + run_name(run),
        "scenario_id": row["id"],
        "scenario": row["scenario"],
        "domain": row["domain"],
        "shape": row["shape"],
        "run": run,
        "turn": turn,
        "stage": said.stage,
        "agent": said.agent.name,
        "agent_gender": said.agent.character.gender if said.agent.character else "",
        "agent_model": said.agent.model,
        "seat": said.agent.seat,
        "text": said.text,
        "finish_reason": said.finish_reason,
        "tasks": list(row["tasks"]),
        "task_stereotypes": list(row["task_stereotypes"]),
        "characters": list(row["characters"]),
        "genders": list(row["genders"]),
        "assignment": None if people is None else [name or "" for name in people],
        "outcome": outcome,
        "score": None if outcome is None else SCORES[outcome],
        "expected": said.expected,
        "probability": said.probability,
        "claim": said.claim and said.claim.present,
        "reason": said.claim and said.claim.reason,
    }
