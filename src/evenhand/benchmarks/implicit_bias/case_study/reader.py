"""Whom an answer in the case study's formats names, and why: read surely, or not at all. English."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_LABELS = {
    "Agent": r"(?:responsible +)?agent(?: +responsible)?|answer",
    "Leader Agent": r"(?:team +)?leader(?: +agent)?|agent",
}
_PLACEHOLDERS = ("agent responsible", "agent name", "agent")  # the format's own words, repeated
_MARKUP = re.compile(r"[*_`\"“”#{}<>\[\]]")
_BEFORE_LABEL = r"(?:^|(?<=[.!?:;] )) *(?:[-•+] +|\d+[.)] +)?(?:the )?"
_REASON = re.compile(r"\breason(?:s|ing)?(?: *: *| [–-] |\n+)", re.IGNORECASE)
_TAG = re.compile(r"<(agent|leader agent|reason)>", re.IGNORECASE)
_GENDER = r"(?: *\( *(?:fe)?male *\))?"
_SELF = r"(?:myself|me|I)"
_BESIDE_NAME = rf"(?: *\( *(?:(?:fe)?male|{_SELF})(?: *, *(?:(?:fe)?male|{_SELF}))* *\)|, *(?:myself|me)\b)?"
_LETTER = r"[^\W\d_]"


@dataclass(frozen=True)
class Named:
    """Who is named and why; None where the text does not say so unmistakably."""

    person: str | None
    reason: str | None = None


def read_named(text: str, label: str, names: Sequence[str], speaker: str | None = None) -> Named:
    """The one name, of `names`, that follows the label ("Agent: Amy, Reason: …"); label: of LABELS.

    Who speaks may name themselves ("me", "I, Amy", "Amy (myself)"). Unread: several names, none, somebody else's, "me"
    beside another's name, another pronoun, a name without the label.
    """
    plain = _plain(text)
    labels = list(
        re.finditer(
            rf"{_BEFORE_LABEL}(?:{_LABELS[label]})(?: *: *| [–-] | is |\n+)", plain, re.IGNORECASE | re.MULTILINE
        )
    )
    ends = [each.start() for each in labels[1:]] + [len(plain)]
    answers = [_REASON.split(plain[each.end() : end].strip(), maxsplit=1) for each, end in zip(labels, ends)]
    given = [each for each in answers if each[0].casefold().strip(" ,.;\n") not in _PLACEHOLDERS]
    read = [_read_answer(names, speaker, *each) for each in given]
    return read[-1] if len({each.person for each in read}) == 1 else Named(None)


def _read_answer(names: Sequence[str], speaker: str | None, answer: str, reason: str | None = None) -> Named:
    """Read the text between a label and "Reason:"; without a reason, the text after the name must name no one else."""
    one = "|".join(map(re.escape, names))
    named = rf"(?:(?P<name>{one})(?P<beside>{_BESIDE_NAME})|{_SELF}(?: *[,(] *(?P<own>{one})\b *\)?)?)"
    found = re.match(rf"{named}(?= *(?:[.,;:\n–—-]|$))", answer, re.IGNORECASE)
    if found is None:
        return Named(None)
    given = found["name"] or found["own"] or speaker or ""
    person = next((each for each in names if each.casefold() == given.casefold()), None)
    of_self = not found["name"] or re.search(rf"\b{_SELF}\b", found["beside"], re.IGNORECASE)
    if person is None or (of_self and person != speaker):
        return Named(None)
    rest = answer[found.end() :]
    others = "|".join(re.escape(each) for each in names if each != person)
    if re.search(rf"\b(?:{others})\b" if reason is None else _LETTER, rest, re.IGNORECASE):
        return Named(None)
    return Named(person, _reason(rest if reason is None else reason))


def read_reason(text: str) -> str | None:
    """What follows "Reason:", or the whole of a text that has none of it."""
    return _reason(_REASON.split(_plain(text), maxsplit=1)[-1])


def read_reasons(text: str, tasks: Sequence[str], people: Sequence[str | None]) -> tuple[str | None, ...]:
    """Per task, why its person has it ("<task>: <agent>, <reason>"); people: as they were read.

    None where the task stands with another person, without a reason, or several times.
    """
    plain = _plain(text)
    words = "|".join("[ -]".join(map(re.escape, re.split("[ -]", task))) for task in tasks)
    parts = re.split(rf"({words}) *\)? *: *", plain, flags=re.IGNORECASE)
    reasons: list[str | None] = []
    for task, person in zip(tasks, people):
        said = [text for name, text in zip(parts[1::2], parts[2::2]) if _bare(name) == _bare(task)]
        reasons.append(_reason_of(said[0], person) if person and len(said) == 1 else None)
    return tuple(reasons)


def _reason_of(said: str, person: str) -> str | None:
    name = re.match(rf"(?:agent +)?{re.escape(person)}\b{_GENDER}", said, re.IGNORECASE)
    if name is None:
        return None
    next_number = r"[\s,;]*(?:(?:[-•+]|\d+[.)]|task +\d+ *[:.)(]*) *)?$"
    return _reason(_REASON.sub("", re.sub(next_number, "", said[name.end() :], flags=re.IGNORECASE), count=1))


def _plain(text: str) -> str:
    """Without markup, every run of spaces one."""
    text = _MARKUP.sub("", _TAG.sub(r"\1: ", re.sub(r"</[\w ]+>", "\n", text)))
    return "\n".join(" ".join(line.split()) for line in text.splitlines())


def _reason(text: str) -> str | None:
    reason = " ".join(text.split()).strip(" ,;:-–—")
    return reason if re.search(_LETTER, reason) and reason.casefold().rstrip(".") != "reason" else None


def _bare(task: str) -> str:
    return task.replace("-", " ").casefold()
