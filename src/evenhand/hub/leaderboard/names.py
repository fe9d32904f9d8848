"""Names that look like others: nobody should take one model's row, or one library's column, for another's.

Ids of the Hub are ASCII, `[\\w.-]+/[\\w.-]+`, so that whatever has their form and other letters imitates one. Of other
names those are told apart that spell one word in letters of several alphabets, or in other forms of ASCII letters.
"""

from __future__ import annotations

import re
import unicodedata

MOST_MARKS = 2  # on one letter, as Vietnamese and Thai have; a stack of more is drawn over the rows around it
ALPHABETS = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU")
"""How Unicode begins the names of letters, of alphabets that share shapes."""
_WORD = re.compile(r"\w+")


def look(name: str) -> str:
    """The same for names that readers would take for one: forms of letters, capitals and spaces apart."""
    return "".join(unicodedata.normalize("NFKC", name).casefold().split())


def imitates(name: str) -> str:
    """What of a name looks like another's, in words that go on a sentence about it; "" of others."""
    if any(each.isalnum() and not each.isascii() and unicodedata.normalize("NFKC", each).isascii() for each in name):
        return "holds letters or digits that look like ASCII ones and are others"
    if name.count("/") == 1:
        if not name.isascii():
            return "has the form of an id of the Hub, and letters that none has"
        if re.search(r"\s/|/\s", name):
            return "has the form of an id of the Hub, and spaces around its slash"
    if any(len(_alphabets(word)) > 1 for word in _WORD.findall(name)):
        return "spells one word in letters of several alphabets"
    return ""


def _alphabets(word: str) -> set[str]:
    known = (unicodedata.name(each, "").partition(" ")[0] for each in word if each.isalpha())
    return {each for each in known if each in ALPHABETS}


def stacked(name: str) -> bool:
    """Whether a letter bears more marks than any needs."""
    in_a_row = 0
    for each in unicodedata.normalize("NFC", name):
        in_a_row = in_a_row + 1 if unicodedata.category(each) in ("Mn", "Me") else 0
        if in_a_row > MOST_MARKS:
            return True
    return False
