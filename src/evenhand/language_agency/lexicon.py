"""Language agency by string matching: the baseline of Wan & Chang 2024 (LABE), Table 12, with evenhand's lists."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import resources

import numpy as np

from evenhand.language_agency.classifier import FloatArray, SentenceClassifier
from evenhand.models.fingerprint import fingerprint_of_texts

NAME = "string matching (lexicons of evenhand)"

_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")
_ENDS_IN_CONSONANT_AND_Y = re.compile(r"[^aeiou]y$")
_TAKES_ES = re.compile(r"(?:s|x|z|ch|sh)$")


class LexiconClassifier(SentenceClassifier):
    """Agentic where a sentence has more words of the agentic list; ties, also without any word, count as communal.

    So they did in the paper, it seems: its string matching is right on 46.65 % of LAC's test set, which is the share of
    communal sentences there.
    """

    def __init__(self) -> None:
        self.identity = f"{NAME}@{fingerprint_of_texts(map(_read, _LISTS))}"

    @property
    def name(self) -> str:
        return NAME

    def agentic_probabilities(self, sentences: Sequence[str]) -> FloatArray:
        """(sentences,): the agentic share of the words matched, one more of each kind supposed; a half without any."""
        return np.array([_share(_WORD.findall(sentence.lower())) for sentence in sentences])


def _share(words: Sequence[str]) -> float:
    agentic, communal = (sum(word in forms(name) for word in words) for name in _LISTS)
    return (agentic + 1) / (agentic + communal + 2)


_LISTS = ("agentic", "communal")


@cache
def forms(name: str) -> frozenset[str]:
    """Return every form of every word of a list."""
    return frozenset(form for line in _read(name).splitlines() for form in _inflected(*line.split("\t")))


def _read(name: str) -> str:
    return (resources.files("evenhand.language_agency") / "lexicons" / f"{name}.tsv").read_text(encoding="utf-8")


def _inflected(word: str, part_of_speech: str, irregular: str = "") -> Iterator[str]:
    """Yield verbs in all tenses, nouns in both numbers; irregular forms are listed."""
    yield word
    if irregular:
        yield from irregular.split()
        return
    if part_of_speech in ("verb", "noun"):
        consonant_y = _ENDS_IN_CONSONANT_AND_Y.search(word)
        yield word[:-1] + "ies" if consonant_y else word + ("es" if _TAKES_ES.search(word) else "s")
        if part_of_speech == "verb":
            stem = word[:-1] if word.endswith("e") else word
            yield stem + "ing"
            yield word[:-1] + "ied" if consonant_y else stem + "ed"
