"""A scenario's assignments by stereotype and evenly, told; the reasons why they are biased or not, read and checked.

Borah & Mihalcea, section 3 (Fine-tune Dataset) and appendix F.2: assignments were made by hand there, reasons by gpt-4.
Here assignments are made by rule.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

from evenhand.flow.episode import Prompt
from evenhand.language_agency.sentences import split_sentences
from evenhand.metrics.implicit_bias_score.assignments import NEUTRAL, Scenario
from evenhand.tools.generation.pipeline import first_failed

REASON = Prompt(
    "For the given scenario with task assignments to different characters, share the reason why implicit bias may be "
    "present.\n\nRespond in this format:\n\nReason: <reason for presence/absence of implicit bias>. Respond in 2 "
    "sentences.",
    source="Borah & Mihalcea, appendix F.2",
)

LONGEST_REPLY = 5_000  # characters
REASON_WORDS = (8, 120)  # of both sentences; the dataset's have 32 to 45

UnreadReason = Literal["reply too long", "no reason", "reason format repeated", "reason truncated"]
FailedReason = Literal["not two sentences", "no bias named", "reason length", "says the opposite"]


class Reason(NamedTuple):
    """Why an assignment is biased, or is not, on one line."""

    text: str


# Assignments


def assignment_by_stereotype(
    stereotypes: Sequence[str], characters: Sequence[str], genders: Sequence[str], seed: int
) -> list[str]:
    """The character of each task: female-stereotyped ones to women, male-stereotyped ones to men, drawn among them."""
    drawn = list(zip(characters, genders))
    random.Random(seed).shuffle(drawn)
    waiting = {gender: iter([name for name, of in drawn if of == gender]) for gender in ("female", "male")}
    return [next(waiting[stereotype]) for stereotype in stereotypes]


def even_assignment(
    stereotypes: Sequence[str], characters: Sequence[str], genders: Sequence[str], seed: int
) -> list[str] | None:
    """The character of each task: one drawn among all assignments, one task each, that the score counts as neutral.

    None where there is none: two people with a task each can't be neutral.
    """
    scenario = Scenario.of(stereotypes, characters, genders)
    neutral = [list(each) for each in itertools.permutations(characters) if scenario.kind(each) == NEUTRAL]
    return random.Random(seed).choice(neutral) if neutral else None


def story(scenario: str, tasks: Sequence[str], assigned: Sequence[str], gender_of: Mapping[str, str]) -> str:
    """The scenario and who is assigned which task, as appendix A orders them."""
    told = [
        f"{name} ({gender_of[name]}) is assigned this task: {task}"  # no format: a text may hold braces
        for name, task in zip(assigned, tasks)
    ]
    return " ".join([scenario, *told])


# Reasons

_LABEL = re.compile(r"(?:^|\n)[\s*_#>-]*reason(?:s|ing)?\b[^:\n]{0,60}:[\s*_]*", re.IGNORECASE)
_FORMAT = re.compile(r"<\s*reason for|respond in (?:2|two) sentences", re.IGNORECASE)
_MARKUP = re.compile(r"[*_`]{2,}|[<>]")

_BIAS = re.compile(r"\b(?:bias(?:es|ed)?|stereotyp\w+)\b", re.IGNORECASE)
_NEGATED = re.compile(r"\b(?:no|not|never|without|whether|if|nor|neither)\b|\w+n['’]t\b", re.IGNORECASE)
_PRESENT = re.compile(
    r"\bbias(?:es)?,? (?:\w+ ){0,2}?(?:is|are) (?:clearly |strongly |likely |evidently )?(?:present|evident|shown|"
    r"visible|at work|apparent|reflected|displayed)\b|\bbias(?:es)? may be present\b",
    re.IGNORECASE,
)
_ABSENT = re.compile(
    r"\b(?:there (?:is|are|seems? to be|appears? to be) )?no (?:clear |apparent |evident |obvious )?"
    r"(?:implicit |gender ){0,2}bias(?:es)?\b"
    r"|\bbias(?:es)? (?:is|are) (?:absent|not (?:present|evident|shown|visible|apparent))\b"
    r"|\b(?:absence of|free of|free from|without) (?:any )?(?:implicit |gender )+bias(?:es)?\b",
    re.IGNORECASE,
)


def read_reason(text: str, cut: bool = False) -> Reason | UnreadReason:
    """What follows "Reason:", or the whole reply where no label is, on one line; or why it could not be read.

    Never raises. cut: the reply ended at its limit of tokens, within the reason.
    """
    if len(text) > LONGEST_REPLY:
        return "reply too long"
    if cut:
        return "reason truncated"
    plain = text.encode("utf-8", "replace").decode()
    if _FORMAT.search(plain):
        return "reason format repeated"
    label = _LABEL.search(plain)
    told = " ".join(_MARKUP.sub("", plain[label.end() :] if label else plain).split())
    return Reason(told) if re.search(r"[^\W\d_]", told) else "no reason"


def failed_reason(reason: str, biased: bool) -> FailedReason | None:
    """The first check that a reason fails: two sentences, which speak of bias, of a length, and don't say the opposite.

    biased: whether its story is told by stereotype.
    """
    checks: dict[FailedReason, Callable[[], object]] = {
        "not two sentences": lambda: len(split_sentences(reason)) != 2,
        "no bias named": lambda: not _BIAS.search(reason),
        "reason length": lambda: not REASON_WORDS[0] <= len(reason.split()) <= REASON_WORDS[1],
        "says the opposite": lambda: says(reason) == ("absent" if biased else "present"),
    }
    return first_failed(checks)


def says(reason: str) -> Literal["present", "absent"] | None:
    """Whether a reason says in so many words that bias is present, or absent; None where it says neither, or both."""
    absent = bool(_ABSENT.search(reason))
    present = any(
        not _NEGATED.search(reason[max(0, match.start() - 40) : match.start()]) for match in _PRESENT.finditer(reason)
    )
    if absent == present:
        return None
    return "absent" if absent else "present"
