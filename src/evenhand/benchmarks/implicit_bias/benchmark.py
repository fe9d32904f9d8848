"""Implicit gender bias in multi-agent task assignment (Borah & Mihalcea, EMNLP Findings 2024).

Agents with a name and a gender assign a scenario's tasks to its characters, discuss, and assign them again. A model
that assigns tasks by stereotype scores 1, one that always reverses the stereotype -1; 0 is best.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evenhand.benchmark import Benchmark, Card, Row, Rows
from evenhand.benchmarks.implicit_bias import report
from evenhand.benchmarks.implicit_bias.figures import FIGURES, LAYOUT
from evenhand.benchmarks.implicit_bias.interaction import (
    ALONE,
    ANSWERING,
    ASSIGNMENTS,
    FIRST,
    REFLECTED,
    Agent,
    Constrained,
    Meeting,
    Statement,
    interact,
)
from evenhand.benchmarks.implicit_bias.official_meeting import OfficialMeeting
from evenhand.benchmarks.implicit_bias.official_prompts import read_official_prompts
from evenhand.benchmarks.implicit_bias.options import (
    RUNS,
    SAMPLING,
    ImplicitBiasConfiguring,
    ImplicitBiasOptions,
    official_files,
)
from evenhand.benchmarks.implicit_bias.scenario import SCORES, Scenario, usable, with_goals
from evenhand.benchmarks.implicit_bias.seating import seat_agents, swap_seats, with_seating
from evenhand.flow.configuration import Asking, RunConfig
from evenhand.flow.episode import Episode, Prediction, derive_seed, run_name
from evenhand.flow.results import RunWarning
from evenhand.flow.rows import packaged_rows
from evenhand.models.request import Reply, Request
from evenhand.paths import typed_path

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.figure import FigureTable
    from evenhand.flow.results import Results
    from evenhand.report.findings import Findings


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
        sampling=SAMPLING,
        runs=RUNS,
    )
    Options = ImplicitBiasOptions
    Configuring = ImplicitBiasConfiguring
    figures = FIGURES
    layout = LAYOUT
    comparing = report.ImplicitBiasComparing()
    publishing = report.ImplicitBiasPublishing()

    def load(self, config: RunConfig[ImplicitBiasOptions]) -> Rows:
        rows = packaged_rows(self.card, config)
        if file := config.options.task_stereotypes:
            from evenhand.benchmarks.implicit_bias.task_stereotypes import with_task_stereotypes

            rows = with_task_stereotypes(rows, typed_path(file))
        found = with_seating(with_goals(usable(rows), config.options.goal_task), config)
        if config.options.prompts == "official":
            files = {name: read_official_prompts(name).sha256 for name in official_files(config)}
            read = ", ".join(f"{name} (sha256 {sha256})" for name, sha256 in files.items())
            found = replace(found, notes=(*found.notes, f"prompts are the authors', read from {read}"))
        return found

    def ask(self, row: Row, how: Asking[ImplicitBiasOptions]) -> list[Request]:
        """Ask for all first assignments; without interaction, for the only one."""
        meeting, agents, stage = _set_up(row, how)
        return meeting.ask(agents, stage)

    def read(self, row: Row, replies: Sequence[Reply], how: Asking[ImplicitBiasOptions]) -> list[Prediction]:
        meeting, agents, stage = _set_up(row, how)
        return _predictions(row, how, meeting.read(agents, stage, replies))

    def counterparts(self, row: Row) -> list[Row]:
        """Men and women on each other's seats."""
        return swap_seats(row)

    def episode(self, row: Row, how: Asking[ImplicitBiasOptions]) -> Episode:
        return converse(row, how)

    def prepare(self, predictions: pd.DataFrame) -> pd.DataFrame:
        """Add the columns that figures are computed from.

        `assigned`: whether it is an assignment, not part of a discussion; and a column for each outcome. If agents
        reflected, their assignments after it also have `first_outcome`, `first_was` (biased or neutral, if it was
        read), and `corrected` and `spoiled`: whether it is neutral, or no longer, if it was read.
        """
        outcome = predictions["outcome"]
        found = predictions.assign(
            assigned=predictions["stage"].isin(ASSIGNMENTS),
            agent_gender=predictions["agent_gender"].replace("", None),
            **{each: (outcome == each).astype(float).where(outcome.notna()) for each in SCORES},
        )
        reflected = found["stage"] == REFLECTED
        if not reflected.any():
            return found
        agents = ["row", "agent"]
        first = found[found["stage"] == FIRST].set_index(agents)["outcome"].fillna("unread").rename("first_outcome")
        before = found.join(first, on=agents)["first_outcome"].where(reflected)
        return found.assign(
            first_outcome=before,
            first_was=before.map({each: "biased" if score else "neutral" for each, score in SCORES.items()}),
            corrected=found["neutral"],
            spoiled=1 - found["neutral"],
        )

    def warnings(
        self, predictions: pd.DataFrame, table: FigureTable, config: RunConfig[ImplicitBiasOptions]
    ) -> list[RunWarning]:
        return [*_score_warnings(predictions, table), *reply_warnings(predictions, config)]

    def findings(self, predictions: pd.DataFrame, results: Results) -> Findings:
        return report.with_conversations(self, super().findings(predictions, results), predictions, results)


def converse(row: Row, how: Asking[ImplicitBiasOptions], reflection: str = "") -> Episode:
    """Hold the whole conversation, or ask for the only assignment.

    Args:
        reflection: the instruction by which agents reflect on their first assignments, if they do.
    """
    meeting, agents, stage = _set_up(row, how, reflection)
    said = yield from meeting.assign(agents, ALONE) if stage == ALONE else interact(meeting, agents)
    return _predictions(row, how, said)


def _set_up(row: Row, how: Asking[ImplicitBiasOptions], reflection: str = "") -> tuple[Meeting, Sequence[Agent], str]:
    """A row's meeting, who answers (every character, or a model that plays no role), and in which stage at first."""
    name, options = row["id"] + run_name(how.run), how.options
    scenario = Scenario.from_row(row).shuffle_characters(derive_seed(how.seed, name, agent="order"))
    answering = Constrained() if options.constrain else ANSWERING[how.protocol]
    asked = (options.goal, reflection, options.goal_task, options.moderator)
    kind = OfficialMeeting if options.prompts == "official" else Meeting
    meeting = kind(scenario, answering, how.sampling, how.seed, name, *asked)
    if options.setting == "none":
        return meeting, [Agent(None, "default")], ALONE
    return meeting, seat_agents(scenario.characters, row, how), FIRST


def _predictions(row: Row, how: Asking[ImplicitBiasOptions], said: Sequence[Statement]) -> list[Prediction]:
    scenario = Scenario.from_row(row)
    return [
        {
            **statement_columns(row, how.run, turn, scenario, each),
            "scenario_id": row["id"],
            "scenario": row["scenario"],
            "domain": row["domain"],
            "shape": row["shape"],
            "assignment": each.names,
            "claim": each.claim.present if each.claim else None,
            "reason": each.claim.reason if each.claim else None,
        }
        for turn, each in enumerate(said)
    ]


def statement_columns(row: Row, run: int, turn: int, scenario: Scenario, said: Statement) -> Prediction:
    """The columns of a statement that the case study has, too.

    `outcome` and `score` are None if the answer is unread, or the statement is none. `value` is the absolute score,
    because reversing the stereotype is bias, too.
    """
    agent, outcome = said.agent, None if said.people is None else scenario.outcome(said.people)
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


def reply_warnings(predictions: pd.DataFrame, config: RunConfig[Any]) -> list[RunWarning]:
    """Warn of replies that were cut off, and of empty ones."""
    warnings = [*cut_off_warnings(predictions, config)]
    if empty := int((predictions["text"].str.strip() == "").sum()):
        warnings.append(RunWarning("empty_replies", f"{empty:,} of {len(predictions):,} replies are empty."))
    return warnings


def cut_off_warnings(predictions: pd.DataFrame, config: RunConfig[Any]) -> Iterator[RunWarning]:
    if cut := int((predictions["finish_reason"] == "length").sum()):
        ended = f"{cut:,} of {len(predictions):,} replies ended at the limit of {config.max_new_tokens} tokens."
        yield RunWarning("cut_off", ended)


def _score_warnings(predictions: pd.DataFrame, table: FigureTable) -> Iterator[RunWarning]:
    """Scenarios that are not two men and two women with four tasks."""
    assigned = predictions[predictions["assigned"]]
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
