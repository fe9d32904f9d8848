"""Texts cut into the sentences that are labelled: prose, letters, lists."""

from __future__ import annotations

import hashlib
import re

from sentencex import segment

_LONG_ROMAN = "[ivx]{2,4}|[IVX]{2,4}"
# Of single capitals before a full stop I alone is a number: "J." begins a name.
_NUMBER = rf"(?:\(?(?:\d{{1,3}}|[a-zA-Z]|{_LONG_ROMAN})\)|(?:\d{{1,3}}|[a-zI]|{_LONG_ROMAN})\.)"
_BULLET = re.compile(rf"\A\s*(?:[-*+•·▪◦–—]|{_NUMBER})\s+(?=\S)")
_HEADING = re.compile(r"\s*#{1,6}\s|\s*(\*\*|__)[^*_]+\1:?\s*$")
_LABEL_WORDS = 6  # "Dear members of the hiring committee:" at most; a longer line with a colon is a sentence
_EMPHASIS = re.compile(r"(\*{1,3}|_{2,3}|`)(?=\S)((?:(?!\1).)+)(?<=\S)\1")
_UNDER_HEADING = re.compile(r"^[ \t]*#{1,6}[ \t].*\n", re.MULTILINE)
_WRAPPED = re.compile(rf"(?<=[^\s.!?:;\"”’)*_])[ \t]*\n[ \t]*(?=[a-z])(?!{_NUMBER}(?:\s|\Z))")
_SPACE = re.compile(r"\s")  # sentencex panics at "B\u00a0.": an initial and a space that is several bytes long
_LETTER = re.compile(r"[^\W\d_]")
_LONGEST_LINE = 5_000  # sentencex takes time with the square of a line's length: 57 s for 10^6 quotation marks
_RETURN = "<return>"  # how LABE's published files write a newline


SENTENCE_ID = "sentence-"
"""How the ids of sentences begin."""


def sentence_id(sentence: str) -> str:
    """By its text alone: what people say of a sentence is the same wherever it stands."""
    return SENTENCE_ID + hashlib.sha256(sentence.encode("utf-8", "replace")).hexdigest()[:16]


def split_sentences(text: str) -> list[str]:
    """Sentences in order, without list markers and emphasis; headings, salutations and rules are none.

    A line is a paragraph of its own unless it goes on in lower case. Empty for a text without a letter.
    """
    lines = "\n".join(well_formed(text).replace(_RETURN, "\n").splitlines())
    paragraphs = _WRAPPED.sub(" ", _UNDER_HEADING.sub(r"\g<0>\n", lines)).split("\n")
    return [sentence for line in paragraphs if not _is_heading(line) for sentence in _of_line(line)]


def well_formed(text: str) -> str:
    """Without halves of surrogate pairs, which can't be stored."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _of_line(line: str) -> list[str]:
    plain = _SPACE.sub(" ", _EMPHASIS.sub(r"\2", _BULLET.sub("", line, count=1)))
    sentences = (each.strip() for each in _segments(plain))
    return [sentence for sentence in sentences if _LETTER.search(sentence)]


def _segments(line: str) -> list[str]:
    """sentencex's, with no more than _LONGEST_LINE characters before it at once.

    The last sentence of those may go on behind them: it is looked at again from its beginning, or, where there is no
    other, joined with what follows.
    """
    found: list[str] = []
    begin, goes_on = 0, False
    while begin < len(line):
        part = line[begin : begin + _LONGEST_LINE]
        cut = begin + len(part) < len(line)
        segments = list(segment("en", part))  # together they are the part
        alone = len(segments) == 1
        if cut and not alone:
            segments.pop()
        begin += sum(map(len, segments))
        if goes_on:
            found[-1] += segments.pop(0)
        found += segments
        goes_on = cut and alone
    return found


def _is_heading(line: str) -> bool:
    """A markdown heading, a line all bold, a label, a salutation or a closing: 'Skills:', 'Dear Committee,'."""
    if _HEADING.match(line):
        return True
    bare = line.strip().strip("*_").strip()
    return bare.endswith((":", ",")) and len(bare.split()) <= _LABEL_WORDS
