"""A model's reply in plain characters: one spelling of quotes, dashes and accents, nothing invisible."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_UNDECOMPOSED = str.maketrans(
    {"ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ı": "i", "ß": "ss", "æ": "ae", "Æ": "Ae", "œ": "oe"}
)
_CHARACTERS = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛ʼ´", "'"), **dict.fromkeys("“”„‟«»", '"'), **dict.fromkeys("‐‑", "-"),
        **dict.fromkeys("‒–—―−", "–"), **dict.fromkeys("•◦▪●‣⁃·○■", "•"), "\u2028": "\n", "\u2029": "\n", "\x85": "\n",
        **dict.fromkeys("→⇒➡➔➜⟶←⟵➤▶", ":"), "：": ":", "、": ", ", "。": ". ", "⃣": ". ",
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
