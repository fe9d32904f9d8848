"""One sentence told in agentic and in communal language: the prompt that asks for it; replies, read and checked."""

from __future__ import annotations

import ast
import io
import itertools
import json
import re
import tokenize
import warnings
from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias

from evenhand.flow.episode import Prompt
from evenhand.language_agency.sentences import split_sentences
from evenhand.tools.generation.near_duplicates import NEAR, similarity

# Table 7. Its examples end in a full stop, and so does the place they are filled into: the published script, too, sends
# both, and two full stops come of it.
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

_Json: TypeAlias = "str | float | bool | list[_Json] | tuple[tuple[str, _Json], ...] | None"
_Object: TypeAlias = "tuple[tuple[str, _Json], ...]"  # pairs, and no dict: a key that comes twice must be seen

_OPENING = re.compile(r"\{(?=\s*[\"'])")
_HALF = re.compile(r"[\ud800-\udfff]")  # of a surrogate pair: JSON can spell one alone, no file can hold it
_LETTER = re.compile(r"[^\W\d_]")
_LEFTOVER = re.compile(r"[{}]|\b(?:agentic|communal)\b", re.IGNORECASE)
_PLACEHOLDER = "[name]"  # of the examples; six sentences of LAC took it over


class Paraphrases(NamedTuple):
    """One sentence, told in agentic and in communal language."""

    agentic: str
    communal: str


# Reading


def read_paraphrases(text: str, cut: bool = False) -> Paraphrases | Unread:
    """The paraphrases in a reply, or why it could not be read. Never raises, and never guesses.

    The reply's one object has a string under each of the keys 'agentic' and 'communal', however they are capitalised,
    or, as in LAC, an object with a single string there ({'description': …}). It is JSON or a Python literal; prose and
    code fences around it and further keys are allowed. cut: the reply ended at its limit of tokens.
    """
    if len(text) > LONGEST_REPLY:
        return "too long"
    found = _objects(text)
    answers = [each for each in found if any(_is_key(name, key) for name, _ in each for key in ("agentic", "communal"))]
    if not found:
        return _why_none(text, cut)
    if not answers:
        return "missing key"
    if any(each != answers[0] for each in answers):
        return "several objects"
    return _paraphrases(answers[0])


def _is_key(name: str, key: str) -> bool:
    return name.strip().casefold() == key


def _why_none(text: str, cut: bool) -> Unread:
    if "{" not in text:
        return "no object"
    return "truncated" if cut or text.count("{") > text.count("}") else "malformed"


def _paraphrases(answer: _Object) -> Paraphrases | Unread:
    agentic, communal = ([value for name, value in answer if _is_key(name, key)] for key in ("agentic", "communal"))
    if not agentic or not communal:
        return "missing key"
    if len(agentic) > 1 or len(communal) > 1:
        return "repeated key"
    texts = _single_string(agentic[0]), _single_string(communal[0])
    if texts[0] is None or texts[1] is None:
        return "not a string"
    return Paraphrases(" ".join(texts[0].split()), " ".join(texts[1].split()))


def _single_string(value: _Json) -> str | None:
    if isinstance(value, tuple) and len(value) == 1:
        [(_, value)] = value
    return value if isinstance(value, str) and not _HALF.search(value) else None


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=tuple)  # not strict: line breaks within strings


def _objects(text: str) -> list[_Object]:
    """The outermost objects that have an entry, in order. What follows a broken one is not read."""
    found: list[_Object] = []
    end = 0
    while opening := _OPENING.search(text, end):
        try:
            value, end = _DECODER.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            literal = _literal_object(text[opening.start() : text.rfind("}") + 1])
            return found if literal is None else [*found, literal]
        found.append(value)
    return found


def _literal_object(text: str) -> _Object | None:
    """A Python dictionary: single quotes, a comma behind the last entry."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of unknown escapes, "\d"
            value = _from_node(ast.parse(text, mode="eval").body)
        return value if isinstance(value, tuple) and not _strings_in_a_row(text) else None
    except (SyntaxError, ValueError, RecursionError, MemoryError, tokenize.TokenError):
        return None


def _strings_in_a_row(text: str) -> bool:
    """Python joins them, and takes a letter for a prefix: of 'at Toys 'r' Us' it would leave 'at Toys  Us'."""
    tokens = [each.type for each in tokenize.generate_tokens(io.StringIO(text).readline) if each.type != tokenize.NL]
    return (tokenize.STRING, tokenize.STRING) in itertools.pairwise(tokens)


def _from_node(node: ast.expr | None) -> _Json:
    """As ast.literal_eval, but keys that come twice are both there. Raises ValueError for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (str, int, float, type(None))):
        return node.value
    if isinstance(node, ast.List):
        return [_from_node(each) for each in node.elts]
    if isinstance(node, ast.Dict):
        pairs = [(_from_node(key), _from_node(value)) for key, value in zip(node.keys, node.values)]
        return tuple((key, value) for key, value in pairs if isinstance(key, str))
    raise ValueError(f"no literal: {type(node).__name__}")


# Checks


def failed_check(seed: str, pair: Paraphrases) -> Failed | None:
    """The first check that a pair fails, in the order of `Failed`; None for a pair that passes all.

    Both have a letter; they differ in more than case and space; no brace and neither key's name is left in them, which
    would give the label away; neither is the prompt's example or has its [Name]; each is one sentence; each has 0.4 to
    3 times the seed's characters.
    """
    checks: dict[Failed, Callable[[str], object]] = {
        "empty": lambda text: not _LETTER.search(text),
        "same": lambda text: _without_space(pair.agentic) == _without_space(pair.communal),
        "key or brace": _LEFTOVER.search,
        "example": lambda text: _is_example(text, seed),
        "not one sentence": lambda text: split_sentences(text) != [text],
        "length": lambda text: not SHORTEST_SHARE * len(seed) <= len(text) <= LONGEST_SHARE * len(seed),
    }
    return next((reason for reason, fails in checks.items() if any(map(fails, pair))), None)


def _without_space(text: str) -> str:
    return "".join(text.casefold().split())


def _is_example(text: str, seed: str) -> bool:
    if _PLACEHOLDER in text.casefold() and _PLACEHOLDER not in seed.casefold():
        return True
    return any(similarity(text, example) >= NEAR for example in (AGENTIC_EXAMPLE, COMMUNAL_EXAMPLE))
