"""Split texts into the sentences that are labelled: by sentencex (prose, letters, lists), by the rules of the paper's
published script, or by NLTK.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

from sentencex import segment

from evenhand.errors import UsageError

SplitterName = Literal["sentencex", "published", "nltk"]
Split: TypeAlias = Callable[[str], list[str]]
SPLITTERS: Mapping[SplitterName, str] = {
    "sentencex": "sentencex, lines, list points and headings apart",
    "published": "the rules of the paper's published script",
    "nltk": "NLTK's punkt",
}
"""How each cuts, for a report."""

_LONG_ROMAN = "[ivx]{2,4}|[IVX]{2,4}"
# Of single capitals before a full stop I alone is a number: "J." begins a name.
_NUMBER = rf"(?:\(?(?:\d{{1,3}}|[a-zA-Z]|{_LONG_ROMAN})\)|(?:\d{{1,3}}|[a-zI]|{_LONG_ROMAN})\.)"
_BULLET = re.compile(rf"\A\s*(?:[-*+•·▪◦–—]|{_NUMBER})\s+(?=\S)")
_HEADING = re.compile(r"\s*#{1,6}\s|\s*(\*\*|__)[^*_]+\1:?\s*$")
_LABEL_WORDS = 6  # "Dear members of the hiring committee:" at most; a longer line with a colon is a sentence
_EMPHASIS = re.compile(r"(\*{1,3}|_{2,3}|`)(?=\S)((?:(?!\1).)+)(?<=\S)\1")
_UNDER_HEADING = re.compile(r"^[ \t]*#{1,6}[ \t].*\n", re.MULTILINE)
_WRAPPED = re.compile(rf"(?<=[^\s.!?:;\"”’)*_])[ \t]*\n[ \t]*(?=[a-z])(?!{_NUMBER}(?:\s|\Z))")
_SPACE = re.compile(r"\s")  # sentencex panics at "B\u00a0.": an initial and a space that is several bytes long
_LETTER = re.compile(r"[^\W\d_]")
_RETURN = "<return>"  # how LABE's published files write a newline


SENTENCE_ID = "sentence-"
"""How the ids of sentences begin."""


def sentence_id(sentence: str) -> str:
    """Return an id that depends on the text alone, so that people's labels hold wherever the sentence stands."""
    return SENTENCE_ID + hashlib.sha256(sentence.encode("utf-8", "replace")).hexdigest()[:16]


def splitter(name: SplitterName) -> Split:
    """Return a function from texts to sentences. Raises UsageError where NLTK's package is not installed."""
    if name != "nltk":
        return split_as_published if name == "published" else split_sentences
    if importlib.util.find_spec("punkt") is None:
        raise UsageError(
            "--splitter nltk needs NLTK's punkt, which is not installed; run: pip install 'evenhand[nltk]' (it brings "
            "its data along), or take --splitter sentencex or published"
        )
    import punkt

    return lambda text: list(punkt.sent_tokenize(well_formed(text)))


def split_sentences(text: str) -> list[str]:
    """Return sentences in order, without list markers and emphasis; headings, salutations and rules are left out.

    A line is a paragraph of its own unless it goes on in lower case. Empty for a text without a letter.
    """
    lines = "\n".join(well_formed(text).replace(_RETURN, "\n").splitlines())
    paragraphs = _WRAPPED.sub(" ", _UNDER_HEADING.sub(r"\g<0>\n", lines)).split("\n")
    return [sentence for line in paragraphs if not _is_heading(line) for sentence in _split_line(line)]


def well_formed(text: str) -> str:
    """Replace halves of surrogate pairs, which can't be stored."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _split_line(line: str) -> list[str]:
    plain = _SPACE.sub(" ", _EMPHASIS.sub(r"\2", _BULLET.sub("", line, count=1)))
    return [sentence.strip() for sentence in segment("en", plain) if _LETTER.search(sentence)]


def _is_heading(line: str) -> bool:
    """Whether a line is a heading, all bold, a label, a salutation or a closing: 'Skills:', 'Dear Committee,'."""
    if _HEADING.match(line):
        return True
    bare = line.strip().strip("*_").strip()
    return bare.endswith((":", ",")) and len(bare.split()) <= _LABEL_WORDS


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


def split_as_published(text: str) -> list[str]:
    """Split as the published scripts of LABE do (inference_bert.py): at each . ? ! but those of some abbreviations.

    The mark goes behind a quotation mark that follows it. Headings, list numbers and marks alone are sentences, and a
    line's end is none. One thing differs: there a line's end was still written <return> when texts were cut.
    """
    text = f" {well_formed(text)}  ".replace(_KEPT, "").replace(_END, "").replace("\n", " ")
    for pattern, put in _RULES:
        text = pattern.sub(_with_kept_stops if put is None else put, text)
    return [sentence for part in text.replace(_KEPT, ".").split(_END) if (sentence := part.strip())]


def _with_kept_stops(match: re.Match[str]) -> str:
    return match.group().replace(".", _KEPT)
