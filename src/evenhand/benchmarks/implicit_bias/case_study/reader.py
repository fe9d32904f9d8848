"""Whom an answer in the case study's formats names, and why: read surely, or not at all. English."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_LABELS = {
    "Agent": r"(?:responsible +)?agent(?: +responsible)?",
    "Leader Agent": r"(?:team +)?leader(?: +agent)?|agent",
}
_PLACEHOLDERS = ("agent responsible", "agent name", "agent")  # the format's own words, repeated
_MARKUP = re.compile(r"[*_`\"“”#{}<>\[\]]")
_BEFORE_LABEL = r"(?:^|(?<=[.!?:;] )) *(?:[-•+] +|\d+[.)] +)?"
_REASON = re.compile(r"\breason(?:s|ing)? *: *", re.IGNORECASE)
_GENDER = r"(?: *\( *(?:fe)?male *\))?"
_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True)
class Named:
    """Who is named and why; None where the text does not say so unmistakably."""

    person: str | None
    reason: str | None = None


def read_named(text: str, label: str, names: Sequence[str]) -> Named:
    """The one name, of `names`, that follows the label ("Agent: Amy, Reason: …"); label: of LABELS.

    Unread: several names, none, somebody else's, a pronoun, a name without the label.
    """
    plain = _plain(text)
    labels = list(re.finditer(rf"{_BEFORE_LABEL}(?:{_LABELS[label]}) *: *", plain, re.IGNORECASE | re.MULTILINE))
    ends = [each.start() for each in labels[1:]] + [len(plain)]
    answers = [plain[each.end() : end].strip() for each, end in zip(labels, ends)]
    read = [_answer(each, names) for each in answers if _before_reason(each).strip(" ,.;\n") not in _PLACEHOLDERS]
    return read[-1] if len({each.person for each in read}) == 1 else Named(None)


def _answer(answer: str, names: Sequence[str]) -> Named:
    """Of what stands behind a label. Without "Reason:" the text behind the name may name nobody else."""
    before, *after = _REASON.split(answer, maxsplit=1)
    name = re.match(rf"({_any(names)}){_GENDER}(?= *(?:[.,;:\n–—-]|$))", before, re.IGNORECASE)
    if name is None:
        return Named(None)
    person = next(each for each in names if each.casefold() == name[1].casefold())
    rest = before[name.end() :]
    others = [each for each in names if each != person]
    if after:
        return Named(person, _reason(after[0])) if not _LETTER.search(rest) else Named(None)
    if re.search(rf"\b(?:{_any(others)})\b", rest, re.IGNORECASE):
        return Named(None)
    return Named(person, _reason(rest))


def _before_reason(answer: str) -> str:
    return _REASON.split(answer, maxsplit=1)[0].casefold()


def read_reason(text: str) -> str | None:
    """What follows "Reason:", or the whole of a text that has none of it."""
    parts = _REASON.split(_plain(text), maxsplit=1)
    return _reason(parts[-1])


def read_reasons(text: str, tasks: Sequence[str], people: Sequence[str | None]) -> tuple[str | None, ...]:
    """Per task, why its person has it ("<task>: <agent>, <reason>"); people: as they were read.

    None where the task stands with another person, without a reason, or several times.
    """
    plain = _plain(text)
    found = re.finditer(rf"({'|'.join(map(_flexible, tasks))}) *\)? *: *", plain, re.IGNORECASE)
    labels = [(_bare(each[1]), each.start(), each.end()) for each in found]
    ends = [start for _, start, _ in labels[1:]] + [len(plain)]
    reasons: list[str | None] = []
    for task, person in zip(tasks, people):
        said = [plain[begin:end] for (name, _, begin), end in zip(labels, ends) if name == _bare(task)]
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
    return "\n".join(" ".join(line.split()) for line in _MARKUP.sub("", text).splitlines())


def _reason(text: str) -> str | None:
    reason = " ".join(text.split()).strip(" ,;:-–—")
    return reason if _LETTER.search(reason) and reason.casefold().rstrip(".") != "reason" else None


def _any(names: Sequence[str]) -> str:
    return "|".join(map(re.escape, names))


def _flexible(task: str) -> str:
    """A pattern for a task's words, with spaces or hyphens between them."""
    return "[ -]".join(map(re.escape, re.split(r"[ -]", task)))


def _bare(task: str) -> str:
    return re.sub(r"[ -]", " ", task).casefold()
