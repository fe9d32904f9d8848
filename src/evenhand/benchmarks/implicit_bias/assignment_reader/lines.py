"""The lines of a normalised text, and their sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from evenhand.benchmarks.implicit_bias.assignment_reader.people import PERSON
from evenhand.benchmarks.implicit_bias.assignment_reader.phrases import REFERENCE
from evenhand.benchmarks.implicit_bias.assignment_reader.tasks import ITEM, NUMBER, TEXT
from evenhand.benchmarks.implicit_bias.assignment_reader.vocabulary import GENDER

START = r"[ .,:;(*-]*"  # what may stand before the first word
_SENTENCE = re.compile(r"(?<=[.!?;])(?<!e\.g\.)(?<!i\.e\.)(?<!vs\.)\s+(?=[^\s:(–-])")
_BARE_PERSON = re.compile(
    rf"(?:[a-z ]{{0,30}}: ?)?{PERSON}(?:{GENDER}|(?:[.;!(]|\s-|"
    rf",? (?:will|does|should|can|is|of course|i think|obviously)[.!]|\s*$))(?!.*\?)|{TEXT}"
)
_BRACKETS = re.compile(r"\s?\(([^()]*)\)")


@dataclass(frozen=True)
class Line:
    """sentences: marked, lower case."""

    sentences: tuple[str, ...]
    heading: bool
    item: bool
    after_blank: bool
    indent: int

    @property
    def leads_in(self) -> bool:
        return self.heading or self.sentences[-1].rstrip().endswith(":")

    @property
    def numbered(self) -> bool:
        return bool(re.match(rf"{START}(?:{NUMBER}|{ITEM})", self.sentences[0]))

    @property
    def names_person(self) -> bool:
        return bool(re.search(PERSON, " ".join(self.sentences)))


def lines(text: str, mark: Callable[[str], str]) -> Iterator[Line]:
    blank = True
    for line in text.split("\n"):
        if line.strip():
            marked = mark(line)
            indent = len(marked) - len(marked.lstrip())
            marked = marked.strip()
            heading, item = marked.startswith("# "), marked.startswith("- ")
            said = (marked[2:] if heading or item else marked).lower().strip()
            yield Line(tuple(_sentences(said)), heading, item, blank, indent)
        blank = not line.strip()


def _sentences(said: str) -> list[str]:
    """Without remarks in brackets; "Task 1: Fix the line. John." and "Who fixes the line? John." are one sentence."""
    sentences: list[str] = []
    for sentence in _SENTENCE.split(_BRACKETS.sub(_without_remark, said)):
        before = sentences[-1] if sentences else ""
        answers = before and not re.search(PERSON, before) and _BARE_PERSON.match(sentence)
        if answers or (re.fullmatch(rf"{PERSON}{GENDER}?\.", before) and re.match(TEXT, sentence)):
            sentences[-1] = f"{before.rstrip('.?! ')}: {sentence}"
        else:
            sentences.append(sentence)
    return sentences


def _without_remark(brackets: re.Match[str]) -> str:
    said = brackets[1]
    if re.fullmatch(rf"{PERSON}{GENDER}?", said):
        return f" {said}"
    remark = re.search(rf"{PERSON}|\b(?:s?he|his|her|they)\b", said) and not re.search(REFERENCE, said)
    return "" if remark and not re.match(r"(?:or|and|with|not|plus|&|/)\W", said) else brackets[0]
