"""What a report shows besides the figures: whole conversations, single assignments, and reasons that agents give."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from evenhand.benchmarks.implicit_bias.comparing import last_score
from evenhand.benchmarks.implicit_bias.figures import DIGITS, OF_SHARES
from evenhand.benchmarks.implicit_bias.interaction import ALONE, REFLECTED
from evenhand.benchmarks.implicit_bias.scenario import GoalTask, wanted_task
from evenhand.flow.results import Results
from evenhand.report.findings import Conversation, Example, Findings, Turn
from evenhand.report.layout import figure_sentence
from evenhand.report.tables import Cell, Table, signed
from evenhand.statistics.resampling import LEVEL

if TYPE_CHECKING:
    from evenhand.benchmark import Benchmark

CONVERSATIONS, REASONS = 6, 24
FORCED = (
    "The format of assignments was forced (--constrain): they were asked for as JSON by a schema that names the "
    "characters for each task, and only what keeps to it is read."
)
KINDS = {
    "first": "first task",
    "stereotypical-male": "first task that is stereotypically male",
    "stereotypical-female": "first task that is stereotypically female",
}


def with_conversations(
    benchmark: Benchmark[Any], found: Findings, predictions: pd.DataFrame, results: Results
) -> Findings:
    """What the layout shows, and what is said in conversations."""
    last, alone = last_score(results.figures), (predictions["stage"] == ALONE).any()
    reasons = _reasons(predictions)
    return replace(
        found,
        sentences=(
            *([figure_sentence(benchmark, results, last)] if last.n_read else found.sentences),
            *([_goal(predictions, results)] if results.option("goal") else []),
            *([FORCED] if results.option("constrain") else []),
            *([] if alone or not last.figure else [_changed(results)]),
        ),
        exploratory=(*found.exploratory, *([reasons] if reasons.rows else [])),
        examples=tuple(_examples(predictions)) if alone else (),
        conversations=() if alone else tuple(_conversations(predictions)),
    )


def _goal(predictions: pd.DataFrame, results: Results) -> str:
    """Which task is the goal, and how often it is a man's by stereotype; in the paper it always is."""
    kind: GoalTask = results.option("goal_task") or "first"
    stereotypes = predictions.drop_duplicates("scenario_id")["task_stereotypes"]
    wanted = [of[wanted_task(of, kind) - 1] for of in stereotypes]
    men, known = wanted.count("male"), sum(map(bool, wanted))
    unknown = f", not known of {len(wanted) - known:,} more" if known < len(wanted) else ""
    return (
        f"Each agent was told in private to want the {KINDS[kind]}: a man's by stereotype in {men:,} of "
        f"{known:,} scenarios{unknown}, in the paper in all."
    )


def _changed(results: Results) -> str:
    """Significant where both the interval and the test say so."""
    change, p = (results.figures.row(key) for key in ("change", "change_p_value"))
    if not change.n_read:
        return "No agent's first and last assignments were both read: there is no change between them to report."
    found = change.interval is not None and not change.low <= 0 <= change.high and p.value < LEVEL
    value = signed(change.value, [change.low, change.high], DIGITS)
    told = "" if found else "; not significant"
    return f"The score changed by {value} between first and last assignments ({change.n_read:,} pairs{told})."


def _reasons(predictions: pd.DataFrame) -> Table:
    """Why agents say that bias is present or absent, spread over the rows."""
    given = predictions[(predictions["stage"] == REFLECTED) & predictions["claim"].notna()]
    given = given[given["reason"].fillna("").str.strip() != ""]
    rows = tuple(
        tuple(map(Cell, (str(row.id), _outcome(row.first_outcome), "present" if row.claim else "absent", row.reason)))
        for row in _spread(given, REASONS).itertuples()
    )
    note = f"{len(rows):,} of {len(given):,} reasons; all are in predictions.parquet, column reason."
    return Table("Reasons that agents give", ("agent", "first assignment", "says that bias is", "reason"), rows, note)


def _examples(predictions: pd.DataFrame) -> Iterator[Example]:
    for row in _spread(predictions).itertuples():
        yield Example(f"{row.domain} · {row.shape} · run {row.run}", _matter(row), row.text, _reading(row))


def _conversations(predictions: pd.DataFrame) -> Iterator[Conversation]:
    """Whole conversations, spread over the rows."""
    for chosen in _spread(predictions.drop_duplicates("row")).itertuples():
        turns = predictions[predictions["row"] == chosen.row].sort_values("turn")
        rounds = tuple(
            (str(stage), tuple(Turn(_speaker(turn), turn.text, _reading(turn)) for turn in of.itertuples()))
            for stage, of in turns.groupby("stage", sort=False)
        )
        yield Conversation(f"{chosen.domain} · {chosen.shape} · run {chosen.run}", _matter(chosen), rounds)


def _spread(rows: pd.DataFrame, most: int = CONVERSATIONS) -> pd.DataFrame:
    n = min(most, len(rows))
    return rows.iloc[[i * len(rows) // n for i in range(n)]]


def _speaker(turn: Any) -> str:
    model = "" if turn.agent_model == "default" else f", {turn.agent_model}"
    return f"{turn.agent} ({turn.agent_gender}{model})"


def _matter(row: Any) -> str:
    """The scenario in one paragraph, each task with its stereotype."""
    tasks = " ".join(
        f"{number}. {re.sub(r'[.]$', '', task)} [{stereotype or 'not known'}]"
        for number, (task, stereotype) in enumerate(zip(row.tasks, row.task_stereotypes), start=1)
    )
    people = ", ".join(f"{name} ({gender})" for name, gender in zip(row.characters, row.genders))
    return f"{row.scenario} — {tasks} — {people}"


def _reading(row: Any) -> str:
    """An assignment as it was read: who has which task, and what that is; nothing for a discussion."""
    if row.assignment is None:
        return ""
    outcome = _outcome(row.outcome) if all(row.task_stereotypes) or not all(row.assignment) else "not scored"
    held = ", ".join(f"{number}: {name}" for number, name in enumerate(row.assignment, start=1))
    return outcome if outcome == "unread" else f"{outcome} ({held})"


def _outcome(outcome: str | None) -> str:
    return "unread" if outcome is None or pd.isna(outcome) else OF_SHARES.get(outcome, outcome)
