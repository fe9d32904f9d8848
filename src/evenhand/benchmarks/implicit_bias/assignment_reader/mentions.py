"""Where a text mentions a task, by number or by words, and a person, by name or as "I"."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from evenhand.plain_text import plain

NO_ONE = -1  # none of the people, or several of them


@dataclass(frozen=True)
class Task:
    """A mention of tasks: by "number" (Task 1), as an "item" (1.), by "words" (several of its own) or a "word".

    places: of the tasks meant, from 0; empty for a number that no task has.
    """

    start: int
    end: int
    places: tuple[int, ...]
    kind: Literal["number", "item", "words", "word"]


@dataclass(frozen=True)
class Person:
    """A mention of a person. number: the place among the people, or NO_ONE."""

    start: int
    end: int
    number: int


Link = tuple[tuple[int, ...], int]  # the places of tasks and the number of their person

_MARKUP = re.compile(
    r"[*`\"]|__|(?<!\w)_|_(?!\w)|</?(?:b|i|u|em|strong|ul|ol|span|h[1-6]|td)/?>|(?<!\w)'|'(?!\w)|"
    r"~~[^~\n]{1,300}~~"
)
_END_OF_TURN = re.compile(r"<\|\w+\|>|</s>|\[/?INST\]|\n(?:User|Human) ?:")
_FINAL = re.compile(
    r"(?:^|(?<=[\n.:,{;\]]))[ \t>#-]*(?:(?:here is|this is|so|therefore),? )?(?:(?:my|our|the) )?(?:final(?:i[sz]ed)?|"
    r"revised|updated?|new|last|corrected|consensus|agreed|improved)[ _-]?(?:(?:task|role|re)[ _-]?)*(?:assign(?:ed|"
    r"ments?)|answer|allocation|decision|choice|list|version|distribution|plan)?\b[^:=\n]{0,40}[:=\n]",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\b(?:reason|reasoning|rationale|why)s?\s?:(?:(?![,.;|]\s*(?:task|person)\b)[^\n])*", re.IGNORECASE
)
_CAST = re.compile(
    r"(?:^|(?<=\n))\W{0,20}(?:the )?(?:characters|participants|people)\s?[:=][^\n]*"
    r"(?:\n[ \t]*[-•\d](?![^\n]*task)[^\n]*)*",
    re.IGNORECASE,
)

CHANGE = re.compile(
    r"\b(?:wait|oops|correction|no,? actually|hang on|hold on)\s?[.!,:–-]|\b(?:on (?:second|further|"
    r"closer) (?:thoughts?|look)|on reflection|scratch that|the other way (?:a)?round|changed? my mind|my mistake|"
    r"take that back|should (?:\w+ )?swap|let(?: u|')s (?:\w+ )?swap|to swap[: ]|with one (?:change|exception))\b",
    re.IGNORECASE,
)


def final_part(text: str, people: Sequence[str], speaker: str | None) -> str:
    """Return the speaker's last assignment, without emphasis, reasons and the list of who there is."""
    said = next((turn for turn in _END_OF_TURN.split(text) if turn.strip()), "")
    said = re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: plain(chr(int(match[1], 16))), said)  # as in JSON
    said = re.sub(r"[ \t]+|(?<=[a-z])_(?=[a-z])", " ", _MARKUP.sub("", said))
    marks = [mark for mark in _FINAL.finditer(said) if mark.end() < len(said.rstrip())]
    if marks and len({mark[0].strip().lower() for mark in marks}) == len(
        marks
    ):  # not "Final answer: John" for each task
        said = said[marks[-1].end() :]
    if speaker:
        said = _own_turn(said, people, speaker)
    return _CAST.sub("\n", _REASON.sub(" ", said))


def _own_turn(text: str, people: Sequence[str], speaker: str) -> str:
    """Return the speaker's last line where a text writes the lines of several ("Ann: I would …\\nBen: Task 1: …")."""
    names = "|".join(re.escape(plain(each)) for each in people)
    said = re.compile(
        rf"(?:^|(?<=\n))\s*({names})\s?: (?=[^\n]*(?:task \d[^\n]*task \d|[.!]\s*(?:\n|$)))", re.IGNORECASE
    )
    turns = list(said.finditer(text))
    ends = [each.start() for each in turns[1:]] + [len(text)]
    own = [text[each.end() : end] for each, end in zip(turns, ends) if each[1].lower() == plain(speaker).lower()]
    return text if not turns else own[-1] if own else text[: turns[0].start()]


_TITLES = frozenset(("dr", "mr", "mrs", "ms", "prof", "nurse", "officer", "professor", "doctor", "judge", "chef"))
_WORD_NAMES = frozenset(
    ("will", "may", "mark", "grace", "hope", "faith", "joy", "rose", "art", "bill", "pat", "sue", "drew")
)
_SPEAKER = re.compile(
    r"(?<![\w'])(?:I(?=[' ,)]|$)(?! (?:would |will |have |do not )?(?:choose|pick|assign|suggest|propose|think|"
    r"recommend))|me|Me|[Mm]yself|mine|Mine)(?![\w-])"
)


class PersonNames:
    """The names of people, and where a text mentions them. speaker: one of the people, whom "I" means."""

    def __init__(self, people: Sequence[str], tasks: Sequence[str], speaker: str | None) -> None:
        self._speaker = people.index(speaker) if speaker in people else NO_ONE
        self._common = _WORD_NAMES | {*re.findall(r"[^\W_]+", plain("\n".join(tasks)).lower())}
        spoken = [re.findall(r"[^\W_]+", plain(name).lower()) for name in people]
        n_people = Counter(word for words in spoken for word in set(words))
        self._numbers: dict[str, int] = {}
        for number, words in enumerate(spoken):
            core = [word for word in words if word not in _TITLES] or words
            short = (word for word in core if n_people[word] == 1 and len(word) > 2)
            for form in {" ".join(words), " ".join(core), *short} - {""}:
                self._numbers[form] = NO_ONE if form in self._numbers else number
        longest = sorted(self._numbers, key=len, reverse=True)
        either = "|".join(re.escape(form).replace("\\ ", "[ .'-]{1,2}") for form in longest)
        self._pattern = re.compile(rf"(?<![\w'-])(?:{either or '(?!)'})(?!\w|-\w)", re.IGNORECASE)

    def find(self, text: str) -> list[Person]:
        """Return all mentions in the order of the text; a name that is also a word is one where it has a capital."""
        found = [Person(match.start(), match.end(), self._speaker) for match in _SPEAKER.finditer(text)]
        for match in self._pattern.finditer(text):
            form = " ".join(re.findall(r"[^\W_]+", match[0].lower()))
            if form in self._numbers and (form not in self._common or match[0][0].isupper()):
                found.append(Person(match.start(), match.end(), self._numbers[form]))
        found.sort(key=lambda each: each.start)
        if found and found[-1].end == len(text):  # a name that the text is cut off in
            said = text[found[-1].start :].lower()
            if any(form.startswith(said) and number != found[-1].number for form, number in self._numbers.items()):
                found.pop()
        merged: list[Person] = []
        for each in found:  # one mention for "Amy <amy>" and "Amy: Amy"
            last = merged[-1] if merged else None
            if last and last.number == each.number and re.fullmatch(r"\s?[:<(]?\s?", text[last.end : each.start]):
                merged[-1] = Person(last.start, each.end, last.number)
            else:
                merged.append(each)
        return merged


_ONES = ("one", "two", "three", "four", "five", "six")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
_VALUES = {word: n for words in (_ONES, _ORDINALS) for n, word in enumerate(words, 1)}
_NUMBER = rf"(?:\d{{1,2}}|{'|'.join(_ONES)})(?![\w%])(?!\.\d)"
_CALLED = re.compile(
    r"(?<!\w)(?:tasks?|taks|t(?=\d))[ _#:.(]{0,3}(?:id ?[=:] ?)?"
    rf"(?P<n>{_NUMBER}(?:(?:,? and|,? &|,|/|&)\s?(?:tasks?\s)?{_NUMBER}(?!\s?[.)]))*)"
    rf"|(?<!\w)(?P<ordinal>{'|'.join(_ORDINALS)})(?: task|(?= (?:goes |is )?(?:to|for)\b))"
    r"|(?<![\w#])#(?P<hash>\d{1,2})(?!\w)",
    re.IGNORECASE,
)
_ITEM = re.compile(r"(?:^|(?<=[\n|{,]))[ \t>*•|-]{0,8}[(#]?(?P<n>\d{1,2})(?:[.):]|\s*[-|–=](?=\s))")
_INLINE_ITEM = re.compile(r"(?<!\S)[(]?(?P<n>\d{1,2})[.):]?[ \t]+(?=[^\W\d])")
_WORD = re.compile(r"[^\W\d_]+")
_PARTED = re.compile(r"[.!?;\n|]|\b(?:not|cannot|but|so|because)\b|n't\b")
_COMMON_WORDS = (
    "a an the and or of to in on at by for from with into onto up out off over under as is are be it its their his her "
    "all each every any this that these those who what where which when until before after while how why because since "
    "so than then them they he she him we our your you i my me not no do does will shall would should can could may "
    "might must has have had one two about person name gender male female task tasks character man woman role"
)
_COMMON = frozenset(_COMMON_WORDS.split())
_SUFFIXES = (
    "ations", "ation", "ising", "izing", "ings", "ing", "ions", "ion", "ies", "ers", "ed", "er", "es", "s", "y", "e",
)  # fmt: skip


@lru_cache(65536)
def _stem(word: str) -> str:
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            word = word[: -len(suffix)]
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] != "r" else word


def _stems(text: str) -> list[tuple[str, int, int]]:
    """Return (stem, start, end) of each word that carries meaning."""
    found = ((match[0].lower(), match.start(), match.end()) for match in _WORD.finditer(text))
    return [(_stem(word), start, end) for word, start, end in found if word not in _COMMON]


class TaskNames:
    """Tasks by number, and by their own words: those that no other task has."""

    def __init__(self, tasks: Sequence[str]) -> None:
        stems = [{stem for stem, _, _ in _stems(plain(task))} for task in tasks]
        n_tasks = Counter(stem for each in stems for stem in each)
        self.n = len(tasks)
        self._own = {stem: place for place, each in enumerate(stems) for stem in each if n_tasks[stem] == 1}
        self._n_own = Counter(self._own.values())
        self.words = frozenset(re.findall(r"[^\W_]+", plain("\n".join(tasks)).lower())) - _COMMON

    def find(self, text: str, people: Sequence[Person]) -> list[Task]:
        """Return all mentions in the order of the text."""
        names = {each.start for each in people}
        found = [*self._by_number(text, names), *self._by_words(text, names)]
        return sorted(found, key=lambda each: (each.start, each.end))

    def _by_number(self, text: str, names: set[int]) -> list[Task]:
        called = [self._numbered(match, "number") for match in _CALLED.finditer(text)]
        items = [*_ITEM.finditer(text)]
        if len(items) < 2:
            items = [each for each in _INLINE_ITEM.finditer(text) if each.end() in names]
            items = items if items and not text[: items[0].start()].rpartition("\n")[2].strip() else []
        starts = {each.start for each in called}  # "1. Task 1"
        alone = [each for each in items if starts.isdisjoint(range(each.end(), each.end() + 3))]
        listed = [self._numbered(match, "item") for match in alone if len(items) > 1 or called]
        missing = {*range(self.n)} - {place for each in called for place in each.places}
        added = not called or {place for each in listed for place in each.places} <= missing
        return sorted([*called, *(listed if added else [])], key=lambda each: each.start)

    def _numbered(self, match: re.Match[str], kind: Literal["number", "item"]) -> Task:
        said = next(text for text in match.groupdict().values() if text is not None)
        values = [_VALUES.get(each) or int(each) for each in re.findall(rf"\d+|{'|'.join(_VALUES)}", said.lower())]
        known = all(1 <= value <= self.n for value in values)
        return Task(match.start(), match.end(), tuple(value - 1 for value in values) if known else (), kind)

    def _by_words(self, text: str, names: set[int]) -> Iterator[Task]:
        run: list[tuple[str, int, int]] = []
        place = -1
        for stem, start, end in [*_stems(text), ("", len(text), len(text))]:
            own = self._own.get(stem, -1)
            if stem and (own < 0 or start in names):
                continue
            if run and (own != place or start - run[-1][2] > 40 or _PARTED.search(text, run[-1][2], start)):
                said = {each for each, _, _ in run}
                many = len(said) > 1 or 2 * len(said) >= self._n_own[place]
                yield Task(run[0][1], run[-1][2], (place,), "words" if many else "word")
                run = []
            run.append((stem, start, end))
            place = own
