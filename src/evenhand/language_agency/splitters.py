"""Ways to cut a text into the sentences that are labelled, by name: ours, the published script's, NLTK's."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

from evenhand.errors import UsageError
from evenhand.language_agency.sentences import split_sentences, well_formed

SplitterName = Literal["sentencex", "published", "nltk"]
Split: TypeAlias = Callable[[str], list[str]]

_KEPT, _END = "\ue000", "\ue001"  # a full stop that ends nothing; the end of a sentence
_BEGINS = r"(?:Mr|Mrs|Ms|Dr|Prof|Capt|Cpt|Lt|(?:He|She|It|They|Their|Our|We|But|However|That|This)\s|Wherever)"
_COMPANY = r" (?:Inc|Ltd|Jr|Sr|Co)"
# What is done to a text, in this order: no rule sees a full stop that one before it has kept. None: keep the match's.
_RULES: tuple[tuple[re.Pattern[str], str | None], ...] = tuple(
    (re.compile(pattern), put)
    for pattern, put in (
        (r"(?:Mr|St|Mrs|Ms|Dr)\.", None),
        (r"\.(?:com|net|org|io|gov|edu|me)", None),  # in any word: "end.medal" is no end either
        (r"[0-9]\.[0-9]", None),
        (r"\.{2,}", rf"\g<0>{_END}"),
        (rf"\.{{2,}}(?={_END})", None),
        (r"Ph\.D\.", None),
        (r"\s([A-Za-z])\. ", rf" \1{_KEPT} "),
        (rf"([A-Z]\.[A-Z]\.(?:[A-Z]\.)?) ({_BEGINS})", rf"\1{_END} \2"),
        (r"[A-Za-z]\.[A-Za-z]\.[A-Za-z]\.", None),
        (r"[A-Za-z]\.[A-Za-z]\.", None),
        (rf"({_COMPANY})\. ({_BEGINS})", rf"\1{_END} \2"),  # the full stop is lost, as it is there
        (rf"{_COMPANY}\.", None),
        (r" [A-Za-z]\.", None),
        (r"(\.)(”)", r"\2\1"),
        (r"(\.)(\")", r"\2\1"),
        (r"(!)(\")", r"\2\1"),
        (r"(\?)(\")", r"\2\1"),
        (r"[.?!]", rf"\g<0>{_END}"),
    )
)


SPLITTERS: Mapping[SplitterName, str] = {
    "sentencex": "sentencex, lines, list points and headings apart",
    "published": "the rules of the paper's published script",
    "nltk": "NLTK's punkt",
}
"""How each cuts, for a report."""


def splitter(name: SplitterName) -> Split:
    """Raises UsageError for NLTK's where its package is not installed."""
    if name == "nltk":
        return _nltk()
    return split_as_published if name == "published" else split_sentences


def split_as_published(text: str) -> list[str]:
    """As the published scripts of LABE cut texts (inference_bert.py): at each . ? ! but those of some abbreviations.

    The mark goes behind a quotation mark that follows it. Headings, list numbers and marks alone are sentences, and a
    line's end is none. One thing differs: there a line's end was still written <return> when texts were cut.
    """
    text = f" {well_formed(text)}  ".replace(_KEPT, "").replace(_END, "").replace("\n", " ")
    for pattern, put in _RULES:
        text = pattern.sub(_with_kept_stops if put is None else put, text)
    return [sentence for part in text.replace(_KEPT, ".").split(_END) if (sentence := part.strip())]


def _with_kept_stops(match: re.Match[str]) -> str:
    return match.group().replace(".", _KEPT)


def _nltk() -> Split:
    """NLTK's punkt for English; the package holds its data, so that nothing is downloaded and nothing unpickled."""
    if importlib.util.find_spec("punkt") is None:
        raise UsageError(
            "--splitter nltk came, and NLTK's punkt is not installed; run: pip install 'evenhand[nltk]' (it brings its "
            "data along), or take --splitter sentencex or published"
        )
    import punkt

    return lambda text: list(punkt.sent_tokenize(well_formed(text)))
