"""A model's reply in plain characters: one spelling of quotes, dashes and accents, nothing invisible."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

_UNDECOMPOSED = str.maketrans(
    {"ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ı": "i", "ß": "ss", "æ": "ae", "Æ": "Ae", "œ": "oe"}
)
_CHARACTERS = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛ʼ´", "'"), **dict.fromkeys("“”„‟«»", '"'), **dict.fromkeys("‐‑", "-"),
        **dict.fromkeys("‒–—―−", "–"), **dict.fromkeys("•◦▪●‣⁃·○■", "•"), "\u2028": "\n", "\u2029": "\n", "\x85": "\n",
        **dict.fromkeys("→⇒➡➔➜⟶←⟵➤▶", ":"), "：": ":", "∴": "so ", "、": ", ", "。": ". ", "⃣": ". ",
        **{circled: f"{n}. " for n, circled in enumerate("①②③④⑤⑥⑦⑧⑨⑩", 1)},
    }
)  # fmt: skip
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_STRUCK = re.compile(r"~~[^~\n]{1,300}~~")


@lru_cache(maxsize=32)
def plain(text: str) -> str:
    """Accents, compatibility forms and similar punctuation made plain; case, lines and markup stay.

    The last few are kept: a reply is often read in several ways.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\v", "\n").replace("\f", "\n").translate(_CHARACTERS)
    decomposed = unicodedata.normalize("NFKD", text).translate(_UNDECOMPOSED)
    if decomposed.isascii():
        return _CONTROLS.sub("", decomposed)
    return decomposed.translate({ord(c): _shown(c) for c in set(decomposed)})


def _shown(character: str) -> str | None:
    if not _visible(character):
        return None
    return " " if character.isspace() and character not in "\n\t" else character


def _visible(character: str) -> bool:
    """Neither an accent nor a format, private-use (the markers are of these) or control character."""
    return character in "\n\t" or unicodedata.category(character) not in ("Mn", "Me", "Cf", "Co", "Cc", "Cs", "Cn")


def without_struck_out(text: str) -> str:
    """The text without what is struck out (~~so~~), which is unsaid."""
    return _STRUCK.sub(" ", text)


def mend_typos(text: str, words: Iterable[str]) -> str:
    """Spell what is within one letter of one of these words, in lower case, as the word; of six letters or more."""
    words = frozenset(words)
    for word in words:
        if len(word) >= _LONG:
            text = _near(word).sub(lambda match, word=word: match[0] if match[0] in words else word, text)  # type: ignore[misc]
    return text


_LONG = 6  # letters
_REAL_WORDS = "lively"


@lru_cache(maxsize=256)
def _near(word: str) -> re.Pattern[str]:
    """Return the pattern of a word with its first letter, and one other missing, changed, added or exchanged."""
    places = range(1, len(word))
    forms = [word[:n] + r"\w?" + word[n + 1 :] for n in places] + [word[:n] + r"\w" + word[n:] for n in places]
    forms += [word[:n] + word[n + 1] + word[n] + word[n + 2 :] for n in places[:-1]]
    return re.compile(rf"\b(?!{_REAL_WORDS}\b)(?:{'|'.join(forms)})\b")
