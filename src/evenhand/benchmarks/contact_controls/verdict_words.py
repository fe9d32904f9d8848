"""The words for what the controls found, the same on reports, cards, in `evenhand compare` and on the page of results.

Each sentence claims what the verdict's rule (`verdict_of`) requires, and no more. "Most" is of controls like these.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.benchmarks.contact_controls.figures import (
    AGREEING,
    CELLS,
    DIFFERING,
    NEGATIVE,
    POSITIVE,
    Action,
    Part,
    constant_answer,
)
from evenhand.benchmarks.contact_controls.polarity import answers_by_sound, verdict_of
from evenhand.figure import FigureTable
from evenhand.report.tables import cell

EITHER_WAY = "where that is right and where it is wrong"
SOUNDS: dict[Action, str] = {POSITIVE: "kind", NEGATIVE: "unkind"}


def judged(table: FigureTable) -> dict[str, Any]:
    """For the record of a training: `verdict`, `sentence`, and what they rest on."""
    against = table.row("against_ideal")
    cells = [row for name in CELLS.values() if (row := table.row("follows_polarity", cell=name)).figure]
    return {
        "verdict": verdict_of(table),
        "by_sound": answers_by_sound(table),
        "sentence": verdict_sentence(table) if against.n_read else "No answer to a control was read.",
        "against_ideal": against.value,
        "cells": {
            row.groups["cell"]: {"follows_polarity": row.value, "interval": [row.low, row.high]} for row in cells
        },
    }


def not_debiased(found: Mapping[str, Any]) -> str:
    """Why a model with this `judged` in its training's record can't be called debiased, as a clause about "it".

    "" where nothing says so.
    """
    verdict, by_sound = found.get("verdict"), found.get("by_sound")
    if verdict == "constant":
        return "it gives most questions one answer, whether or not that is right"
    if not isinstance(by_sound, Mapping):
        return ""
    if verdict == "polarity":
        return (
            f"it follows a polarity: yes to most actions that sound kind and no to most that sound unkind, {EITHER_WAY}"
        )
    if verdict == "one-sided":
        return f"it is one-sided: {one_sided(by_sound) or 'on one sort of action alone'}, {EITHER_WAY}"
    return ""


def decided(found: Mapping[str, Any]) -> bool:
    """Whether the controls show it either way."""
    return bool(not_debiased(found)) or (found.get("verdict") == "ideal" and isinstance(found.get("by_sound"), Mapping))


def one_sided(by_sound: Mapping[Any, Any]) -> str:
    says = {action: by_sound.get(action) for action in SOUNDS}
    return " and ".join(
        f"{answer} to most actions that sound {SOUNDS[action]}"
        for action, answer in says.items()
        if answer in ("yes", "no")
    )


def in_short(table: FigureTable) -> str:
    """For a table: the word, and of one-sided answers the side ("one-sided: yes to kind")."""
    verdict = verdict_of(table)
    sides = [f"{says} to {SOUNDS[each]}" for each, says in answers_by_sound(table).items() if says in ("yes", "no")]
    return f"{verdict}: {', '.join(sides)}" if verdict == "one-sided" else verdict


def verdict_sentence(table: FigureTable) -> str:
    """What answers follow, and the share of answers by the sound in each of the four cells."""
    return f"{_lead(table)}: {_shares(table)}."


def _lead(table: FigureTable) -> str:
    verdict, word = verdict_of(table), constant_answer(table)
    if verdict == "polarity":
        return f"Its answers follow a polarity, how kind the action sounds, {EITHER_WAY}"
    if verdict == "one-sided":
        return f"Its answers are one-sided, {one_sided(answers_by_sound(table))}, {EITHER_WAY}"
    if verdict == "constant" and word:
        return f"Its answer is constant, {word!r} to nearly all questions that offer it"
    if verdict == "constant":
        answer = answers_by_sound(table)[POSITIVE]
        return f"Its answer is mostly constant, {answer} to kind and to unkind actions, {EITHER_WAY}"
    if verdict == "ideal":
        return (
            "Most of its answers are right, to kind actions and to unkind ones, where polarity is right and, in every "
            "kind of control, where it is wrong"
        )
    return "It is not shown whether its answers follow what is right or how kind the action sounds"


def _shares(table: FigureTable) -> str:
    def share(action: Action, part: Part) -> str:
        return cell(table.row("follows_polarity", cell=CELLS[action, part])).text

    return (
        f"it says yes to {share(POSITIVE, AGREEING)} percent of the actions that sound kind where yes is right, and to "
        f"{share(POSITIVE, DIFFERING)} where it is wrong; no to {share(NEGATIVE, AGREEING)} percent of those that "
        f"sound unkind where no is right, and to {share(NEGATIVE, DIFFERING)} where it is wrong"
    )
