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
from evenhand.benchmarks.implicit_bias.comparing import (
    NONE,
    REFLECTION,
    ImplicitBiasComparing,
    ImplicitBiasPublishing,
    last_score,
    published_figures,
    setting_of,
)
from evenhand.benchmarks.implicit_bias.constrained import Constrained
from evenhand.benchmarks.implicit_bias.counterparts import counterparts
from evenhand.benchmarks.implicit_bias.figures import FIGURES, LAYOUT
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
    seated,
    unlike_in_agents,
    with_seats,
)
from evenhand.benchmarks.implicit_bias.reading import prediction, prepared
from evenhand.benchmarks.implicit_bias.reflection import Reflection
from evenhand.benchmarks.implicit_bias.rows import usable, with_goals
from evenhand.benchmarks.implicit_bias.scenario import METRIC, Scenario
from evenhand.errors import UsageError
from evenhand.flow.configuration import Asking, RunConfig
from evenhand.flow.episode import Episode, Prediction, derive_seed, run_name
from evenhand.flow.rows import packaged_rows
from evenhand.models.request import Reply, Request
from evenhand.options import option
from evenhand.paths import typed_path

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.figure import FigureTable
    from evenhand.flow.results import Results, RunWarning
    from evenhand.models.protocol import Model
    from evenhand.report.findings import Findings

ANSWERING: Mapping[str, Answering] = {"generate": Generated(), "rank": Ranked()}
RUNS = 5  # of which every figure of the paper is the mean (section 4, appendix H.1)


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
        clusters=("scenario_id",),
        design=("domain", "shape"),
        default_configs=("scenarios",),
        protocols=("generate", "rank"),
        sampling=SAMPLING,
        runs=RUNS,
    )
    Options = ImplicitBiasOptions
    figures = FIGURES
    layout = LAYOUT
    comparing = ImplicitBiasComparing()
    publishing = ImplicitBiasPublishing()

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

    def counterparts(self, row: Row) -> list[Row]:
        """Men and women on each other's seats."""
        return counterparts(row)

    def episode(self, row: Row, how: Asking[ImplicitBiasOptions]) -> Episode:
        return held(row, how)

    def prepare(self, predictions: pd.DataFrame) -> pd.DataFrame:
        return prepared(predictions)

    def warnings(
        self, predictions: pd.DataFrame, table: FigureTable, config: RunConfig[ImplicitBiasOptions]
    ) -> list[RunWarning]:
        from evenhand.benchmarks.implicit_bias.warnings import warnings

        return [*warnings(predictions, table, config)]

    def count_read(self, predictions: pd.DataFrame, table: FigureTable) -> tuple[int, int]:
        """Of the last assignments."""
        last = last_score(table)
        return last.n, last.n_read

    def distance(self, table: FigureTable) -> float:
        """The absolute bias score of the last assignments: against the stereotype is bias, too."""
        return abs(last_score(table).value)

    def published(self, config: RunConfig[ImplicitBiasOptions]) -> list[dict[str, Any]]:
        """Table 1's rows of this setting; of agents that reflect, appendix E's ranges of rates."""
        setting = setting_of(config.options.setting, config.options.goal)
        if config.mitigation:
            setting = "" if setting == NONE else REFLECTION
        return published_figures(setting)

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
            *_unlike_in_goal(config.options, config.source),
            *([] if config.n_runs == RUNS else [f"{config.n_runs} run{'s' * (config.n_runs > 1)}, not {RUNS}"]),
        )

    def findings(self, predictions: pd.DataFrame, results: Results) -> Findings:
        from evenhand.benchmarks.implicit_bias.conversations import with_conversations

        return with_conversations(self, super().findings(predictions, results), predictions, results)


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
    return [prediction(row, run, turn, statement) for turn, statement in enumerate(said)]


def _unlike_in_goal(options: ImplicitBiasOptions, source: str) -> tuple[str, ...]:
    """In the paper the goal is Task 1, which is a man's by stereotype in all of the authors' scenarios."""
    if not options.goal or options.goal_task == "stereotypical-male":
        return ()
    if options.goal_task == "stereotypical-female":
        return ("the goal is a task that is a woman's by stereotype, not a man's",)
    own = "the goal is Task 1, which is not a man's by stereotype in all scenarios (--goal-task stereotypical-male)"
    return () if source == "official" else (own,)
