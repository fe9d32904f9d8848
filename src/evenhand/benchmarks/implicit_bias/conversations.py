"""What a report shows besides the figures: whole conversations, single assignments, and reasons that agents give."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
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


def show_conversations(
    predictions: pd.DataFrame,
    n: int,
    caption: Callable[[Any], str],
    matter: Callable[[Any], str],
    reading: Callable[[Any], str],
) -> Iterator[Conversation]:
    """Lay out n whole conversations, spread over the rows; caption, matter and reading: of a prediction."""
    for first in spread_rows(predictions.drop_duplicates("row"), n).itertuples():
        turns = predictions[predictions["row"] == first.row].sort_values("turn")
        rounds = tuple(
            (str(stage), tuple(Turn(_speaker(turn), turn.text, reading(turn)) for turn in said.itertuples()))
            for stage, said in turns.groupby("stage", sort=False)
        )
        yield Conversation(caption(first), matter(first), rounds)


def spread_rows(rows: pd.DataFrame, most: int) -> pd.DataFrame:
    n = min(most, len(rows))
    return rows.iloc[[i * len(rows) // n for i in range(n)]]


def _speaker(turn: Any) -> str:
    model = "" if turn.agent_model == "default" else f", {turn.agent_model}"
    return f"{turn.agent} ({turn.agent_gender}{model})"


def number_tasks(people: Any) -> str:
    return ", ".join(f"{number}: {name}" for number, name in enumerate(people, start=1))


# The scenarios of the main benchmark


def with_conversations(
    benchmark: Benchmark[Any], found: Findings, predictions: pd.DataFrame, results: Results
) -> Findings:
    """Add conversations and reasons to what the layout shows, or answers if there was no interaction."""
    last, alone = last_score(results.figures), (predictions["stage"] == ALONE).any()
    reasons = _reasons(predictions)
    answers = spread_rows(predictions, CONVERSATIONS).itertuples() if alone else ()
    talks = () if alone else show_conversations(predictions, CONVERSATIONS, _caption, _matter, _reading)
    return replace(
        found,
        sentences=(
            *([figure_sentence(benchmark, results, last)] if last.n_read else found.sentences),
            *([_goal(predictions, results)] if results.option("goal") else []),
            *([FORCED] if results.option("constrain") else []),
            *([] if alone or not last.figure else [_change(results)]),
        ),
        exploratory=(*found.exploratory, *([reasons] if reasons.rows else [])),
        examples=tuple(Example(_caption(row), _matter(row), row.text, _reading(row)) for row in answers),
        conversations=tuple(talks),
    )


def _goal(predictions: pd.DataFrame, results: Results) -> str:
    """Say which task is the goal, and how often it is stereotypically male; in the paper it always is."""
    kind: GoalTask = results.option("goal_task") or "first"
    stereotypes = predictions.drop_duplicates("scenario_id")["task_stereotypes"]
    wanted = [of[wanted_task(of, kind) - 1] for of in stereotypes]
    men, known = wanted.count("male"), sum(map(bool, wanted))
    unknown = f", not known of {len(wanted) - known:,} more" if known < len(wanted) else ""
    return (
        f"Each agent was told in private to want the {KINDS[kind]}: a man's by stereotype in {men:,} of "
        f"{known:,} scenarios{unknown}, in the paper in all."
    )


def _change(results: Results) -> str:
    """Significant if both the interval and the test say so."""
    change, p = (results.figures.row(key) for key in ("change", "change_p_value"))
    if not change.n_read:
        return "No agent's first and last assignments were both read: there is no change between them to report."
    found = change.interval is not None and not change.low <= 0 <= change.high and p.value < LEVEL
    value = signed(change.value, [change.low, change.high], DIGITS)
    doubt = "" if found else "; not significant"
    return f"The score changed by {value} between first and last assignments ({change.n_read:,} pairs{doubt})."


def _reasons(predictions: pd.DataFrame) -> Table:
    """Why agents say that bias is present or absent, spread over the rows."""
    given = predictions[(predictions["stage"] == REFLECTED) & predictions["claim"].notna()]
    given = given[given["reason"].fillna("").str.strip() != ""]
    rows = tuple(
        tuple(map(Cell, (str(row.id), _outcome(row.first_outcome), "present" if row.claim else "absent", row.reason)))
        for row in spread_rows(given, REASONS).itertuples()
    )
    note = f"{len(rows):,} of {len(given):,} reasons; all are in predictions.parquet, column reason."
    return Table("Reasons that agents give", ("agent", "first assignment", "says that bias is", "reason"), rows, note)


def _caption(row: Any) -> str:
    return f"{row.domain} · {row.shape} · run {row.run}"


def _matter(row: Any) -> str:
    """The scenario in one paragraph, each task with its stereotype."""
    tasks = " ".join(
        f"{number}. {re.sub(r'[.]$', '', task)} [{stereotype or 'not known'}]"
        for number, (task, stereotype) in enumerate(zip(row.tasks, row.task_stereotypes), start=1)
    )
    people = ", ".join(f"{name} ({gender})" for name, gender in zip(row.characters, row.genders))
    return f"{row.scenario} — {tasks} — {people}"


def _reading(row: Any) -> str:
    """An assignment as it was read, with its outcome; nothing for a discussion."""
    if row.assignment is None:
        return ""
    outcome = _outcome(row.outcome) if all(row.task_stereotypes) or not all(row.assignment) else "not scored"
    return outcome if outcome == "unread" else f"{outcome} ({number_tasks(row.assignment)})"


def _outcome(outcome: str | None) -> str:
    return "unread" if outcome is None or pd.isna(outcome) else OF_SHARES.get(outcome, outcome)
