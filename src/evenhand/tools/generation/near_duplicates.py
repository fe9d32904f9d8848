"""Near-duplicates: texts that repeat others exactly or nearly."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

GRAM = 5  # characters
NEAR = 0.9  # Jaccard similarity of two sentences' grams from which they are near-duplicates


def normalize(text: str) -> str:
    """Return a text's words without case, punctuation and typographic variants."""
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold()))


def similarity(a: str, b: str) -> float:
    """Compute the Jaccard similarity of two sentences' sets of 5 consecutive characters, normalized first: [0, 1]."""
    first, second = _grams(normalize(a)), _grams(normalize(b))
    return len(first & second) / len(first | second)


def find_duplicates(pairs: Sequence[Sequence[str]], near: float = NEAR) -> list[str | None]:
    """Find the pairs one of whose sentences repeats a sentence of an earlier pair that is no duplicate itself.

    A sentence repeats another exactly once normalized, or nearly: with a similarity of `near` or more. Sentences of one
    pair may be equal.
    """
    if not pairs:
        return []
    texts = [[normalize(text) for text in pair] for pair in pairs]
    owner = np.repeat(np.arange(len(texts)), [len(pair) for pair in texts])
    flat = [text for pair in texts for text in pair]
    grams = CountVectorizer(analyzer=_grams, dtype=np.int32).fit_transform(flat)
    sizes = np.asarray(grams.sum(axis=1)).ravel()
    kept: set[str] = set()
    is_kept = np.zeros(len(flat), dtype=bool)
    found: list[str | None] = []
    for place, pair in enumerate(texts):
        own, earlier = np.flatnonzero(owner == place), np.flatnonzero(is_kept)
        common = (grams[own] @ grams[earlier].T).toarray()
        jaccard = common / (sizes[own][:, None] + sizes[earlier] - common)
        if kept & {*pair}:
            found.append("exact duplicate")
        elif (jaccard >= near).any():
            found.append("near duplicate")
        else:
            found.append(None)
            kept |= {*pair}
            is_kept[own] = True
    return found


def _grams(text: str) -> set[str]:
    return {text[start : start + GRAM] for start in range(max(1, len(text) - GRAM + 1))}
