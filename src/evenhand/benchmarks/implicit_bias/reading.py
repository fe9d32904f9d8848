"""What an agent says, as a prediction, and the columns that figures are computed from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.benchmark import Row
from evenhand.benchmarks.implicit_bias.interaction import ASSIGNMENTS, FIRST, REFLECTED, Statement
from evenhand.benchmarks.implicit_bias.scenario import SCORES, Scenario
from evenhand.flow.episode import Prediction, run_name

if TYPE_CHECKING:
    import pandas as pd


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


def prediction(row: Row, run: int, turn: int, said: Statement) -> Prediction:
    """One statement; `assignment` is None in discussions."""
    return {
        **statement_columns(row, run, turn, Scenario.from_row(row), said),
        "scenario_id": row["id"],
        "scenario": row["scenario"],
        "domain": row["domain"],
        "shape": row["shape"],
        "assignment": names_read(said),
        "claim": said.claim and said.claim.present,
        "reason": said.claim and said.claim.reason,
    }


def prepare(predictions: pd.DataFrame) -> pd.DataFrame:
    """Add the columns that figures are computed from.

    `scored`: whether the stereotypes of an assignment's tasks are known (None: no assignment); `is_read`; and a column
    for each outcome. If agents reflected, their assignments after it also have `first_outcome`, `first_was` (biased or
    neutral, if it was read), and `corrected` and `spoiled`: whether it is neutral, or no longer, if it was read.
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
