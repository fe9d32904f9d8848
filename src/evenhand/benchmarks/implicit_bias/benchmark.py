"""Implicit gender bias in multi-agent task assignment (Borah & Mihalcea, EMNLP Findings 2024).

Agents with a name and a gender assign a scenario's tasks to its characters, discuss, and assign them again. A model
that assigns tasks by stereotype scores 1, one that always reverses the stereotype -1; 0 is best.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from evenhand.benchmark import Benchmark, Card, Row, Rows
from evenhand.benchmarks.forced_format import check_constraining
from evenhand.benchmarks.implicit_bias import comparing as compared
from evenhand.benchmarks.implicit_bias import interaction, play
from evenhand.benchmarks.implicit_bias.figures import FIGURES, LAYOUT
from evenhand.benchmarks.implicit_bias.interaction import (
    ALONE,
    ASSIGNMENTS,
    FIRST,
    REFLECTED,
    Agent,
    Meeting,
    Statement,
)
from evenhand.benchmarks.implicit_bias.scenario import SCORES, Scenario, usable, with_goals
from evenhand.errors import UsageError
from evenhand.flow.configuration import Asking, RunConfig
from evenhand.flow.episode import Episode, Prediction, derive_seed, run_name
from evenhand.flow.results import RunWarning
from evenhand.flow.rows import packaged_rows
from evenhand.models.request import Reply, Request
from evenhand.options import option
from evenhand.paths import typed_path

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.figure import FigureRow, FigureTable
    from evenhand.flow.results import Results
    from evenhand.models.protocol import Model
    from evenhand.report.findings import Findings

RUNS = 5  # every figure of the paper is a mean of five (section 4, appendix H.1)


@dataclass(frozen=True)
class ImplicitBiasOptions(play.PlayOptions):
    setting: Literal["none", "interaction"] = option("interaction", "whether agents discuss")
    moderator: bool = option(
        False, "without interaction, the published code's system message: the model is a moderator"
    )
    task_stereotypes: str | None = option(
        None,
        "stereotypes of tasks that have none, as in the published test set (columns id, task, stereotype)",
        metavar="FILE",
    )
    constrain: bool = option(False, "constrain written assignments to JSON by a schema, of models that support it")


class ImplicitBiasConfiguring(play.PlayConfiguring[ImplicitBiasOptions]):
    def check(self, config: RunConfig[ImplicitBiasOptions], models: Mapping[str, Model] | None = None) -> None:
        super().check(config)
        options, ranked, alone = config.options, config.protocol == "rank", config.options.setting == "none"
        if options.goal and alone:
            raise UsageError("--goal is what agents are told before they discuss: it needs --setting interaction")
        if options.moderator and not alone:
            raise UsageError("--moderator is for a model that plays no character: it needs --setting none")
        if options.agents and alone:
            raise UsageError("--agents are models that discuss: they need --setting interaction")
        if options.constrain and ranked:
            raise UsageError("--constrain has no effect on ranked assignments: use --protocol generate")
        for name in ("temperature", "top_p", "max_new_tokens") if alone and ranked else ():
            if getattr(config, name) != getattr(self.card.sampling, name):
                flag = f"--{name.replace('_', '-')}"
                raise UsageError(f"{flag} has no effect: --protocol rank without interaction writes nothing")
        if models and options.constrain:
            check_constraining(models, "leave it out, or take --protocol rank, which leaves nothing unread either")

    def differs(self, config: RunConfig[ImplicitBiasOptions]) -> tuple[str, ...]:
        """The paper runs its mitigations in every setting."""
        options = config.options
        others = [name for name in config.configs if name != "scenarios"]
        return (
            *([f"{', '.join(others)}: scenarios that Table 1 is not of"] if others else []),
            *([] if config.source == "official" else ["scenarios of ours in place of the authors'"]),
            *config.unlike(self.card),
            *(["the assignments' format forced by a schema"] if options.constrain else []),
            *(["a model that is told to be a moderator"] if options.moderator else []),
            *super().differs(config),
            *(_differs_in_goal(options, config.source) if options.goal else ()),
            *([] if config.n_runs == RUNS else [f"{config.n_runs} run{'s' * (config.n_runs > 1)}, not {RUNS}"]),
        )


class ImplicitBias(Benchmark[ImplicitBiasOptions]):
    card = Card(
        name="implicit_bias",
        title="Implicit bias in multi-agent task assignment",
        paper="Borah & Mihalcea, Towards Implicit Bias Detection and Mitigation (EMNLP Findings 2024)",
        dataset="implicit_bias",
        configs=("scenarios", "test"),
        metric="implicit_bias_score",
        clusters=("scenario_id",),
        design=("domain", "shape"),
        default_configs=("scenarios",),
        protocols=("generate", "rank"),
        sampling=play.SAMPLING,
        runs=RUNS,
    )
    Options = ImplicitBiasOptions
    Configuring = ImplicitBiasConfiguring
    figures = FIGURES
    layout = LAYOUT
    comparing = compared.ImplicitBiasComparing()
    publishing = compared.ImplicitBiasPublishing()

    def load(self, config: RunConfig[ImplicitBiasOptions]) -> Rows:
        from evenhand.benchmarks.implicit_bias.task_stereotypes import with_task_stereotypes

        rows = packaged_rows(self.card, config)
        notes: tuple[str, ...] = ()
        if config.options.task_stereotypes:
            rows, notes = with_task_stereotypes(rows, typed_path(config.options.task_stereotypes))
        return play.with_seats(with_goals(usable(rows, notes), config.options.goal_task), config)

    def ask(self, row: Row, how: Asking[ImplicitBiasOptions]) -> list[Request]:
        """Ask for all first assignments; without interaction, for the only one."""
        meeting, agents, stage = _set_up(row, how)
        return meeting.ask(agents, stage)

    def read(self, row: Row, replies: Sequence[Reply], how: Asking[ImplicitBiasOptions]) -> list[Prediction]:
        meeting, agents, stage = _set_up(row, how)
        said = meeting.read(agents, stage, replies)
        return [prediction(row, how.run, turn, each) for turn, each in enumerate(said)]

    def counterparts(self, row: Row) -> list[Row]:
        """Men and women on each other's seats."""
        return play.swap_seats(row)

    def episode(self, row: Row, how: Asking[ImplicitBiasOptions]) -> Episode:
        return converse(row, how)

    def prepare(self, predictions: pd.DataFrame) -> pd.DataFrame:
        """Add the columns that figures are computed from.

        `scored`: whether the stereotypes of an assignment's tasks are known (None: no assignment); `is_read`; and a
        column for each outcome. If agents reflected, their assignments after it also have `first_outcome`, `first_was`
        (biased or neutral, if it was read), and `corrected` and `spoiled`: whether it is neutral, or no longer, if it
        was read.
        """
        assigned = predictions["stage"].isin(ASSIGNMENTS)
        outcome = predictions["outcome"]
        found = predictions.assign(
            scored=predictions["task_stereotypes"].map(all).astype(object).where(assigned, None),
            is_read=predictions["assignment"].map(lambda people: people is not None and all(people)),
            agent_gender=predictions["agent_gender"].replace("", None),
            **{each: (outcome == each).astype(float).where(outcome.notna()) for each in SCORES},
        )
        reflected = found["stage"] == REFLECTED
        if not reflected.any():
            return found
        agents = ["row", "agent"]
        first = found[found["stage"] == FIRST].set_index(agents)["outcome"].fillna("unread").rename("first_outcome")
        found = found.join(first, on=agents)
        before = found["first_outcome"].where(reflected & found["scored"].eq(True))
        return found.assign(
            first_outcome=before,
            first_was=before.map({each: "biased" if score else "neutral" for each, score in SCORES.items()}),
            corrected=found["neutral"],
            spoiled=1 - found["neutral"],
        )

    def warnings(
        self, predictions: pd.DataFrame, table: FigureTable, config: RunConfig[ImplicitBiasOptions]
    ) -> list[RunWarning]:
        return [*_score_warnings(predictions, table), *play.reply_warnings(predictions, config)]

    def main_rows(self, table: FigureTable) -> list[FigureRow]:
        """The bias score of the last assignments, or of the only ones."""
        last = compared.last_score(table)
        return [last] if last.figure else []

    def published(self, config: RunConfig[ImplicitBiasOptions]) -> list[dict[str, Any]]:
        """Table 1's rows of this setting; for agents that reflect, appendix E's ranges of rates."""
        setting = compared.GOAL if config.options.goal else config.options.setting
        if config.mitigation:
            setting = "" if setting == compared.NONE else compared.REFLECTION
        return compared.published_figures(setting)

    def findings(self, predictions: pd.DataFrame, results: Results) -> Findings:
        from evenhand.benchmarks.implicit_bias.conversations import with_conversations

        return with_conversations(self, super().findings(predictions, results), predictions, results)


def converse(row: Row, how: Asking[ImplicitBiasOptions], reflection: str = "") -> Episode:
    """Hold the whole conversation, or ask for the only assignment.

    Args:
        reflection: the instruction by which agents reflect on their first assignments, if they do.
    """
    meeting, agents, stage = _set_up(row, how, reflection)
    said = yield from meeting.assign(agents, ALONE) if stage == ALONE else interaction.interact(meeting, agents)
    return [prediction(row, how.run, turn, each) for turn, each in enumerate(said)]


def prediction(row: Row, run: int, turn: int, said: Statement) -> Prediction:
    """One statement; `assignment` is None in discussions."""
    return {
        **play.statement_columns(row, run, turn, Scenario.from_row(row), said),
        "scenario_id": row["id"],
        "scenario": row["scenario"],
        "domain": row["domain"],
        "shape": row["shape"],
        "assignment": play.names_read(said),
        "claim": said.claim and said.claim.present,
        "reason": said.claim and said.claim.reason,
    }


def _set_up(row: Row, how: Asking[ImplicitBiasOptions], reflection: str = "") -> tuple[Meeting, Sequence[Agent], str]:
    """A row's meeting, who answers (every character, or a model that plays no role), and in which stage at first."""
    name, options = row["id"] + run_name(how.run), how.options
    scenario = Scenario.from_row(row).shuffle_characters(derive_seed(how.seed, name, agent="order"))
    answering = interaction.Constrained() if options.constrain else interaction.ANSWERING[how.protocol]
    asked = (options.goal, reflection, options.goal_task, options.moderator)
    meeting = Meeting(scenario, answering, how.sampling, how.seed, name, *asked)
    if options.setting == "none":
        return meeting, [Agent(None, "default")], ALONE
    return meeting, play.seat_agents(scenario.characters, row, how), FIRST


def _score_warnings(predictions: pd.DataFrame, table: FigureTable) -> Iterator[RunWarning]:
    """Assignments without a score, and scenarios that are not two men and two women with four tasks."""
    unscored = table.row("unscored")
    if unscored.n:
        scenarios = unscored.n_clusters_asked
        yield RunWarning(
            "unscored",
            f"{unscored.n:,} assignments of {scenarios:,} scenario{'s' * (scenarios != 1)} are in no figure, because "
            f"the stereotypes of their tasks are not known ({unscored.n_read:,} were read). Give them with "
            "--task-stereotypes FILE.",
        )
    assigned = predictions[predictions["scored"].eq(True)]
    n = len(assigned)
    if other := int((assigned["tasks"].map(len) != assigned["characters"].map(len)).sum()):
        yield RunWarning("uneven_tasks", f"Characters and tasks differ in number in {other:,} of {n:,} assignments.")
    if alone := int(assigned["genders"].map(lambda genders: len(set(genders)) < 2).sum()):
        yield RunWarning(
            "one_gender", f"In {alone:,} of {n:,} assignments all characters are of one gender: these are neutral."
        )
    for chance in dict.fromkeys(row.chance for row in table.rows("bias_score", "stage")):
        if chance:
            yield RunWarning("chance_not_zero", f"Random assignments score {chance:+.2f}, not 0: compare with that.")


def _differs_in_goal(options: ImplicitBiasOptions, source: str) -> tuple[str, ...]:
    """In the paper the goal is Task 1, which is stereotypically male in all of the authors' scenarios."""
    if options.goal_task == "stereotypical-female":
        return ("the goal is a task that is a woman's by stereotype, not a man's",)
    if options.goal_task == "stereotypical-male" or source == "official":
        return ()
    return ("the goal is Task 1, which is not a man's by stereotype in all scenarios (--goal-task stereotypical-male)",)
