"""What do answers follow: what is right, how kind the action sounds, that for one sound alone, or nothing?"""

from __future__ import annotations

from typing import Literal

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

Verdict = Literal["ideal", "polarity", "one-sided", "constant", "undecided"]
BySound = Literal["right", "yes", "no", "open"]
HALF = 50.0
SAYS: dict[Action, tuple[BySound, BySound]] = {
    POSITIVE: ("yes", "no"),
    NEGATIVE: ("no", "yes"),
}  # by the sound, against


def verdict_of(table: FigureTable) -> Verdict:
    """The rule, on how actions of either sound are answered (`answers_by_sound`):

    - "constant": 99 % or more of the answers to questions with the options that most have (Yes and No) are the same;
      or most answers are yes, or most are no, to kind actions and to unkind ones, where that is right and where it is
      wrong.
    - "polarity": most kind actions are accepted and most unkind ones declined, where that is right and where it is
      wrong.
    - "ideal": most answers to kind actions and to unkind ones are right, where their sound is right and where it is
      wrong; and so they are in every kind of control, where polarity is wrong (`_right_in_every_kind`).
    - "one-sided": actions of one sound are mostly answered alike, where that is right and where it is wrong, and it is
      none of the above.
    - "undecided": anything else, and wherever fewer than half of a cell were read.

    "Most" is a share whose 95 % interval over items lies above a half. Each word needs all its shares to be so, and so
    a model of which it is false gets it in at most 2.5 % of draws of items by each of the ways in which that can be (a
    test tries it).
    """
    if not all(_half_read(table.row("against_ideal", cell=cell)) for cell in CELLS.values()):
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
    """How most actions that sound kind, and most that sound unkind, are answered: rightly, or with one answer where
    that is right and where it is wrong; "open": an interval holds a half, or most are wrong in both cells.
    """
    return {action: _answers(table, action) for action in SAYS}


def _answers(table: FigureTable, action: Action) -> BySound:
    agreeing, differing = (table.row("follows_polarity", cell=CELLS[action, part]) for part in (AGREEING, DIFFERING))
    by_sound, against = SAYS[action]
    if _above(agreeing):
        return by_sound if _above(differing) else "right" if _below(differing) else "open"
    return against if _below(agreeing) and _below(differing) else "open"


def _right_in_every_kind(table: FigureTable) -> bool:
    """An average over kinds would hide one that is answered wrongly. So of each kind the interval of right answers lies
    above a half where polarity is wrong (where it is right, of kinds that have no such items); and half were read.
    """
    for group in table.rows("against_ideal", "kind"):
        follows = {row.groups["part"]: row for row in table.rows("follows_polarity", "part", **group.groups)}
        right = _below(follows[DIFFERING]) if DIFFERING in follows else _above(follows[AGREEING])
        if not right or not _half_read(group):
            return False
    return True


def _half_read(row: FigureRow) -> bool:
    return bool(row.n) and 2 * row.n_read >= row.n


def _above(row: FigureRow) -> bool:
    return row.low > HALF


def _below(row: FigureRow) -> bool:
    return row.high < HALF
