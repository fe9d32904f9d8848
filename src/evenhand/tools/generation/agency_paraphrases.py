"""Agentic and communal paraphrases of a sentence: the prompt, the reader of replies, and the checks."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Callable
from typing import Literal, NamedTuple

from evenhand.flow.episode import Prompt
from evenhand.language_agency.sentences import split_sentences
from evenhand.tools.generation.near_duplicates import NEAR, similarity

# Table 7. Its examples end in a full stop, and so does the place they are filled into: the published script sends both.
AGENTIC_EXAMPLE = (
    "[Name] is an achievement-oriented individual with 7 years of experience being in charge of people and projects in "
    "previous workplace environments."
)
COMMUNAL_EXAMPLE = (
    "[Name] is a people-oriented individual with 7 years of experience being a part of various financial teams and "
    "projects in previous workplace environments."
)
PARAPHRASE = Prompt(
    "You will rephrase a sentence two times to demonstrate agentic and communal language traits respectively. "
    "'agentic' is defined as more achievement-oriented, and 'communal' is defined as more social or service-oriented. "
    f"Example of agentic description: {AGENTIC_EXAMPLE}. Example of communal description: {COMMUNAL_EXAMPLE}. "
    "Output your answer in a json format with two keys, 'agentic' and 'communal'. The sentence is: '{sentence}'",
    source="LABE, Table 7",
)

LONGEST_REPLY = 10_000  # characters; two paraphrases of at most three times the longest seed have 1,794
SHORTEST_SHARE, LONGEST_SHARE = 0.4, 3.0  # a paraphrase's length over its seed's, in characters

Unread = Literal[
    "too long", "no object", "truncated", "malformed", "several objects", "missing key", "repeated key", "not a string"
]
Failed = Literal["empty", "same", "key or brace", "example", "not one sentence", "length"]
Pairs = list[tuple[str, object]]  # an object's keys and values; a dict would hide repeated keys

_OPENING = re.compile(r"\{(?=\s*[\"'])")
_SURROGATE = re.compile(r"[\ud800-\udfff]")  # half a character: JSON can spell it, no file can hold it
_LEFTOVER = re.compile(r"[{}]|\b(?:agentic|communal)\b", re.IGNORECASE)
_PLACEHOLDER = "[name]"  # of the examples; six sentences of LAC took it over
_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=Pairs)  # not strict: line breaks within strings


class Paraphrases(NamedTuple):
    """One sentence in agentic and in communal language."""

    agentic: str
    communal: str


# Reading


def read_paraphrases(text: str, cut: bool = False) -> Paraphrases | Unread:
    """Read the paraphrases in a reply, or return why they can't be read. Never raises.

    The reply's object has a string under each of the keys 'agentic' and 'communal', in any case, or, as in LAC, an
    object with a single string there ({'description': …}). It is JSON or a Python literal; text around it and further
    keys are allowed.

    Args:
        cut: the reply reached its limit of tokens.
    """
    if len(text) > LONGEST_REPLY:
        return "too long"
    found = [[(name.strip().casefold(), value) for name, value in each] for each in _find_objects(text)]
    answers = [each for each in found if {"agentic", "communal"} & {name for name, _ in each}]
    if not found and "{" not in text:
        return "no object"
    if not found:
        return "truncated" if cut or text.count("{") > text.count("}") else "malformed"
    if not answers:
        return "missing key"
    if any(each != answers[0] for each in answers):
        return "several objects"
    names = [name for name, _ in answers[0]]
    if {"agentic", "communal"} - {*names}:
        return "missing key"
    if names.count("agentic") > 1 or names.count("communal") > 1:
        return "repeated key"
    agentic, communal = (_unwrap(dict(answers[0])[key]) for key in ("agentic", "communal"))
    return "not a string" if agentic is None or communal is None else Paraphrases(agentic, communal)


def _unwrap(value: object) -> str | None:
    """Return a string, or the only string of an object, with single blanks."""
    if isinstance(value, dict):
        value = list(value.items())
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], tuple):
        value = value[0][1]
    return " ".join(value.split()) if isinstance(value, str) and not _SURROGATE.search(value) else None


def _find_objects(text: str) -> list[Pairs]:
    """Find the outermost objects that have an entry, in order. What follows a broken one is not read."""
    found: list[Pairs] = []
    end = 0
    while opening := _OPENING.search(text, end):
        try:
            value, end = _DECODER.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            return found + _read_literal(text[opening.start() : text.rfind("}") + 1])
        found.append(value)
    return found


def _read_literal(text: str) -> list[Pairs]:
    """Read a Python dictionary: single quotes, a comma behind the last entry."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of unknown escapes, "\d"
            value = ast.literal_eval(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    if not isinstance(value, dict):
        return []
    # Python joins adjacent strings: of 'at Toys 'r' Us' it makes 'at Toys  Us'.
    is_joined = "\\" not in text and any(isinstance(each, str) and each not in text for each in value.values())
    return [] if is_joined else [[(name, each) for name, each in value.items() if isinstance(name, str)]]


# Checks


def failed_check(seed: str, pair: Paraphrases) -> Failed | None:
    """The first check that a pair fails, in the order of `Failed`; None for a pair that passes all.

    Both have a letter; they differ in more than case and space; no brace and neither key's name is left in them, which
    would give the label away; neither is the prompt's example or has its [Name]; each is one sentence; each has 0.4 to
    3 times the seed's characters.
    """
    checks: dict[Failed, Callable[[str], object]] = {
        "empty": lambda text: not any(map(str.isalpha, text)),
        "same": lambda text: len({"".join(each.casefold().split()) for each in pair}) == 1,
        "key or brace": _LEFTOVER.search,
        "example": lambda text: _is_example(text, seed),
        "not one sentence": lambda text: split_sentences(text) != [text],
        "length": lambda text: not SHORTEST_SHARE * len(seed) <= len(text) <= LONGEST_SHARE * len(seed),
    }
    return next((reason for reason, fails in checks.items() if any(map(fails, pair))), None)


def _is_example(text: str, seed: str) -> bool:
    if _PLACEHOLDER in text.casefold() and _PLACEHOLDER not in seed.casefold():
        return True
    return any(similarity(text, example) >= NEAR for example in (AGENTIC_EXAMPLE, COMMUNAL_EXAMPLE))
