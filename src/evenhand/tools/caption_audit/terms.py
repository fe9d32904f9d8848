"""Count male and female terms in a text, and find the instances that it names.

Words are whole and in any case: no letter, digit or underscore is next to them, so that "the" holds no "he", while
"he's", "chef's" and "co-pilot" count. Otherwise every "the" and "this" would be in the paper's totals. Any blanks may
separate the words of an instance.

A term counts each time it is mentioned ("the occurrences of gender-specific terms", Jiang et al., section 6), an
instance once a text. Table A2 lists plurals as entries of their own, and Table A9's instances are singular: "nurses" is
no nurse unless plurals are counted.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from evenhand.errors import UsageError
from evenhand.row_files.json_values import Skipped
from evenhand.row_files.records import listed, records

# Table A2.
MALE = (
    "he", "son", "his", "him", "father", "man", "boy", "himself", "male", "brother", "sons", "fathers", "men", "boys",
    "males", "brothers", "uncle", "uncles", "nephew", "nephews",
)  # fmt: skip
FEMALE = (
    "she", "daughter", "hers", "her", "mother", "woman", "girl", "herself", "female", "sister", "daughters", "mothers",
    "women", "girls", "females", "sisters", "aunt", "aunts", "niece", "nieces",
)  # fmt: skip

# Table 1, in the words of Table A9: an attractive person is "attractive" there, a person cleaning is "cleaning".
INSTANCES = {
    "occupation": (
        "pilot", "firefighter", "software developer", "chef", "nurse", "housekeeper", "therapist", "cook",
        "taxi driver", "flight attendant",
    ),
    "descriptor": (
        "attractive", "exotic", "poor", "terrorist", "thug", "cleaning", "stealing", "seductive", "emotional",
        "illegal",
    ),
}  # fmt: skip

COLUMNS = ("conversations", "caption", "text", "value")  # LLaVA's, and those of simple rows: the first that has text
BETWEEN_TURNS = "\n\0\n"  # no word and no blank: "… in flight" and "attendant …" are not a flight attendant


class Found(NamedTuple):
    """Mentions of male and female terms in one text, and the places of the instances that it names."""

    male: int
    female: int
    instances: frozenset[int]


class Terms:
    """Counts both genders' terms and all instances in one pass over a text."""

    def __init__(self, instances: Sequence[str], plurals: bool = False):
        """plurals: count regular plurals, too. Raises UsageError for an instance without words."""
        places: dict[str, set[int]] = {}
        for place, instance in enumerate(instances):
            for phrase in (instance, plural(instance)) if plurals else (instance,):
                places.setdefault(normalize(phrase), set()).add(place)
        phrases = sorted({*MALE, *FEMALE, *places}, key=lambda phrase: (-len(phrase), phrase))
        # A match counts for the phrases that it begins with, too: "male nurse" for "male".
        self._found: dict[str, Found] = {}
        for phrase in phrases:
            begins = [each for each in phrases if re.match(rf"{re.escape(each)}(?!\w)", phrase)]
            named = frozenset(place for each in begins for place in places.get(each, ()))
            self._found[phrase] = Found(
                sum(each in MALE for each in begins), sum(each in FEMALE for each in begins), named
            )
        pattern = "|".join(r"\s+".join(map(re.escape, phrase.split())) for phrase in phrases)
        # The lookahead consumes nothing, since phrases may overlap.
        self._findall = re.compile(rf"(?<!\w)(?=({pattern})(?!\w))").findall

    def __call__(self, text: str) -> Found:
        male = female = 0
        instances: set[int] = set()
        for phrase in self._findall(_fold(text)):
            found = self._found.get(phrase) or self._found[" ".join(phrase.split())]
            male += found.male
            female += found.female
            instances |= found.instances
        return Found(male, female, frozenset(instances))


def _fold(text: str) -> str:
    """Return a text in one case, with each accented letter as one character."""
    text = text.casefold()
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def normalize(instance: str) -> str:
    """Return an instance in one case, with single blanks. Raises UsageError where it has no letter or digit."""
    phrase = " ".join(_fold(instance).split())
    if not any(map(str.isalnum, phrase)):
        raise UsageError(f"an instance must be words, such as 'nurse', got {instance!r}")
    return phrase


def plural(noun: str) -> str:
    """Return the regular English plural: chefs, coaches, secretaries, firewomen."""
    noun = noun.rstrip()
    if re.search(r"(?<!hu)(?<!ger)(?<!\bro)man$", noun, re.IGNORECASE):
        return f"{noun[:-2]}en"
    if re.search(r"[^aeiou]y$", noun, re.IGNORECASE):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if re.search(r"(s|x|z|ch|sh)$", noun, re.IGNORECASE) else f"{noun}s"


def read_texts(path: Path, columns: Sequence[str] = COLUMNS) -> Iterator[str | Skipped]:
    """Read the text of every record of a JSON, JSONL or parquet file, or why it has none. `check` the file first."""
    for record in records(path, columns, "captions"):
        yield record if isinstance(record, Skipped) else text_of(record, columns)


def text_of(record: object, columns: Sequence[str] = COLUMNS) -> str | Skipped:
    """Return a record's text: a caption, or all questions and answers of a conversation ("question-answer pairs").

    columns: where texts are, the first that has one: a text, a list of texts, or of turns with a `value` or `content`.
    """
    if not isinstance(record, dict):
        return Skipped("not an object")
    found = [_read_cell(record[name]) for name in columns if name in record]
    if not found:
        return Skipped(f"without a column {' or '.join(map(repr, columns))}", f"its columns: {listed(record)}")
    return next((text for text in found if isinstance(text, str)), found[0])


def _read_cell(cell: object) -> str | Skipped:
    parts = []
    for part in cell if isinstance(cell, list) else [cell]:
        turn = [part.get("value"), part.get("content")] if isinstance(cell, list) and isinstance(part, dict) else [part]
        parts += [text for text in turn if isinstance(text, str)][:1]
    if not parts:
        return Skipped("without a text in their column")
    return BETWEEN_TURNS.join(parts) if any(map(str.strip, parts)) else Skipped("blank")
