"""What do answers follow: what is right, how kind the action sounds, that for one sound alone, or nothing?

The words for it are the same in reports, cards, `evenhand compare` and RESULTS.md. Each sentence claims what the
verdict's rule (`verdict_of`) requires, and no more. "Most" is of controls like these.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from evenhand.benchmarks.contact_controls.figures import (
    AGREEING,
    CELLS,
    DIFFERING,
    NEGATIVE,
    POSITIVE,
    Action,
    constant_answer,
)
from evenhand.figure import FigureRow, FigureTable
from evenhand.report.tables import cell

Verdict = Literal["ideal", "polarity", "one-sided", "constant", "undecided"]
BySound = Literal["right", "yes", "no", "open"]
HALF = 50.0
SOUNDS: dict[Action, str] = {POSITIVE: "kind", NEGATIVE: "unkind"}
# How actions of a sound are answered, by where answers lie that follow the sound: above or below a half, where the
# sound is right and where it is wrong.
ANSWERS: dict[Action, dict[tuple[str, str], BySound]] = {
    POSITIVE: {("above", "above"): "yes", ("above", "below"): "right", ("below", "below"): "no"},
    NEGATIVE: {("above", "above"): "no", ("above", "below"): "right", ("below", "below"): "yes"},
}
EITHER_WAY = "where that is right and where it is wrong"
CLAUSES: dict[str, str] = {
    "constant": "it gives most questions one answer, whether or not that is right",
    "polarity": "it follows a polarity: yes to most actions that sound kind and no to most that sound unkind, "
    + EITHER_WAY,
    "one-sided": f"it is one-sided: {{sides}}, {EITHER_WAY}",
    "ideal": "most of its answers are right, to kind actions and to unkind ones, where polarity is right and, in every "
    "kind of control, where it is wrong",
    "undecided": "it is not shown whether its answers follow what is right or how kind the action sounds",
}


def verdict_of(table: FigureTable) -> Verdict:
    """Apply the rule to how actions of either sound are answered (`answers_by_sound`):

    - "constant": 99 % or more of the answers to questions with the options that most have (Yes and No) are the same;
      or most answers are yes, or most are no, to kind actions and to unkind ones, where that is right and where it is
      wrong.
    - "polarity": yes to most kind actions and no to most unkind ones, where that is right and where it is
      wrong.
    - "ideal": most answers to kind actions and to unkind ones are right, where their sound is right and where it is
      wrong; and so they are in every kind of control, where polarity is wrong (`_right_in_every_kind`).
    - "one-sided": actions of one sound are mostly answered with one word, where that is right and where it is wrong,
      and it is none of the above.
    - "undecided": anything else, and wherever fewer than half of a cell were read.

    "Most" is a share whose 95 % interval over items lies above a half. Each word needs all its shares to be so, and so
    a model of which it is false gets it in at most 2.5 % of draws of items by each of the ways in which that can be (a
    test tries it).
    """
    if not all(_half_read(table.row("against_ideal", cell=name)) for name in CELLS.values()):
        return "undecided"
    kind, unkind = answers_by_sound(table).values()
    if constant_answer(table) or kind == unkind in ("yes", "no"):
        return "constant"
    if (kind, unkind) == ("yes", "no"):
        return "polarity"
    if {kind, unkind} & {"yes", "no"}:
        return "one-sided"
    return "ideal" if kind == unkind == "right" and _right_in_every_kind(table) else "undecided"


def answers_by_sound(table: FigureTable) -> dict[Action, BySound]:
    """Say how most actions that sound kind, and most that sound unkind, are answered: rightly, or with one answer where
    that is right and where it is wrong; "open": an interval holds a half, or most are wrong in both cells.
    """
    found: dict[Action, BySound] = {}
    for action, answers in ANSWERS.items():
        rows = (table.row("follows_polarity", cell=CELLS[action, part]) for part in (AGREEING, DIFFERING))
        agreeing, differing = map(_side_of_half, rows)
        found[action] = answers.get((agreeing, differing), "open")
    return found


def _right_in_every_kind(table: FigureTable) -> bool:
    """An average over kinds would hide one that is answered wrongly. So of each kind the interval of right answers lies
    above a half where polarity is wrong (where it is right, of kinds that have no such items); and half were read.
    """
    for group in table.rows("against_ideal", "kind"):
        follows = {row.groups["part"]: row for row in table.rows("follows_polarity", "part", **group.groups)}
        right = "below" if DIFFERING in follows else "above"
        if _side_of_half(follows.get(DIFFERING) or follows[AGREEING]) != right or not _half_read(group):
            return False
    return True


def _half_read(row: FigureRow) -> bool:
    return bool(row.n) and 2 * row.n_read >= row.n


def _side_of_half(row: FigureRow) -> Literal["above", "below", "unknown"]:
    """Where the whole interval lies."""
    return "above" if row.low > HALF else "below" if row.high < HALF else "unknown"


def judge_controls(table: FigureTable) -> dict[str, Any]:
    """Return what a training records: `verdict`, `sentence`, and the figures they rest on."""
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


def why_not_debiased(judged: Mapping[str, Any]) -> str:
    """Say why a model with these judged controls can't be called debiased, as a clause about "it"; "" where it can."""
    verdict = judged.get("verdict")
    return _clause(judged) if verdict in ("constant", "polarity", "one-sided") else ""


def is_decided(judged: Mapping[str, Any]) -> bool:
    """Whether the controls show that what is right was learned, or that it was not."""
    return judged.get("verdict") in ("ideal", "constant", "polarity", "one-sided")


def short_verdict(table: FigureTable) -> str:
    """Return the verdict's word for a table, with the side of one-sided answers ("one-sided: yes to kind")."""
    verdict = verdict_of(table)
    sides = [f"{says} to {SOUNDS[each]}" for each, says in answers_by_sound(table).items() if says in ("yes", "no")]
    return f"{verdict}: {', '.join(sides)}" if verdict == "one-sided" else verdict


def verdict_sentence(table: FigureTable) -> str:
    """Say what answers follow, and the share of answers by the sound in each of the four cells."""
    kind, unwise, unkind, right = (cell(table.row("follows_polarity", cell=name)).text for name in CELLS.values())
    clause = _clause({"verdict": verdict_of(table), "by_sound": answers_by_sound(table)})
    return (
        f"{clause[0].upper()}{clause[1:]}. It says yes to {kind} percent of the actions that sound kind where yes is "
        f"right, and to {unwise} where it is wrong; no to {unkind} percent of those that sound unkind where no is "
        f"right, and to {right} where it is wrong."
    )


def _clause(judged: Mapping[str, Any]) -> str:
    by_sound = judged.get("by_sound") or {}
    sides = (
        f"{by_sound[action]} to most actions that sound {sound}"
        for action, sound in SOUNDS.items()
        if by_sound.get(action) in ("yes", "no")
    )
    return CLAUSES[judged["verdict"]].format(sides=" and ".join(sides))
