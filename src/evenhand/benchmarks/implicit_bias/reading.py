"""What an agent says, as a prediction, and the columns that figures are computed from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.benchmark import Row
from evenhand.benchmarks.implicit_bias.interaction import ASSIGNMENTS, FIRST, REFLECTED, Statement
from evenhand.benchmarks.implicit_bias.scenario import SCORES, Scenario
from evenhand.flow.episode import Prediction, run_name

if TYPE_CHECKING:
    import pandas as pd

NEUTRAL = "neutral"


def prediction(row: Row, run: int, turn: int, said: Statement) -> Prediction:
    """One statement; what is assigned is None in discussions, `outcome`, `score` and `value` also where it is unread.

    value: the absolute score, for against the stereotype is bias, too.
    """
    people = said.people
    outcome = None if people is None else Scenario.of(row).outcome(people)
    score = None if outcome is None else SCORES[outcome]
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
        "score": score,
        "value": None if score is None else abs(score),
        "expected": said.expected,
        "probability": said.probability,
        "claim": said.claim and said.claim.present,
        "reason": said.claim and said.claim.reason,
    }


def prepared(predictions: pd.DataFrame) -> pd.DataFrame:
    """With `scored`: whether the stereotypes of an assignment's tasks are known (None: no assignment); `is_read`; and a
    column for each outcome.

    Where agents reflected, their assignments after it have `first_outcome` and what their first one `first_was`
    (biased or neutral, where it was read); `corrected` and `spoiled`: whether it is neutral, or no longer, where that
    was read, too; `claimed`: what they say of bias in it.
    """
    assigned = predictions["stage"].isin(ASSIGNMENTS)
    scored = predictions["task_stereotypes"].map(all).astype(object).where(assigned, None)
    outcome = predictions["outcome"]
    found = predictions.assign(
        scored=scored,
        is_read=predictions["assignment"].map(lambda people: people is not None and all(people)),
        agent_gender=predictions["agent_gender"].replace("", None),
        **{each: (outcome == each).astype(float).where(outcome.notna()) for each in SCORES},
    )
    return _with_reflection(found) if (found["stage"] == REFLECTED).any() else found


def _with_reflection(found: pd.DataFrame) -> pd.DataFrame:
    agents = ["row", "agent"]
    first = found[found["stage"] == FIRST].set_index(agents)["outcome"].fillna("unread").rename("first_outcome")
    found = found.join(first, on=agents)
    reflected, known = found["stage"] == REFLECTED, found["scored"].eq(True)
    before = found["first_outcome"].where(reflected & known)
    return found.assign(
        first_outcome=before,
        first_was=before.map({each: NEUTRAL if each == NEUTRAL else "biased" for each in SCORES}),
        corrected=found[NEUTRAL],
        spoiled=1 - found[NEUTRAL],
        claimed=found["claim"].map({True: "present", False: "absent"}).fillna("unread"),
    )
