"""Pairs of sentences that repeat others, word for word or nearly: found without comparing each with all."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal

GRAM = 5  # characters
NEAR = 0.9  # Jaccard similarity of two sentences' grams from which they are near-duplicates

Duplicate = Literal["exact duplicate", "near duplicate"]

_WORD = re.compile(r"\w+")


def normalised(text: str) -> str:
    """Its words, without case, punctuation and typographic variants."""
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def similarity(a: str, b: str) -> float:
    """Jaccard similarity of two sentences' sets of 5 characters in a row, normalised first: [0, 1]."""
    return _jaccard(_grams(normalised(a)), _grams(normalised(b)))


def find_duplicates(pairs: Sequence[Sequence[str]], near: float = NEAR) -> list[Duplicate | None]:
    """For each pair, whether one of its sentences repeats a sentence of a pair before it that is none itself.

    Exactly, once normalised, or nearly: a similarity of `near` or more, above 0. Sentences of one pair may be alike.
    """
    texts = {text: normalised(text) for pair in pairs for text in pair}
    rank = _rarest_first(texts.values())
    kept: set[str] = set()
    kept_grams = _NearDuplicates(near)
    found: list[Duplicate | None] = []
    for pair in pairs:
        two = {texts[text] for text in pair}
        grams = [sorted(rank[gram] for gram in _grams(text)) for text in sorted(two)]
        duplicate: Duplicate | None = None
        if kept & two:
            duplicate = "exact duplicate"
        elif any(kept_grams.has(each) for each in grams):
            duplicate = "near duplicate"
        else:
            kept |= two
            kept_grams.add(grams)
        found.append(duplicate)
    return found


class _NearDuplicates:
    """Sentences as ascending lists of their grams' ranks, found again by their rarest grams.

    Of two sets of similarity t or more, the larger one, of n grams, has at least t n in common with the other, and so
    has the smaller one: the first n - ceil(t n) + 1 grams of each, in an order that is the same for all, share one.
    Only sentences that do are compared, and none is missed.
    """

    def __init__(self, near: float) -> None:
        self._near = near
        self._sentences: list[tuple[int, ...]] = []
        self._having: defaultdict[int, list[int]] = defaultdict(list)  # a rare gram: the sentences that have it

    def has(self, grams: Sequence[int]) -> bool:
        candidates = {i for gram in self._rarest(grams) for i in self._having.get(gram, ())}
        shortest, longest = (
            self._near * len(grams),
            len(grams) / self._near,
        )  # a set of another size can't be as similar
        of_size = (each for each in map(self._sentences.__getitem__, candidates) if shortest <= len(each) <= longest)
        own = set(grams)
        return any(_jaccard(own, set(each)) >= self._near for each in of_size)

    def add(self, sentences: Iterable[Sequence[int]]) -> None:
        for grams in sentences:
            for gram in self._rarest(grams):
                self._having[gram].append(len(self._sentences))
            self._sentences.append(tuple(grams))

    def _rarest(self, grams: Sequence[int]) -> Sequence[int]:
        at_least = math.ceil(self._near * len(grams) - 1e-9)  # 1e-9: a product rounded up adds no gram
        return grams[: len(grams) - at_least + 1]


def _rarest_first(texts: Iterable[str]) -> dict[str, int]:
    """Each gram's rank, the rarest one's 0."""
    frequency = Counter(gram for text in texts for gram in _grams(text))
    return {gram: rank for rank, gram in enumerate(sorted(frequency, key=lambda gram: (frequency[gram], gram)))}


def _grams(text: str) -> set[str]:
    return {text[start : start + GRAM] for start in range(max(1, len(text) - GRAM + 1))}


def _jaccard(a: set[str] | set[int], b: set[str] | set[int]) -> float:
    return len(a & b) / len(a | b)  # type: ignore[operator]
