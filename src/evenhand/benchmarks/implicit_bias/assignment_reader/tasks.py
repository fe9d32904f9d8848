"""Where a text speaks of a task: by its number, or by words that no other task has."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from evenhand.benchmarks.implicit_bias.assignment_reader.people import Person
from evenhand.benchmarks.implicit_bias.assignment_reader.words import COMMON, STOP
from evenhand.plain_text import plain

_ONES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_COUNT = {word: n for words in (_ONES, _ORDINALS) for n, word in enumerate(words, 1)}
_NUMBER = rf"(?:\d{{1,2}}|{'|'.join(_ONES)})(?![\w%])(?!\.\d)"
_NUMBERED = re.compile(
    rf"(?:(?<!\w)(?:(?:task|taks|tsak)s?|t(?=\d)|aufgabe|tarea|tache|tarefa|compito)|任务)[\s_#:.\"(]{{0,4}}(?:no\.?|"
    rf"numbers?|id)?[\s:]{{0,2}}#?(?P<many>{_NUMBER}(?:(?:,? and|,? &|,|/|"
    rf"&)\s?(?:tasks?\s)?{_NUMBER}(?!\s?[.)](?!\s*$)| goes\b))*)|(?<!\w)(?P<ordinal>{'|'.join(_ORDINALS)})(?: task|"
    rf" one(?= (?:goes|is|to|for|should|will)\b))|(?<=the )(?P<nth>{'|'.join(_ORDINALS)})(?= (?:goes |is )?(?:to|"
    rf"for)\b(?! last))"
    r"|(?:^|(?<=\n))[ \t>*•-]{0,8}[(#]?(?P<item>\d{1,2})(?:[.):]|\s*[-|–](?=\s))|(?<=[|"
    r"\n])[ \t]*(?P<cell>\d{1,2})(?=[ \t]*(?:\||\n|$))|(?<![\w#])#(?P<hash>\d{1,2})(?!\w)",
    re.IGNORECASE,
)
_CALLED = ("many", "ordinal", "nth", "hash")  # of these groups: what is called a task
_INLINE_ITEM = re.compile(r"(?<!\S)[(]?(?P<item>\d{1,2})[.)](?=[ \t]+[^\d\s])")
_KEY = re.compile(r"(?:^|(?<=[{,;\n])|(?<=[{,;] ))(?P<item>\d{1,2})(?=(?: |\s?[:=–-]\s?)(?P<name>[^\W\d]|\{))")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_SUFFIXES = (
    "ations", "ation", "ising", "izing", "ings", "ing", "ions", "ion", "ies", "ers", "ed", "er", "es", "s", "y", "e",
)  # fmt: skip


@dataclass(frozen=True)
class Task:
    """numbers: places of the tasks that are meant, from 0; several in "Tasks 1 and 3". numbered: else by its words."""

    start: int
    end: int
    numbers: tuple[int, ...]
    numbered: bool
    listed: bool = False  # "1." of a list
    told: bool = False  # half of its own words stand there
    many: bool = False  # half, or two
    unsure: bool = False  # number and words disagree: either may be meant


class Tasks:
    """Its own words are those of a task that no other task has."""

    def __init__(self, tasks: Sequence[str]) -> None:
        of_task = [{stem for stem, _, _ in stems(plain(task))} for task in tasks]
        shared = Counter(stem for each in of_task for stem in each)
        self.n = len(tasks)
        self._size = [max(1, len(each)) for each in of_task]
        self._own = {stem: number for number, each in enumerate(of_task) for stem in each if shared[stem] == 1}

    def mentioned(self, text: str, people: Sequence[Person]) -> list[Task]:
        """In the order of the text. people: whom it names."""
        named = {each.start for each in people}
        numbered, called = self._by_number(text, named)
        told = list(self._by_words(text, named))
        led = sum(not named.isdisjoint(range(each.end + 1, each.end + 4)) for each in numbered)
        persons_listed = (
            not called and 2 * led > len(numbered) and len({each.numbers for each in told if each.many}) > 1
        )
        if numbered and not persons_listed:
            return self._with_words(text, numbered, told, named)
        return told

    def _by_number(self, text: str, named: set[int]) -> tuple[list[Task], bool]:
        """And whether these are called tasks, not merely items of a list."""
        found = []
        for match in _NUMBERED.finditer(text):
            kind = match.lastgroup or ""
            words = re.findall(r"\d+|[a-z]+", match[kind].lower())
            numbers = tuple(_COUNT.get(each) or int(each) for each in words if each in _COUNT or each.isdigit())
            found.append(
                (kind, Task(match.start(), match.end(), tuple(n - 1 for n in numbers), True, kind not in _CALLED))
            )
        called = [each for kind, each in found if kind in _CALLED]
        listed = [each for kind, each in found if kind not in _CALLED]
        if len(listed) < 2:  # "1. John 2. Emily", or, as in JSON without quotation marks, "1: John, 2: Emily"
            inline = [] if called else [*_INLINE_ITEM.finditer(text)]
            keys = [m for m in _KEY.finditer(text) if m["name"] == "{" or m.start("name") in named]
            listed = [Task(m.start(), m.end(), (int(m["item"]) - 1,), True, True) for m in inline or keys] or listed
        heads = {each.start for each in called}
        listed = [each for each in listed if heads.isdisjoint(range(each.end, each.end + 3))]  # "1. Task 1"
        chosen = called or listed
        missing = set(range(self.n)) - {number for each in called for number in each.numbers}
        if called and {number for each in listed for number in each.numbers} <= missing:
            chosen = sorted([*called, *listed], key=lambda each: each.start)
        known = [each if all(0 <= n < self.n for n in each.numbers) else replace(each, numbers=()) for each in chosen]
        return known, bool(called)

    def _by_words(self, text: str, named: set[int]) -> Iterator[Task]:
        """Runs of a task's own words with at most six words between, in one sentence."""
        run: list[tuple[str, int, int]] = []
        of = -1
        for stem, start, end in stems(text):
            number = self._own.get(stem, -1)
            if number < 0 or start in named:
                continue
            if run and (number != of or start - run[-1][2] > 40 or self._parted(text, run[-1][2], start, named)):
                yield from self._told(run, of)
                run = []
            run.append((stem, start, end))
            of = number
        yield from self._told(run, of)

    def _parted(self, text: str, end: int, start: int, named: set[int]) -> bool:
        return bool(re.search(r"[.!?;\n|]", text[end:start])) or not named.isdisjoint(range(end, start))

    def _told(self, run: Sequence[tuple[str, int, int]], of: int) -> Iterator[Task]:
        """The mention that a run is: a common verb alone ("keeps", "takes") is none."""
        found = {stem for stem, _, _ in run}
        if found - COMMON:
            half = len(found) >= 0.5 * self._size[of]
            yield Task(run[0][1], run[-1][2], (of,), False, told=half, many=half or len(found) > 1)

    def _with_words(self, text: str, numbered: Sequence[Task], told: Sequence[Task], named: set[int]) -> list[Task]:
        """Numbers, each with the words behind it.

        Another task's words there say which is meant where a list counts on its own, where each task is told once, or
        where those told are those numbered. Words alone count too for tasks without a number, and behind a list
        that names nobody.
        """
        paired: list[tuple[Task, Task | None]] = []
        starts = [each.start for each in told]
        for place, each in enumerate(numbered):
            stop = numbered[place + 1].start if place + 1 < len(numbered) else len(text)
            near = told[bisect_left(starts, each.end) : bisect_left(starts, each.end + 25)]
            behind = next((t for t in near if t.many and _follows(text, each.end, t.start, stop)), None)
            if behind and (len(each.numbers) > 1 or not named.isdisjoint(range(each.end, behind.start))):
                behind = None
            paired.append((each, behind))
        pairs = {(each.numbers, behind.numbers) for each, behind in paired if behind}
        agreed = all(number in ((), meant) for number, meant in pairs)
        meant = sorted(meant for _, meant in pairs)
        reordered = meant in ([(n,) for n in range(self.n)], sorted(number for number, _ in pairs))
        found = []
        for each, behind in paired:
            if behind is None:
                found.append(each if agreed else replace(each, numbers=()))
                continue
            sure = reordered or each.listed or each.numbers in ((), behind.numbers)
            numbers = behind.numbers if sure else each.numbers + behind.numbers
            found.append(replace(each, end=behind.end, numbers=numbers, told=True, unsure=not sure))
        known = {number for each in found for number in each.numbers}
        unnamed = min([len(text), *named]) > numbered[-1].end
        further = [
            each
            for each in told
            if (each.many and unnamed and each.start > numbered[-1].end)
            or (each.numbers[0] not in known and (each.many or _is_cell(text, each)))
        ]
        found = sorted([*found, *_outside(further, found)], key=lambda each: each.start)
        for place, (each, other) in enumerate(pairwise(found)):  # "Task 1: plan the menus and choose the line: John"
            gap = range(each.end, other.start)
            near = len(gap) < 20 and named.isdisjoint(gap) and "\n" not in text[gap.start : gap.stop]
            if each.told and not other.numbered and near:
                found[place : place + 2] = replace(each, unsure=True), replace(other, unsure=True)
        return found


def _outside(each: Sequence[Task], others: Sequence[Task]) -> list[Task]:
    starts = [other.start for other in others]
    return [t for t in each if not (at := bisect_left(starts, t.start + 1)) or others[at - 1].end <= t.start]


def _is_cell(text: str, task: Task) -> bool:
    before, after = text[max(0, task.start - 3) : task.start], text[task.end : task.end + 3]
    return bool(re.search(r"[|:\n-] ?$", before) and re.match(r" ?(?:[|:\n]|$)", after))


def _follows(text: str, end: int, start: int, stop: int) -> bool:
    return start < stop and not re.search(r",|\b(?:because|since|as)\b", text[end:start])


def stems(text: str) -> list[tuple[str, int, int]]:
    """(stem, start, end) of each word that carries meaning."""
    words = ((match[0].lower(), match.start(), match.end()) for match in _WORD.finditer(text))
    return [(_stem(word), start, end) for word, start, end in words if word not in STOP]


@lru_cache(65536)
def _stem(word: str) -> str:
    word = word.removesuffix("'s")
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            word = word[: -len(suffix)]
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word
