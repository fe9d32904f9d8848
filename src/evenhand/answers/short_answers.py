"""Which of a few options a reply gives as its answer: by letter, or in the option's words.

In this order: behind "answer:" and in boxes, tags and JSON; alone on the last or first line; where the reply begins; or
as the one option that its clauses assert. An option that a clause denies, doubts or merely lists is not asserted. More
than one, or none, is unread: so is a refusal. Of what a model goes on to ask itself only its own turn is read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from .plain_text import mend_typos, plain
from .refusals import refuses

_LONGEST = 20_000  # characters that are read
_SLOT = r"answer|choice|verdict|conclusion|response|option|decision|selection|prediction|result|final|label|correction"
_REWRITTEN = tuple(
    (re.compile(pattern), new)
    for pattern, new in (
        (r"<\|[^|<>\n]{1,40}\|>", "\n"),
        (r"[-*] \[ \][^\n]*", ""),
        (r"[-*] \[x\]", "answer:"),
        (r"\bif i (?:have|must|need)(?: to)? (?:pick|choose|answer)(?: \w+)? one word,?", "answer: "),
        (r"[-=]+>", ": "),
        (r"[✅✔✓☑]\ufe0f?", " yes "),
        (r"[❌✗✘✖]\ufe0f?", " no "),
        (r"\\(?:boxed|fbox)\s*\{", "\nanswer: {"),
        (r"\\(?:text\w*|math\w+|quad|,)\s*(?=[{\s])|\\[\[\]()]|\$+|```\w*", " "),
        (r"</[\w ]+>", "\n"),
        (r"<(\w+)>", r"\n\1: "),
        (r"[{,]?\s*\"([a-z][\w ]*)\"\s*:\s*", r"\n\1: "),
        (r"[{}\[\]「」『』<>¡¿]|^#+ ", " "),
        (r"(\*{1,3}|_{1,3}|`+|\"|(?<!\w)')[ \"*]*([^\n*_`\"]{1,60}?)[ \"*]*([.,:;!?]?)[ \"*]*\1(?!\w)", r'"\2"\3'),
        (r"[*`]+|(?<!\w)_+|_+(?!\w)", " "),
        (r"_", " "),
        (rf"\b(?!options|choices)({_SLOT})s?\"?:?[ \"]*\n+[\W_]*(?=\w|\()", r"\1: "),
        (r"\bno\. ?(?=\d)", "number "),
        (r"\b(mrs?|ms|dr)\.", r"\1"),
    )
)
_OTHER_TURN = re.compile(r"\n[\W_]*(?:question|q|user|human|context|story|input|instruction|passage)\b[\W_]*:")
_MARK = re.compile(
    rf"\b(?:{_SLOT})\b[^\n:=.!?]{{0,60}}?(?:\s?[:=]|\s->|\b(?:is|was|be|remains|would be|'s)\b)[\s:]*(?:(?:therefore|"
    r"then|thus|simply|that|clearly|a(?= (?:yes|no|clear|firm|definite)))\b)?[\s:]*|\bi(?:'d| would|'ll|"
    r" will)? (?:say|choose|pick|select|go with|answer):? "
)
_LEAD_IN = re.compile(
    r"(?:(?:well|hmm+|sure|okay|ok|honestly|certainly|absolutely|definitely|of course(?: not)?|i'm sorry|sorry|but|so|"
    r"therefore|hence|thus|and|then|to be honest|in short|in one word|overall|ja|nein|oui|non|s[ií]|nao|hai|now|"
    r"i (?:think|believe|guess)(?: that)?|my (?:short )?answer|assistant|human|a(?= (?:yes|no|clear|firm|definite))|"
    r"not at all|very|highly|quite|most|somewhat|fairly|extremely|"
    r"the (?:correct )?(?:option|answer)|option|choice)\b(?:[\s,.!:–\"]| -)*(?!-))*"
)
_DENIED = re.compile(
    r"\b(?:not|never|nor?|neither|cannot|without|hardly|rule out|ruled out|unlikely that|doubt|wrong|incorrect|false|"
    r"instead of|rather than|other than|except|against|nothing|nobody|dismiss|reject|eliminat\w*|\w+n't)\b(?! only\b)"
)
_DOUBTED = re.compile(
    r"\b(?:may|might|could|perhaps|maybe|possib\w+|if|whether|unless|either|depends|between|sometimes|both|"
    r"as likely|more likely|who'd|like to|hard to|would mean|saying|some|guess|suspect|speculat\w*|imagine|consider\w*|"
    r"stereotyp\w*|assum\w*|biased|prejudice\w*|(?:age|sex|rac)ist|\w+phobic|discriminat\w*|offensive|unfair|"
    r"would be \w+ to|suggest\w*|suppos\w*|readers|tempt\w*|people|society|parents|others|"
    r"everyone|anyone|used to|was going to|first thought|at first|easy to|asks?|lean\w*|seem\w*|"
    r"(?:he|she|they|me|we)(?: would|'d|'re)|(?:many|most|one) (?:would|might|could|may))\b|\?$"
)
_CLAUSE = re.compile(
    r"(?<=\?)(?=[\s\"])|[.!]+(?=[\s\"]|$)|[;\n]|,? \b(?:but|so|therefore|thus|hence|because|since|yet|however|"
    r"although|though|while|whereas|as|and(?= not| it| the))\b|, (?!or\b)|: | [–-] "
)
TAKEN_BACK = re.compile(
    r"\b(?:wait|correction|on second thought|on reflection|hold on|scratch that|misread|changed? my (?:mind|"
    r"answer)|no, actually|actually,? no)\b"
)
_UNDECIDED = re.compile(
    r"\b(?:could|might) (?:just as well|equally(?: well)?|also) be\b|\bleave this one\b|can't decide|if i (?:had|"
    r"have) to guess|possible answers|(?:flip|toss) a coin|wouldn't swear|either of them|\bi suppose\b"
)
_BEFORE = re.compile(  # what stands in a clause before an option that it asserts ends so
    r"(?:^|\b(?:so|then|thus|and|hence|clearly|therefore|think|believe|say|choose|chose|pick|go with|confident|"
    r"conclude|select|that|it's|is|was|by|were|are|be|answer|to|opt for|must be)|:|\()\W*$"
)
_AFTER = re.compile(
    r" who (?:was|is|did|had)\b|\W*(?:\||is|was|would be|seems)\W+(?:clearly )?(?:the (?:one|answer|person|right|"
    r"correct|best|only)|correct|right|my (?:answer|choice)|supported|yes)\b|\W+(?:yes|correct|right|true|supported)\b"
)
_REJECTED = re.compile(r"\W*(?:\||is|was|would be)?\W*(?:no(?!t)|not|wrong|incorrect|false|ruled|out\b|unsupported)\b")
_OWN = re.compile(
    r"\b(?:i|i'd|i would|i'll|i'm|i am|i'd be|i would be|its|it's|it is|it would|it would be)(?: (?:very|highly|quite|"
    r"most))?$"
)
_LED = re.compile(
    r"(?:\b(?:is|be|say|answer|with|simply|just|definitely|choose|very|highly|quite|clear|firm|definite|a|sorry|pick)|"
    r"[:,–\"-])$"
)
_CONTINUED = re.compile(  # what may follow the word with which a reply begins; of "no", which also denies a noun, less
    r"\W*$|\W+yes\W*$|\W*[.,;:!)\"–-](?! ?\d)|\W+(?:because|since|as|for|given|due|i|it|that|they|we|he|she|this|there|"
    r"of c\w+|please|you (?:should|must|can|have)|way|absolutely|definitely|indeed|"
    r"thanks?|would|they|to|everyone|my|based)\b|\W*\("
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


@dataclass(frozen=True)
class Said:
    """What a reply says of the options, by their places. given: where answers stand; denied, named: in any clause."""

    given: int | None
    asserted: frozenset[int]
    denied: frozenset[int]
    named: frozenset[int]
    text: str

    @property
    def only(self) -> int | None:
        """The option that is given, or the only one asserted."""
        if self.given is not None:
            return self.given
        return next(iter(self.asserted)) if len(self.asserted) == 1 and not _UNDECIDED.search(self.text) else None


def plain_lines(text: str) -> str:
    """Return a model's own turn in lower case, its wrappers rewritten: "answer: …" for boxes, tags and JSON."""
    text = plain(text[:_LONGEST]).casefold()
    for pattern, new in _REWRITTEN:
        text = pattern.sub(new, text)
    lines = "\n".join(" ".join(line.strip(" |").lstrip(".,;:'").split()) for line in text.splitlines())
    lines = re.sub(r"\n{2,}", "\n\n", "\n" + lines)  # else runs of them take long
    return next((turn.strip() for turn in _OTHER_TURN.split(lines) if turn.strip()), "")


def read_option(text: str, options: Sequence[Option], question: str = "") -> int | None:
    """Return the place of the one option that the reply gives as its answer; None: unread. Linear in its length."""
    said = read_said(text, options, question)
    return None if said.given is None and refuses(text) else said.only


def read_said(text: str, options: Sequence[Option], question: str = "") -> Said:
    """Return what a reply says of the options.

    Args:
        question: that was asked about a person ("Who forgot the code?"); a statement in its own words names who it was.
    """
    words = [word for option in options for each in option.words for word in each.split()]
    said, reader = mend_typos(plain_lines(text), ("because", *words)), _reader(tuple(options))
    back = list(TAKEN_BACK.finditer(said))
    found = reader.read(said[back[-1].end() :] if back else said, question)
    if back and found.only is None and reader.read(said[: back[-1].start()], question).only is not None:
        return Said(None, frozenset(), found.denied, found.named, said)
    return found


@lru_cache(256)
def _reader(options: tuple[Option, ...]) -> _Reader:
    return _Reader(options)


class _Reader:
    def __init__(self, options: Sequence[Option]) -> None:
        self._options = options
        self._place = {word: n for n, each in enumerate(options) for word in each.words}
        longest = sorted(self._place, key=len, reverse=True)
        self._words = re.compile(
            "|".join(rf"(?<!\w)(?<!\w-)(?<!\w'){re.escape(each)}(?!\w|-\w|'\w)" for each in longest)
        )
        self._labels = {each.label: n for n, each in enumerate(options) if each.label}
        letters = "".join(self._labels) or "\0"
        self._label = re.compile(
            rf"\(([{letters}])\)|^([{letters}])(?=[).:]|$)|\b(?:option|answer|choice) ([{letters}])\b|"
            rf"\"([{letters}])\"|\b(?:it's|is|choose|say|pick|select|with) ([{letters}])(?=\W*$)|"
            rf"\b([{letters}])(?= (?:is|would be) (?:the )?(?:correct|right|best|answer)\b)"
        )
        self._bracketed = re.compile(rf"\(?\b([{letters}])\)")
        self._first = re.compile(rf"[\W_]*(?:\(?([{letters}])(?:[).:]|(?=[\s,\"]*(?:$|because|since|as\b|–|-))))")

    def read(self, said: str, question: str) -> Said:
        asserted, denied, named = self._weigh_clauses(said, question)
        return Said(self._given(said, asserted), frozenset(asserted), frozenset(denied), frozenset(named), said)

    def _given(self, said: str, asserted: set[int]) -> int | None:
        """Return the option behind a mark, alone on the last or the first line, or with which the reply begins."""
        marked = [place for each in _MARK.finditer(said) if (place := self._behind(said, each)) is not None]
        if marked:
            return marked[-1] if len(set(marked)) == 1 and not _UNDECIDED.search(said) else None
        if (picked := self._ticked(said)) is not None:
            return picked
        first = self._leading(said.partition("\n")[0], whole=True)
        last = self._leading(said.rpartition("\n")[2], whole=True)
        lead = last if last is not None else self._leading(said)
        if lead is None or first not in (None, lead) or _UNDECIDED.search(said):
            return None
        return None if asserted - {lead} or (last is None and refuses(said)) else lead

    def _behind(self, said: str, mark: re.Match[str]) -> int | None:
        """Return the option right behind a mark, unless its clause denies or supposes it, or goes on to refuse."""
        start = max(said.rfind("\n", 0, mark.start()), said.rfind(". ", 0, mark.start())) + 1
        before = (_CLAUSE.split(said[start : mark.start()])[-1] or "") + said[mark.start() : mark.end()]
        if _DENIED.search(self._words.sub("", before)) or _HYPOTHETICAL.search(before):
            return None
        rest = said[mark.end() :].partition("\n")[0]
        place = self._leading(rest)
        return None if place is None or refuses(rest) else place

    def _ticked(self, said: str) -> int | None:
        """Return the one option of a list or table that its line calls right, where lines call others wrong."""
        right, wrong = set[int](), set[int]()
        for line in said.splitlines():
            words = self._words.sub("|", self._bracketed.sub("|", line))
            if len(places := self._named(line) or {self._labels[m[1]] for m in self._bracketed.finditer(line)}) == 1:
                right |= places if _TICK.search(words) else set()
                wrong |= places if _CROSS.search(words) else set()
        return right.pop() if len(right) == 1 and wrong - right and right.isdisjoint(wrong) else None

    def _leading(self, said: str, whole: bool = False) -> int | None:
        """Return the option that a text begins with, before a sign; whole: that is all of the text."""
        said = said.lstrip(" \n:>#-'.\"–•|")
        line = (said if self._labels else _NUMBERED.sub("", said)).partition("\n")[0].rstrip(' "')
        line = line[_LEAD_IN.match(line).end() :].lstrip(' "')  # type: ignore[union-attr]
        label = self._first.fullmatch(line) if whole else self._first.match(line)
        if label:
            place, rest = self._labels[label[1]], line[label.end() :]
            if rest[:1] == "?":
                return None
            clause = _CLAUSE.split(rest + " ")[0] if rest[:1] not in ",;" else rest
            others = {self._labels[each[1]] for each in self._bracketed.finditer(clause)}
            named = self._named(clause)
            if _REJECTED.match(self._words.sub("", clause).strip()) or others - {place}:
                return None  # "(b) is wrong", "(a) or (b)"
            return None if named and place not in named else place
        line = (whole and _TRANSLATED.sub("", line)) or line.lstrip("(")
        word = self._words.match(line)
        if not word:
            return None
        place, rest = self._place[word[0]], re.sub(rf"^(?:\W+{re.escape(word[0])}\b)+", "", line[word.end() :])
        if re.match(r"\W*(?:or|and)\b|\s*(?:/|not\b)", rest):
            return None
        after = re.compile(r"\W*$") if whole else _CONTINUED if self._options[place].bare else _CONTINUED_NAME
        if not after.match(rest):
            return None
        return None if self._named(_CLAUSE.split(line)[0]) - {place} else place  # "Yes.No"

    def _named(self, text: str) -> set[int]:
        return {self._place[word[0]] for word in self._words.finditer(text)}

    def _weigh_clauses(self, said: str, question: str) -> tuple[set[int], set[int], set[int]]:
        """Return the options that clauses assert, that they deny, and all that they name."""
        asserted, denied, named, weakly = set[int](), set[int](), set[int](), set[int]()
        asked = _Predicate(question) if question else None
        for clause in _CLAUSE.split(said):
            mentions = [(m.start(), m.end(), self._place[m[0]], False) for m in self._words.finditer(clause)]
            mentions += [
                (m.start(), m.end(), self._labels[next(filter(None, m.groups()))], True)
                for m in self._label.finditer(clause)
            ]
            places = {place for _, _, place, _ in mentions}
            named |= places
            if len(places) != 1:
                continue
            [place] = places
            option = self._options[place]
            start, end = min(mentions)[0], max(each[1] for each in mentions)
            before, after = clause[:start], clause[end:]
            if asked and not before.strip(' "(') and asked.is_said(after):
                asserted.add(place)
            elif _DENIED.search(_RELATIVE.sub(" ", before)) or _REJECTED.match(after):
                denied.add(place)
            elif _DOUBTED.search(before + "|" + after) and not option.open:
                continue
            elif option.bare:
                if self._stands_alone(before, clause[start:end], after):
                    asserted.add(place)
            elif option.open or _AFTER.match(after) or (before + " ").endswith('" '):
                asserted.add(place)
            elif _BEFORE.search(before):
                if asked is None or not after.strip(' "().') or mentions[0][3]:
                    matches = not _DENIED.search(after)
                else:
                    matches = asked.is_said(after)
                if matches:
                    (asserted if asked or before else weakly).add(place)
        if not denied - weakly:  # "X could, Y couldn't": of a question that isn't known
            asserted |= weakly
        return asserted - denied, denied, named

    def _stands_alone(self, before: str, word: str, after: str) -> bool:
        before = before.rstrip()
        if before[-1:] in ('"', "(") and after.lstrip()[:1] in ('"', ")"):
            return True
        if _MINE.match(after):
            return True
        if _OWN.search(before):
            return not (re.match(r" (?:\w+ed|say|answer)\b", after) or (word == "no" and re.match(r" \w", after)))
        return (not before or bool(_LED.search(before))) and not re.match(r"\s*(?!from me\b)\w", after)


_TICK = re.compile(r"\|[\W]*(?:is )?(?:yes|correct|right|true|supported)\b")
_CROSS = re.compile(r"\|[\W]*(?:is )?(?:no|not|wrong|incorrect|false|unsupported)\b|\|\W*$")
_NUMBERED = re.compile(r"^\(?(?:\d{1,2}|[a-e])[.):] ")
_MINE = re.compile(r"\W*(?:is|was|would be) my (?:final )?(?:answer|choice|pick)\b")
_TRANSLATED = re.compile(r"^[^\W\d][\w ]{0,40}\W{0,3}\((?=[^()]*\)\W*$)")
_RELATIVE = re.compile(r"\b(?:who|that|which)\b.*?(?=\b(?:is|was|are|were)\W*$)")
_HYPOTHETICAL = re.compile(
    r"\b(?:previous|earlier|initial|if|whether|unless|possible|might|may|could|people|wrong|biased|stereotyp\w*)\b"
)
_CONTINUED_NAME = re.compile(r"\s*(?:$|yes\W*$|[.,;:!)(–\"-](?! ?\d)|because\b|since\b|as\b|for\b|\()")


class _Predicate:
    """The words with which a question asks about a person, and whether it denies."""

    def __init__(self, question: str) -> None:
        self._asked = self._content(plain(question).casefold())
        self._denies = len(_DENIED.findall(plain(question).casefold()))

    def is_said(self, clause: str) -> bool:
        """Whether a clause has most of these words, and denies as the question does."""
        said = self._content(clause)
        shared = sum(word in said for word in self._asked)
        return 2 * shared > len(self._asked) and (len(_DENIED.findall(clause)) - self._denies) % 2 == 0

    @staticmethod
    def _content(text: str) -> set[str]:
        words = re.findall(r"[a-z]{3,}", text)
        return {word[:5] for word in words if word not in _FUNCTION_WORDS}


_WORDS_OF_FUNCTION = (
    "who which whose what was were are is the and not has had have did does them they two person people one that this "
    "for with from her his their been being"
)
_FUNCTION_WORDS = frozenset(_WORDS_OF_FUNCTION.split())
