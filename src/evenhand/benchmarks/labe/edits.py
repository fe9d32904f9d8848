"""Edits that a model asked for, read from its reply and applied to a text: pure functions.

A reply is hostile input. Reading it never raises and never guesses: an edit is an object with one string "original" and
one string "edited", by exactly these names, as JSON or in Python's quotes. Around such objects everything is tolerated:
prose, a code fence, {"edits": …}, commas and dots too many (the paper's own example has "..." behind its last edit), an
end that is cut off.
"""

from __future__ import annotations

import ast
import contextlib
import json
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from evenhand.language_agency.sentences import split_sentences

MAX_EDITS = 100  # a text of 512 tokens has some 30 sentences; a model that repeats itself asks for hundreds
LONGEST_REWRITE = 3  # times the sentence

Outcome = Literal["applied", "not found", "overlapping", "empty", "unchanged"]

# No two parts that follow one another can match the same characters, so that a match takes linear time.
_FILL = r"[\s,.…]*"
_STRING = r"(?:" + r'"[^"\\]*(?:\\.[^"\\]*)*"' + "|" + r"'[^'\\]*(?:\\.[^'\\]*)*'" + ")"
_VALUE = rf"(?:{_STRING}|-?\w+(?:\.\w+)?)"
_PAIR = re.compile(rf"({_STRING})\s*:\s*({_VALUE})", re.DOTALL)
_OBJECT = re.compile(rf"\{{{_FILL}(?:{_STRING}\s*:\s*{_VALUE}{_FILL})+\}}", re.DOTALL)  # no object or list within
_READ = "\0"  # stands for an edit that was read
_LIST = re.compile(rf"\[{_FILL}(?:{_READ}{_FILL})*\]")
_UNREAD_LIST = re.compile(rf"\[{_FILL}\{{")
_LENIENT_JSON = json.JSONDecoder(strict=False)  # line breaks within strings are fine

_LEAD_IN = re.compile(
    r"\A(?:\W*(?:sure|certainly|of course)\b\W*)?"
    r"\W*\b(?:here(?:'s|’s| is)\b[^:\n]*|(?:the )?(?:rewritten|edited|agentic)(?: sentence| version)?|rewrite|answer)"
    r"[*_]*:[*_]*\s*",
    re.IGNORECASE,
)
_QUOTES = "\"'“”‘’`"


@dataclass(frozen=True)
class Edit:
    """A phrase of the text, and what it should be."""

    original: str
    edited: str


@dataclass(frozen=True)
class Parsed:
    """malformed: the reply has anything but one complete list whose every entry was read."""

    edits: tuple[Edit, ...]
    malformed: bool


@dataclass(frozen=True)
class Placed:
    """Where an edit goes: text[start:end]. Both 0 for an edit that goes nowhere; the outcome says why."""

    edit: Edit
    outcome: Outcome
    start: int = 0
    end: int = 0


def parse_edits(reply: str) -> Parsed:
    """Read the edits of a reply, in order, MAX_EDITS at most; also those before an unreadable one or a cut."""
    edits: list[Edit] = []

    def mark(match: re.Match[str]) -> str:
        edit = _read_edit(match.group()) if len(edits) < MAX_EDITS else None
        edits.extend([edit] if edit else [])
        return _READ if edit else match.group()

    rest = _OBJECT.sub(mark, reply.replace(_READ, " "))
    whole = any(match.group().count(_READ) == len(edits) for match in _LIST.finditer(rest))
    return Parsed(tuple(edits), malformed=not whole or (not edits and bool(_UNREAD_LIST.search(rest))))


def place_edits(text: str, edits: Sequence[Edit]) -> tuple[Placed, ...]:
    """Find each edit's original, white space around it aside: the first occurrence that no edit before it has taken."""
    placed: list[Placed] = []
    for edit in edits:
        placed.append(_place_edit(text, edit, [each for each in placed if each.outcome == "applied"]))
    return tuple(placed)


def replace_placed(text: str, placed: Sequence[Placed]) -> str:
    """Apply all edits by their places in this text: no edit can hit what another one wrote.

    Everything else stays byte for byte. Edits that go nowhere are passed over.
    """
    going = sorted((each for each in placed if each.outcome == "applied"), key=lambda each: each.start)
    parts, done = [], 0
    for each in going:
        parts += [text[done : each.start], each.edit.edited.strip()]
        done = each.end
    return "".join([*parts, text[done:]])


def parse_rewrite(reply: str, sentence: str) -> str | None:
    """Read the one sentence of a reply that should be the rewritten sentence alone, without lead-in and quotes.

    None where it has no sentence or several, or more than LONGEST_REWRITE times the characters. It ends with the
    sentence's own mark where it has none: the next sentence of the text follows it.
    """
    found = split_sentences(_LEAD_IN.sub("", reply).replace("**", ""))  # a line all bold would be a heading
    if len(found) != 1:
        return None
    [rewritten] = found
    if sentence[0] not in _QUOTES and rewritten[0] in _QUOTES and rewritten[-1] in _QUOTES:
        rewritten = rewritten.strip(_QUOTES).strip()
    if rewritten[-1:].isalnum() and sentence[-1:] in ".!?":
        rewritten += sentence[-1:]
    return rewritten if len(rewritten) <= LONGEST_REWRITE * len(sentence) else None


def _read_edit(entry: str) -> Edit | None:
    """Return None for an object that is no edit: another key, a value that is no string, a key given twice."""
    pairs = [(_read_string(key), _read_string(value)) for key, value in _PAIR.findall(entry)]
    originals, editeds = ([value for key, value in pairs if key == name] for name in ("original", "edited"))
    if len(originals) == len(editeds) == 1 and originals[0] is not None and editeds[0] is not None:
        return Edit(originals[0], editeds[0])
    return None


def _read_string(token: str) -> str | None:
    """Read a string literal of JSON or Python; None for a number or a word, and for what can't be stored as UTF-8."""
    for read in (_LENIENT_JSON.decode, ast.literal_eval):
        with contextlib.suppress(ValueError, SyntaxError, AttributeError), warnings.catch_warnings():
            warnings.simplefilter("error")  # "\d" is no escape: an error, not a backslash and a warning
            value = read(token)
            value.encode()
            return str(value)
    return None


def _place_edit(text: str, edit: Edit, taken: Sequence[Placed]) -> Placed:
    original, edited = edit.original.strip(), edit.edited.strip()
    if not original or not edited:
        return Placed(edit, "empty")
    if original.split() == edited.split():
        return Placed(edit, "unchanged")
    outcome: Outcome = "not found"
    for start, end in _find_phrase(text, original):
        if all(end <= each.start or each.end <= start for each in taken):
            return Placed(edit, "applied", start, end)
        outcome = "overlapping"
    return Placed(edit, outcome)


def _find_phrase(text: str, phrase: str) -> Iterator[tuple[int, int]]:
    """Yield where the phrase stands, first as it is, then with any white space between its words.

    Whole words only: "he is kind" is not in "she is kind".
    """
    before = r"(?<![^\W_])" if phrase[0].isalnum() else ""
    after = r"(?![^\W_])" if phrase[-1].isalnum() else ""
    for pattern in (re.escape(phrase), r"\s+".join(map(re.escape, phrase.split()))):
        for match in re.finditer(f"(?={before}({pattern}){after})", text):  # a lookahead: occurrences may overlap
            yield match.span(1)
