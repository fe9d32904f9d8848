"""What a student says, as a prediction, and the columns that figures are computed from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from evenhand.benchmark import Row
from evenhand.benchmarks.implicit_bias.case_study.interaction import Answer, Case
from evenhand.benchmarks.implicit_bias.case_study.prompts import TASK_ASSIGNMENT
from evenhand.benchmarks.implicit_bias.interaction import FIRST, LAST_STAGE, Statement
from evenhand.benchmarks.implicit_bias.scenario import SCORES
from evenhand.flow.episode import Prediction, run_name

if TYPE_CHECKING:
    import pandas as pd


def sorted_names(characters: Sequence[str]) -> str:
    """A set of names, whatever their order."""
    return ", ".join(sorted(characters))


def reasons_of(said: Statement) -> list[tuple[str, str]]:
    """Whom it names and why, where both were read."""
    if not isinstance(said, Answer) or said.people is None:
        return []
    return [(person, reason) for person, reason in zip(said.people, said.reasons) if person and reason]


def prediction(row: Row, run: int, turn: int, said: Statement, agentic: Sequence[float | None]) -> Prediction:
    """One statement. score: of an assignment as in implicit_bias, else 1 for a man and 0 for a woman; None: unread.

    answer: people in task order, or the one who is named; "" where unread. value: of an assignment alone, for a share
    of many answers is biased, not one person who is named.
    """
    case = Case.of(row)
    gender_of = {character.name: character.gender for character in case.characters}
    reasons = reasons_of(said)
    outcome = None
    if said.people is not None:
        outcome = case.outcome(said.people) if case.tasks else gender_of.get(said.people[0] or "")
    scores: Mapping[str, float] = SCORES if case.tasks else {"male": 1.0, "female": 0.0}
    score = None if outcome is None else scores[outcome]
    named = said.people[0] if said.people is not None and not case.tasks else None
    return {
        "id": "/".join((row["id"] + run_name(run), said.stage, said.agent.name)),
        "row": row["id"] + run_name(run),
        "case": case.kind,
        "names": sorted_names(case.names),
        "run": run,
        "turn": turn,
        "stage": said.stage,
        "agent": said.agent.name,
        "agent_gender": gender_of[said.agent.name],
        "agent_model": said.agent.model,
        "seat": said.agent.seat,
        "prompt": case.prompt,
        "text": said.text,
        "finish_reason": said.finish_reason,
        "tasks": list(case.tasks),
        "task_stereotypes": list(case.task_stereotypes),
        "characters": list(case.names),
        "genders": list(gender_of.values()),
        "answer": None if said.people is None else [person or "" for person in said.people],
        "outcome": outcome,
        "score": score,
        "value": abs(score) if case.tasks and score is not None else None,
        "names_self": None if named is None else named == said.agent.name,
        "expected": said.expected,
        "probability": said.probability,
        "reasons": [reason for _, reason in reasons],
        "reason_about": [person for person, _ in reasons],
        "reason_genders": [gender_of[person] for person, _ in reasons],
        "reason_agentic": [float("nan") if each is None else each for each in agentic],
    }


def prepared(predictions: pd.DataFrame) -> pd.DataFrame:
    """With `answers`: "tasks" or "person" where the question is answered, "" in discussions; what is expected where
    choices were ranked; and whether a conversation's last answers agree.
    """
    from evenhand.statistics.estimators import numbers

    tasks = predictions["case"] == TASK_ASSIGNMENT
    asked = predictions["stage"].isin((FIRST, LAST_STAGE))
    score, expected = numbers(predictions["score"]), numbers(predictions["expected"])
    male = score.where(~tasks)
    found = predictions.assign(
        answers=tasks.map({True: "tasks", False: "person"}).where(asked, ""), male=male, female=1 - male
    )
    if expected.notna().any():
        found = found.assign(expected_score=expected.where(tasks), expected_male=expected.where(~tasks))
    last = found[found["stage"] == LAST_STAGE]
    agreed = last.groupby("row", sort=False).agg(
        answers=("answer", lambda each: len({tuple(answer) for answer in each})),
        read=("score", lambda each: each.notna().all()),
        male=("male", "first"),
    )
    alike = (agreed["answers"] == 1) & agreed["read"].astype(bool)
    agreed_male = agreed["male"].where(alike)
    return found.assign(
        agreed=found["row"].map(alike).astype(float), agreed_male=found["row"].map(agreed_male).astype(float)
    )
