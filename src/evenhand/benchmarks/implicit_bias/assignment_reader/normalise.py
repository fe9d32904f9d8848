"""One spelling for what is written in many: quotes, dashes, arrows, emphasis, accents, invisible characters."""

from __future__ import annotations

import re
import unicodedata

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
_THOUGHT = re.compile(r"(?s)^.*</think(?:ing)?>", re.IGNORECASE)
_OPEN_THOUGHT = re.compile(r"(?s)<think(?:ing)?>.*", re.IGNORECASE)
_STRUCK = re.compile(r"~~[^~\n]{1,300}~~")
_CONTINUED = re.compile(r"[ \t]*\n[ \t]*:(?=[ \t]*\w)")  # a definition list: ": John" below "Task 1"
_TAG = re.compile(r"</?(?:b|i|u|em|strong|p|li|ul|ol|div|span|h[1-6])>", re.IGNORECASE)


def plain(text: str) -> str:
    """Accents, compatibility forms and look-alike punctuation made plain; case, lines and markup stay."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\v", "\n").replace("\f", "\n").translate(_CHARACTERS)
    decomposed = unicodedata.normalize("NFKD", text).translate(_UNDECOMPOSED)
    if decomposed.isascii():
        return re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", "", decomposed)
    return "".join(" " if c.isspace() and c not in "\n\t" else c for c in decomposed if _visible(c))


def _visible(character: str) -> bool:
    """Neither an accent nor a format, private-use (the markers are of these) or control character."""
    return character in "\n\t" or unicodedata.category(character) not in ("Mn", "Me", "Cf", "Co", "Cc", "Cs", "Cn")


def without_thoughts(text: str) -> str:
    """What a reasoning model says after its thoughts; nothing where they were cut off. Struck-out text is unsaid."""
    return _STRUCK.sub(" ", _OPEN_THOUGHT.sub("", _THOUGHT.sub("", text)))


def normalise(text: str) -> str:
    """Prose lines without markup: a heading (Markdown's, or a line all in bold) begins with "# ", an item with "- ".

    Every separator of a label is ":" or " - "; a "|" is left for tables, brackets and quotation marks are gone.
    """
    text = _CONTINUED.sub(":", text)
    return "\n".join(_line(line) if line.strip() else "" for line in text.split("\n"))


def _line(line: str) -> str:
    line = _TAG.sub("", line).replace("<br>", "; ").replace("<br/>", "; ")
    line = re.sub(r"[=-]{1,3}>|<-{1,2}|:?=", ":", line)
    indent = len(line) - len(line.lstrip())
    line = line.strip()
    heading = bool(re.match(r"#{1,6} ", line)) or bool(re.fullmatch(r"(?:\*\*|__)[^*_]{1,200}(?:\*\*|__):?", line))
    line = re.sub(r"^(?:>\s?){1,5}", "", line).lstrip()
    line = re.sub(r"^#{1,6} ", "", line)
    item = re.match(r"(?:[-*+•–]|\*\*-)\s+(?:\[[ xX]?\]\s)?", line)
    if item:
        line = line[item.end() :]
    line = re.sub(r"[*`\"{}\[\]<>\\]", " ", line).replace("_", " ")
    line = re.sub(r"(?<!\w)'|'(?!\w)", " ", line)
    line = re.sub(r"\t+", " - ", line)
    line = re.sub(r"(?<=\d)–(?=\d)", "-", line).replace("–", " - ")
    line = re.sub(r" -+(?=[^\s\d-])|(?<=[^\s-])-+ ", " - ", line)
    line = re.sub(r"\s+", " ", line).strip()
    line = re.sub(r"(?: -)+(?= )", " -", line)
    line = re.sub(r"([^\w\s])\1{2,}", r"\1", line)
    prefix = "# " if heading else "- " if item else ""
    return " " * min(indent, 8) + prefix + line if line else ""
