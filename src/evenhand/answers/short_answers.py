"""Which of a few options a reply gives as its answer: by letter, or in the option's words.

A reply's last "answer: …" or box counts; else the option that it begins with; else the one option that its clauses
assert. An option that a clause denies, doubts or merely lists is not asserted. More than one asserted option, or none,
is unread: so is a refusal.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from .refusals import refuses

_WRAPPERS = re.compile(
    r"\\(?:boxed|text|mathrm|textbf|mathbf)\s*\{|\\[\[\]()]|\$+|</[a-z_]+>|<(?=[a-z_]+>)|(?<=[a-z_])>|"
    r"```(?:json|\w+)?|[*_`]+|[{}]"
    r"|(?<![\w])[\"“”]|[\"“”](?!\w)|(?<!\w)'(?=\w+'(?!\w))|✅|✔|➡️"
)
_ANSWER_TAG = re.compile(r"<(?:answer|choice|final_?answer|response)>", re.IGNORECASE)
_MARKER = re.compile(
    r"\b(?<!would )(?<!people )(?:(?:my|the|final|correct|best|one|short)[ -]){0,4}(?:answer|choice|verdict|"
    r"conclusion|response|option|"
    r"decision|final|"
    r"correction)(?: here)?(?: is| would be| should be)?\s*(?::|=|->|→|\n)\s*"
    r"|\b(?<!would )(?:answer|choice|option)(?:'s| is| would be)(?: therefore)? |\bi(?:'d| would|'ll|"
    r" will)? (?:say|choose|"
    r"pick|select|go with): "
)
_NEGATED = re.compile(
    r"\b(?:not|never|no|nor|neither|cannot|can't|without|hardly|rule out|ruled out|unlikely that|doubt|wrong|"
    r"instead of|"
    r"rather than|\w+n't)\b(?! only\b)"
)
_HEDGED = re.compile(
    r"\b(?:may|might|could|perhaps|maybe|possibly|if|whether|unless|either|depends|between|"
    r"some (?:\w+ )?(?:people|would|might|say)|that i can|"
    r"one (?:might|could|may)|would be likely|as likely|more likely|sometimes|who'd|like to|hard to|would mean|"
    r"saying|misread|\?)|\?$"
    r"|\b(?:stereotyp\w*|assum\w*|biased|prejudice\w*|(?:age|sex|rac)ist|suggest\w*|tempt\w*|people|society|parents|"
    r"others|everyone|anyone|most would|many would|used to|was going to|first thought|easy to|anything but|asks?|"
    r"(?:he|she|they|me|we)(?: would|'d|'re)|(?<!\bi )would (?:say|pick|choose|answer|guess))\b"
)
_CLAUSE = re.compile(
    r"[.!?]+(?=\s|$)|[;\n]|,? \b(?:but|so|therefore|thus|hence|because|since|yet|however|although|though|while)\b"
    r"|, (?!or\b)|: | [–—-] "
)
_TAKEN_BACK = re.compile(r"\b(?:wait|correction|actually|on second thought|i mean|hold on|scratch that|misread)\b")
_UNDECIDED = re.compile(r"\b(?:could|might) (?:just as well|equally(?: well)?|also) be\b|\bleave this one\b")
_PLACED = re.compile(  # what stands in a clause before an option that it asserts ends so
    r"(?:^|\b(?:so|then|thus|and|hence|clearly|therefore|think|believe|say|choose|chose|pick|go with|sure|confident|"
    r"that|it's|is|was|by|were|are|be)|:)\W*$"
)
_NUMBER = re.compile(r"\bno\. ?(?=\d)")
_OWN = re.compile(r"\b(?:i|i'd|i would|i'll|i'd be|i would be|it's|it is|it would be)(?: very| highly| quite| most)?$")
_LED = re.compile(
    r"(?:\b(?:is|be|say|answer|with|simply|just|definitely|choose|very|highly|quite|clear|firm|definite|a)|[:,–—-])$"
)


@dataclass(frozen=True)
class Option:
    """An option of a question.

    words: what it is called, in lower case. label: its letter, "" where it has none. bare: its words are common ones
    ("no"), and count only where they stand alone. open: it says that nothing decides ("cannot be determined"), and
    counts wherever it stands, in a clause that supposes, too.
    """

    words: tuple[str, ...]
    label: str = ""
    bare: bool = False
    open: bool = False


def plain_lines(text: str) -> str:
    """Return a reply in lower case, without invisible characters, typographic apostrophes and wrappers."""
    text = unicodedata.normalize("NFKC", text).replace("’", "'").replace("‘", "'").replace("\u2011", "-")
    text = _ANSWER_TAG.sub(" answer: ", text)
    text = "".join(c for c in text if unicodedata.category(c) not in ("Cf", "Cc", "Mn") or c in "\n\t")
    text = _NUMBER.sub("number ", _WRAPPERS.sub(" ", text.casefold())).replace("anything but", "not")
    text = text.replace("stereotypically,", "stereotypically")
    return "\n".join(" ".join(line.strip(" |").split()) for line in text.splitlines()).strip()


def read_option(text: str, options: Sequence[Option]) -> int | None:
    """Return the place of the one option that the reply gives as its answer; None: unread. Linear in its length."""
    said, reader = plain_lines(text[:20_000]), _Reader(options)
    given, is_given = _find_given(said, reader)
    if is_given:
        return given
    asserted = reader.asserted(said)
    doubted = refuses(text) or _TAKEN_BACK.search(said) or _UNDECIDED.search(said)
    return None if doubted or len(asserted) != 1 else asserted.pop()


def find_given(text: str, options: Sequence[Option]) -> int | None:
    """Return the option behind "answer: …", alone on the first or last line, or with which the reply begins."""
    return _find_given(plain_lines(text[:20_000]), _Reader(options))[0]


def _find_given(said: str, reader: _Reader) -> tuple[int | None, bool]:
    """Return such an option, None where several are given so or the rest contradicts it; and whether one is."""
    answers = [reader.leading(said.partition("\n")[0], whole=True)]
    answers += [reader.leading(said[mark.end() :]) for mark in _MARKER.finditer(said)]
    answers.append(reader.leading(said.rpartition("\n")[2], whole=True))
    marked = [each for each in answers if each is not None]
    if marked and not _MARKER.search(said) and reader.is_bare(marked[-1]) and reader.asserted(said) - {*marked}:
        return None, True
    if marked:
        return marked[-1] if len(set(marked)) == 1 or _TAKEN_BACK.search(said) else None, True
    first = reader.leading(said)
    if first is None:
        return None, False
    contradicted = _TAKEN_BACK.search(said) or _UNDECIDED.search(said) or reader.asserted(said) - {first}
    return None if contradicted else first, True


def find_asserted(text: str, options: Sequence[Option]) -> set[int]:
    """Return the places of all options that clauses of a reply assert, neither denied nor doubted."""
    return _Reader(options).asserted(plain_lines(text[:20_000]))


def find_denied(text: str, options: Sequence[Option]) -> set[int]:
    """Return the places of options that stand in a clause that denies something."""
    reader = _Reader(options)
    return {
        place
        for clause in _CLAUSE.split(plain_lines(text[:20_000]))
        if _NEGATED.search(clause)
        for place in reader.named(clause)
    }


class _Reader:
    def __init__(self, options: Sequence[Option]) -> None:
        self._options = options
        words = sorted(
            ((word, n) for n, each in enumerate(options) for word in each.words), key=lambda each: -len(each[0])
        )
        self._place = {word: n for word, n in words}
        self._words = re.compile(
            "|".join(rf"(?<!\w)(?<!\w-)(?<!\w'){re.escape(word)}(?!\w|-\w|'\w)" for word, _ in words)
        )
        self._labels = {each.label: n for n, each in enumerate(options) if each.label}
        letters = "".join(self._labels) or "\0"
        self._label = re.compile(
            rf"\(([{letters}])\)|^([{letters}])(?=[).:]|$)|\b(?:option|answer|choice) ([{letters}])\b"
        )
        self._bracketed = re.compile(rf"\(([{letters}])\)")
        self._first = re.compile(rf"[\W_]*(?:option )?(?:\(?([{letters}])(?:[).:]|(?=[\s,]*$)))")

    def leading(self, said: str, whole: bool = False) -> int | None:
        """Return the option that a text begins with, before a sign; whole: that is all of the text."""
        line = said.lstrip(" \n:>#-'.").partition("\n")[0]
        if len({label[1] for label in self._bracketed.finditer(line)}) > 1:
            return None  # the options, listed
        line = line if self._first.match(line) else line.lstrip("(")
        label = self._first.fullmatch(line.strip()) if whole else self._first.match(line)
        if label:
            place = self._labels[label[1]]
            named = self.named(line)
            if _NEGATED.search(_CLAUSE.split(self._words.sub("", line[label.end() :]))[0]):
                return None  # "(b) is wrong"
            return None if named - {place} and len(line) < 60 and place not in named else place
        word = self._words.match(line)
        after = r"\W*$" if whole else r"\s*(?:$|[.,;:!)(–—-](?! ?\d)|because\b|since\b|as\b|\()"
        if not word or not re.match(after, line[word.end() :]) or re.match(r"\W*(?:or|and)\b", line[word.end() :]):
            return None
        place = self._place[word[0]]
        return None if self.named(_CLAUSE.split(line)[0]) - {place} else place  # "Yes.No"

    def is_bare(self, place: int) -> bool:
        return self._options[place].bare

    def named(self, text: str) -> set[int]:
        """Return all options whose words stand in a text."""
        return {self._place[word[0]] for word in self._words.finditer(text)}

    def asserted(self, said: str) -> set[int]:
        """Return the options that clauses assert."""
        found: set[int] = set()
        for clause in _CLAUSE.split(said):
            mentions = [(word.start(), word.end(), self._place[word[0]]) for word in self._words.finditer(clause)]
            if len({place for _, _, place in mentions}) > 1:
                continue
            mentions = [
                each for each in mentions if not self._options[each[2]].bare or self._stands_alone(clause, each)
            ]
            mentions += [(m.start(), m.end(), self._labels[m[1] or m[2] or m[3]]) for m in self._label.finditer(clause)]
            if len({place for _, _, place in mentions}) != 1:
                continue
            option = self._options[mentions[0][2]]
            if _HEDGED.search(clause) and not option.open:
                continue
            rest = clause
            for start, end, _ in sorted(mentions, reverse=True):
                rest = rest[:start] + "|" + rest[end:]
            placed = option.bare or option.open or _PLACED.search(rest.partition("|")[0])
            if placed and not _NEGATED.search(rest):
                found.add(mentions[0][2])
        return found

    def _stands_alone(self, clause: str, mention: tuple[int, int, int]) -> bool:
        before, after = clause[: mention[0]].rstrip(), clause[mention[1] :].strip()
        if _OWN.search(before):
            return True
        return (not before or bool(_LED.search(before))) and not re.match(r"\w", after)
