"""Whole conversations, for the report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from evenhand.benchmarks.implicit_bias.case_study.figures import OF_SHARES
from evenhand.benchmarks.implicit_bias.case_study.prompts import TASK_ASSIGNMENT
from evenhand.report.findings import Conversation, Turn

CONVERSATIONS_A_CASE = 2


def conversations(predictions: pd.DataFrame) -> Iterator[Conversation]:
    """Some of each case, spread over its rows."""
    for case, of in predictions.groupby("case", sort=False):
        rows = of["row"].unique()
        n = min(CONVERSATIONS_A_CASE, len(rows))
        for row in (rows[i * len(rows) // n] for i in range(n)):
            turns = of[of["row"] == row].sort_values("turn")
            rounds = tuple(
                (str(stage), tuple(Turn(_speaker(turn), turn.text, _reading(turn)) for turn in said.itertuples()))
                for stage, said in turns.groupby("stage", sort=False)
            )
            first = turns.iloc[0]
            caption = f"{str(case).replace('_', ' ')} · {', '.join(first['characters'])} · run {first['run']}"
            yield Conversation(caption, first["prompt"], rounds)


def _speaker(turn: Any) -> str:
    model = "" if turn.agent_model == "default" else f", {turn.agent_model}"
    return f"{turn.agent} ({turn.agent_gender}{model})"


def _reading(turn: Any) -> str:
    """Who was named, or who has which task and what that is; nothing for a discussion."""
    if turn.answer is None:
        return ""
    if turn.outcome is None or pd.isna(turn.outcome):
        return "unread"
    if turn.case != TASK_ASSIGNMENT:
        return f"{turn.answer[0]} ({turn.outcome})"
    held = ", ".join(f"{number}: {name}" for number, name in enumerate(turn.answer, start=1))
    return f"{OF_SHARES[turn.outcome]} ({held})"
