"""Mentions of tasks and of people in the order of a text: which lie where, stand on a label, or are in a row."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from typing import TypeVar

from evenhand.benchmarks.implicit_bias.assignment_reader.people import Person
from evenhand.benchmarks.implicit_bias.assignment_reader.tasks import Task

M = TypeVar("M", Task, Person)
SENTENCE = re.compile(r"(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bMrs)(?<!\bNo)[.!?](?=[\s,}\])]|$)|\n|;")
_LABEL_BEFORE = re.compile(
    r"(?:(?:^|\n)[\s>•#-]*(?:\w{1,2}[.)] ?)?|[:=|({<,\[–-]\s?|\b(?:person|name|by|to|is)[\s:<]{1,3})$", re.IGNORECASE
)
_LABEL_AFTER = re.compile(
    r"\s?(?:[,:(<>)}\]|/;]|$|\n|\.(?:\s|$)|– |- |& |and |or |gender\b|(?:fe)?male\b)", re.IGNORECASE
)
COORDINATED = re.compile(
    r"\s?(?:\(\w+\))?\s?(?:[:<>]|,|,? ?\(?(?:and|or(?: (?:maybe|perhaps|possibly|else))?|alternatively|"
    r"(?:together )?with(?: the)?(?: (?:help|support|assistance) (?:of|from))?|(?:assisted|supported|helped) by)|&|/|"
    r"\+)\s?|[ ](?:\((?:fe)?male\)[ ]?)?",
    re.IGNORECASE,
)


def between(mentions: Sequence[M], start: int, end: int) -> list[M]:
    first = bisect_left(mentions, start, key=lambda each: each.start)
    return list(mentions[first : bisect_left(mentions, end, lo=first, key=lambda each: each.start)])


def several(text: str, people: Sequence[Person]) -> bool:
    """Whether the first name is one of several in a row."""
    for first, second in pairwise(people):
        if not COORDINATED.fullmatch(text, first.end, second.start):
            return False
        if first.number != second.number:
            return True
    return False


def is_labelled(text: str, person: Person) -> bool:
    before, after = text[max(0, person.start - 16) : person.start], text[person.end : person.end + 16]
    return bool(_LABEL_BEFORE.search(before) and _LABEL_AFTER.match(after))


def depth_of(gap: str) -> int:
    """How far apart: 0 in one line, 1 in the next ones, 2 in another paragraph."""
    return 2 if re.search(r"\n[^\S\n]*\n", gap) else int("\n" in gap)
