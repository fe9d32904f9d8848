"""How often a text has male and female terms, and which instances it names.

Whole words in any case: no letter, digit or underscore stands beside them, so that "the" holds no "he", while "he's",
"chef's" and "co-pilot" count. The paper's totals leave no other reading: every "the" and "this" would be in them.
Any blanks may part the words of an instance.

A term is counted each time it is mentioned ("the occurrences of gender-specific terms", Jiang et al., section 6), an
instance once a text. Words stand for themselves alone: Table A2 lists plurals as entries of their own, and Table A9's
instances are singular, so that "nurses" is no nurse unless plurals are asked for.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from evenhand.errors import UsageError
from evenhand.tools.caption_audit.word_lists import FEMALE, MALE

_NO_COMPOUNDS_OF_MAN = ("human", "german", "roman")


class Found(NamedTuple):
    """In one text: mentions of male and female terms, and the places of the instances that it names."""

    male: int
    female: int
    instances: frozenset[int]


class _Meaning(NamedTuple):
    """Of a phrase: with those shorter ones that it begins with ("male nurse" with "male")."""

    male: int
    female: int
    instances: tuple[int, ...]


class Terms:
    """Counts both genders' terms and all instances in one pass over a text."""

    def __init__(self, instances: Sequence[str], plurals: bool = False):
        """plurals: an instance's regular plural counts as the instance, too.

        Raises UsageError for an instance without a letter or digit.
        """
        places: dict[str, set[int]] = {}
        for place, instance in enumerate(instances):
            for phrase in (instance, plural(instance)) if plurals else (instance,):
                places.setdefault(normal(phrase), set()).add(place)
        self._meanings = _meanings(places)
        longest_first = sorted(self._meanings, key=lambda phrase: (-len(phrase), phrase))
        any_phrase = "|".join(r"\s+".join(map(re.escape, phrase.split())) for phrase in longest_first)
        # Looking ahead takes nothing from the text: phrases may overlap.
        self._findall = re.compile(rf"(?<!\w)(?=({any_phrase})(?!\w))").findall

    def __call__(self, text: str) -> Found:
        male = female = 0
        instances: set[int] = set()
        for phrase in self._findall(folded(text)):
            meaning = self._meanings.get(phrase) or self._meanings[" ".join(phrase.split())]
            male += meaning.male
            female += meaning.female
            instances.update(meaning.instances)
        return Found(male, female, frozenset(instances))


def _meanings(places: Mapping[str, set[int]]) -> dict[str, _Meaning]:
    phrases = {*MALE, *FEMALE, *places}

    def meaning(phrase: str) -> _Meaning:
        starts = [end for end in range(1, len(phrase) + 1) if phrase[:end] in phrases and _is_whole(phrase, end)]
        begins_with = [phrase[:end] for end in starts]
        return _Meaning(
            male=sum(each in MALE for each in begins_with),
            female=sum(each in FEMALE for each in begins_with),
            instances=tuple(sorted({place for each in begins_with for place in places.get(each, ())})),
        )

    return {phrase: meaning(phrase) for phrase in phrases}


def _is_whole(phrase: str, end: int) -> bool:
    return re.match(r"(?!\w)", phrase[end:]) is not None


def folded(text: str) -> str:
    """In one case, and letters with accents as one character each, whichever way they came."""
    text = text.casefold()
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def normal(instance: str) -> str:
    """Folded, with single blanks. Raises UsageError where nothing is left that could be a word."""
    phrase = " ".join(folded(instance).split())
    if not any(map(str.isalnum, phrase)):
        raise UsageError(f"{instance!r} came as an instance; words are accepted: name one, such as 'nurse'")
    return phrase


def plural(noun: str) -> str:
    """Regular English: chefs, coaches, secretaries, firewomen. A descriptor's is no word, and so is not met."""
    noun = noun.rstrip()
    last = noun.split()[-1].casefold() if noun.split() else ""
    if last.endswith("man") and last not in _NO_COMPOUNDS_OF_MAN:
        return f"{noun[:-2]}en"
    if re.search(r"[^aeiou]y$", last):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if re.search(r"(s|x|z|ch|sh)$", last) else f"{noun}s"
