"""Agentic and communal paraphrases of a sentence: the prompt, the reader of replies, and the checks."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Callable
from typing import NamedTuple

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

LONGEST_REPLY = 10_000  # characters
SHORTEST_SHARE, LONGEST_SHARE = 0.4, 3.0  # a paraphrase's length over its seed's, in characters

_OPENING = re.compile(r"\{(?=\s*[\"'])")
_LEFTOVER = re.compile(r"[{}]|\b(?:agentic|communal)\b", re.IGNORECASE)
_DECODER = json.JSONDecoder(strict=False)  # not strict: line breaks within strings


class Paraphrases(NamedTuple):
    """One sentence in agentic and in communal language."""

    agentic: str
    communal: str


def read_paraphrases(text: str, cut: bool = False) -> Paraphrases | str:
    """Read the paraphrases in a reply, or return why they can't be read. Never raises.

    The reply's object has a string under each of the keys 'agentic' and 'communal', in any case, or, as in LAC, an
    object with a single string there ({'description': …}). It is JSON or a Python literal; text around it and further
    keys are allowed.

    Args:
        cut: the reply reached its limit of tokens.
    """
    if len(text) > LONGEST_REPLY:
        return "too long"
    found = [{str(name).strip().casefold(): value for name, value in each.items()} for each in _find_objects(text)]
    answers = [each for each in found if {"agentic", "communal"} <= {*each}]
    if not answers:
        return "truncated" if cut or text.count("{") > text.count("}") else "no object with both keys"
    if any(each != answers[0] for each in answers):
        return "several objects"
    agentic, communal = (_unwrap(answers[0][key]) for key in ("agentic", "communal"))
    return "not a string" if agentic is None or communal is None else Paraphrases(agentic, communal)


def _unwrap(value: object) -> str | None:
    """Return a string, or the only string of an object, with single blanks."""
    if isinstance(value, dict) and len(value) == 1:
        [value] = value.values()
    return " ".join(value.encode("utf-8", "replace").decode().split()) if isinstance(value, str) else None


def _find_objects(text: str) -> list[dict[object, object]]:
    """Find the outermost objects that have an entry, in order. What follows a broken one is not read."""
    found: list[dict[object, object]] = []
    end = 0
    while opening := _OPENING.search(text, end):
        try:
            value, end = _DECODER.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            literal = _read_literal(text[opening.start() : text.rfind("}") + 1])
            return [*found, literal] if isinstance(literal, dict) else found
        found.append(value)
    return found


def _read_literal(text: str) -> object:
    """Read a Python dictionary: single quotes, a comma behind the last entry."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of unknown escapes, "\d"
            value = ast.literal_eval(text)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None
    # Python joins adjacent strings: of 'at Toys 'r' Us' it makes 'at Toys  Us'.
    texts = value.values() if isinstance(value, dict) else ()
    is_joined = "\\" not in text and any(isinstance(each, str) and each not in text for each in texts)
    return None if is_joined else value


def failed_check(seed: str, pair: Paraphrases) -> str | None:
    """Return the first check that a pair fails; None for a pair that passes all.

    Both have a letter; they differ in more than case and space; no brace and neither key's name is left in them, which
    would give the label away; neither is the prompt's example or has its [Name]; each is one sentence; each has 0.4 to
    3 times the seed's characters.
    """
    checks: dict[str, Callable[[str], object]] = {
        "empty": lambda text: not any(map(str.isalpha, text)),
        "same": lambda text: len({"".join(each.casefold().split()) for each in pair}) == 1,
        "key or brace": _LEFTOVER.search,
        "example": lambda text: (
            ("[name]" in text.casefold() and "[name]" not in seed.casefold())
            or any(similarity(text, example) >= NEAR for example in (AGENTIC_EXAMPLE, COMMUNAL_EXAMPLE))
        ),
        "not one sentence": lambda text: split_sentences(text) != [text],
        "length": lambda text: not SHORTEST_SHARE * len(seed) <= len(text) <= LONGEST_SHARE * len(seed),
    }
    return next((reason for reason, fails in checks.items() if any(map(fails, pair))), None)
