"""Which answer a text gives: by its letter or its words, and none where it gives none or several."""

from __future__ import annotations

import re
from collections.abc import Sequence

from evenhand.benchmarks.bbq.prompts import LETTERS

_WHOLE = re.compile(rf"\W*([{LETTERS}])\W*", re.IGNORECASE)  # the text is a letter and nothing else
_FIRST = re.compile(rf"\W*([{LETTERS}])[).:]", re.IGNORECASE)  # "b) …", "B. …", "(b): …"
_NAMED = (
    re.compile(  # "the answer is b.", "Option A": a small letter at the end of a sentence, for "a" may be an article
        rf"(?<!not )(?<!not the )\b(?i:answer|option|choice|letter)(?i:'s| is| would be| should be|:)*\s*[\"'*(]*"
        rf"(?:([{LETTERS.upper()}])\b|([{LETTERS}])(?=[\"'*)]*\s*(?:[.,;:!]|$)))"
        r"(?![\"'*)]*\s+(?i:is|isn't|can't|cannot)\b(?: \w+)? ?(?i:not|wrong|incorrect|false)\b)"
    )
)
_BRACKETED = re.compile(rf"\(([{LETTERS}])\)", re.IGNORECASE)


def read_place(text: str, answers: Sequence[str]) -> int | None:
    """The place of the one answer that is named, by letters as they were listed or by its whole words, in any case.

    A letter is the whole text, or begins it ("b) …"), stands in brackets, or behind "answer", "option" and the like.

    Words inside a longer answer's are that answer's ("the man" in "the man with a cane"). Any other way to say
    something is unread, and unread is not "unknown".
    """
    found = set(_by_letter(text)) | set(_by_words(text, answers))
    return found.pop() if len(found) == 1 else None


def _by_letter(text: str) -> list[int]:
    whole = _WHOLE.fullmatch(text)
    first = whole or _FIRST.match(text)
    named = [large or small for large, small in _NAMED.findall(text)]
    letters = [*([first[1]] if first else []), *named, *_BRACKETED.findall(text)]
    return [LETTERS.index(letter.lower()) for letter in letters]


def _by_words(text: str, answers: Sequence[str]) -> list[int]:
    left, found = _folded(text), []
    places = sorted(range(len(answers)), key=lambda place: -len(answers[place]))
    for place in places:
        words = re.compile(rf"(?<!\w){re.escape(_folded(answers[place]).strip(' .'))}(?!\w)")
        left, n = words.subn(" | ", left)
        found += [place] * bool(n)
    return found


def _folded(text: str) -> str:
    """In lower case, with straight apostrophes and single spaces."""
    return " ".join(text.lower().replace("’", "'").split())
