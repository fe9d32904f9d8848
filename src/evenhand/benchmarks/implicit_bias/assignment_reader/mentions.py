"""Where a text mentions a task, by number or by words, and a person, by name or as "I"."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from evenhand.answers.plain_text import plain

NO_ONE = -1  # none of the people, or several of them


class Task(NamedTuple):
    """A mention of tasks: by "number" (Task 1), as an "item" (1.), by "words" (several of its own) or a "word".

    places: of the tasks meant, from 0; empty for a number that no task has.
    """

    start: int
    end: int
    places: tuple[int, ...]
    kind: str


class Person(NamedTuple):
    """A mention of a person. number: the place among the people, or NO_ONE."""

    start: int
    end: int
    number: int


Link = tuple[tuple[int, ...], int]  # the places of tasks and the number of their person

_TITLES = frozenset(("dr", "mr", "mrs", "ms", "prof", "nurse", "officer", "professor", "doctor", "judge", "chef"))
_WORD_NAMES = frozenset(
    ("will", "may", "mark", "grace", "hope", "faith", "joy", "rose", "art", "bill", "pat", "sue", "drew")
)
_SPEAKER = re.compile(
    r"(?<![\w'])(?:I(?=[' ,)]|$)(?! (?:would |will |have )?(?:choose|pick|assign|suggest|propose|think|recommend))"
    r"|(?<![Ll]et )[Mm]e|[Mm]yself|[Mm]ine)(?![\w-])"
)


def _spoken(name: str) -> list[str]:
    return re.findall(r"[^\W_]+", plain(name).lower())


class PersonNames:
    """The names of people, and where a text mentions them. speaker: one of the people, whom "I" means."""

    def __init__(self, people: Sequence[str], tasks: Sequence[str], speaker: str | None) -> None:
        self._speaker = people.index(speaker) if speaker in people else NO_ONE
        self._common = _WORD_NAMES.union(*map(_spoken, tasks))
        n_people = Counter(word for name in people for word in set(_spoken(name)))
        self._numbers: dict[str, int] = {}
        for number, words in enumerate(map(_spoken, people)):
            core = [word for word in words if word not in _TITLES] or words
            short = (word for word in core if n_people[word] == 1 and len(word) > 2)
            for form in {" ".join(words), " ".join(core), *short} - {""}:
                self._numbers[form] = NO_ONE if form in self._numbers else number
        longest = sorted(self._numbers, key=len, reverse=True)
        either = "|".join(re.escape(form).replace("\\ ", "[ .'-]{1,2}") for form in longest) or "(?!)"
        self._pattern = re.compile(  # one mention for "Amy <amy>" and "Amy: Amy"
            rf"(?<![\w'-])(?:M(?:r|r?s)\.? )?(?P<form>{either})(?!\w|-\w)(?:[ :<(]{{1,3}}(?P=form)(?!\w|-\w))?", re.I
        )

    def find(self, text: str) -> list[Person]:
        """Return all mentions in the order of the text; a name that is also a word is one where it has a capital."""
        found = [Person(match.start(), match.end(), self._speaker) for match in _SPEAKER.finditer(text)]
        for match in self._pattern.finditer(text):
            form = " ".join(_spoken(match["form"]))
            if form in self._numbers and (form not in self._common or match["form"][0].isupper()):
                found.append(Person(match.start(), match.end(), self._numbers[form]))
        found.sort()
        cut_off = text[found[-1].start :].lower() if found else ""  # maybe a longer name that the text is cut off in
        longer = [number for form, number in self._numbers.items() if cut_off and form.startswith(cut_off)]
        return found[:-1] if {*longer} - {found[-1].number if found else NO_ONE} else found


_NUMBER = r"\d{1,2}(?![\w%])(?!\.\d)"
_CALLED = re.compile(
    rf"(?<!\w)(?:tasks?|t(?=\d))[ _#:.(]{{0,3}}(?:id ?[=:] ?)?(?P<n>{_NUMBER}(?:(?:,? and|,? &|,|/|&)\s?(?:tasks?\s)?"
    rf"{_NUMBER}(?!\s?[.)]))*)",
    re.IGNORECASE,
)
_ITEM = re.compile(r"(?:^|(?<=[\n|{,:.]))[ \t>*•|-]{0,8}[(#]?(?P<n>\d{1,2})(?:[.):]|\s*[-|–=](?=\s))")
_WORD = re.compile(r"[^\W\d_]+")
_PARTED = re.compile(r"[.!?;\n|]|\b(?:not|cannot|but|so|because)\b|n't\b")
_COMMON_WORDS = (
    "the and for out off are its his her all any who how why not one two she him our you has had can may was "
    "with from into onto over under their each every this that these those what where which when until before after "
    "while because since than then they them your will shall would should could might must have does about person "
    "name gender male female task tasks character woman role"
)
_COMMON = frozenset(_COMMON_WORDS.split())
_SUFFIX = re.compile(r"(?<=\w{3})(?:ations?|i[sz]ing|ings?|ions?|ies|ers?|e[ds]|[sye])$")


@lru_cache(65536)
def _stem(word: str) -> str:
    """The beginning that a word shares with its forms; "" for a word without meaning."""
    word = word.lower()
    return "" if len(word) < 3 or word in _COMMON else re.sub(r"(?<=\w{2})([^\Wr])\1$", r"\1", _SUFFIX.sub("", word))


def _stems(text: str) -> list[tuple[str, int, int]]:
    """Return (stem, start, end) of each word that carries meaning."""
    found = ((_stem(match[0]), match.start(), match.end()) for match in _WORD.finditer(text))
    return [each for each in found if each[0]]


class TaskNames:
    """Tasks by number, and by their own words: those that no other task has."""

    def __init__(self, tasks: Sequence[str]) -> None:
        stems = [{stem for stem, _, _ in _stems(plain(task))} for task in tasks]
        n_tasks = Counter(stem for each in stems for stem in each)
        self.n = len(tasks)
        self._own = {stem: place for place, each in enumerate(stems) for stem in each if n_tasks[stem] == 1}
        self._n_own = Counter(self._own.values())
        self.words = frozenset(word for task in tasks for word in _spoken(task)) - _COMMON

    def find(self, text: str, people: Sequence[Person]) -> list[Task]:
        """Return all mentions in the order of the text."""
        names = {each.start for each in people}
        return sorted([*self._by_number(text), *self._by_words(text, names)])

    def _by_number(self, text: str) -> Iterator[Task]:
        called = [self._numbered(match, "number") for match in _CALLED.finditer(text)]
        items = [self._numbered(match, "item") for match in _ITEM.finditer(text)]
        starts = {each.start for each in called}  # "1. Task 1"
        listed = [each for each in items if starts.isdisjoint(range(each.end, each.end + 3))]
        missing = {*range(self.n)}.difference(*(each.places for each in called))
        yield from called
        if len(items) > 1 and (not called or all({*each.places} <= missing for each in listed)):
            yield from listed

    def _numbered(self, match: re.Match[str], kind: str) -> Task:
        places = tuple(int(each) - 1 for each in re.findall(r"\d+", match["n"]))
        known = all(0 <= place < self.n for place in places)
        return Task(match.start(), match.end(), places if known else (), kind)

    def _by_words(self, text: str, names: set[int]) -> Iterator[Task]:
        """Yield runs of words of one task that stand near each other."""
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
