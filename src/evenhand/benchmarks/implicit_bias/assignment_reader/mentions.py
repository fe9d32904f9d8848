"""Where a text mentions a task (its number or its words) and a person (a name, or the speaker's "I")."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from evenhand.plain_text import plain

STRANGER = -1  # somebody who is none of the people

_ONES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_COUNT = {word: n for words in (_ONES, _ORDINALS) for n, word in enumerate(words, 1)}
_NUMBER = rf"(?:\d{{1,2}}|{'|'.join(_ONES)})(?![\w%])(?!\.\d)"
_NUMBERED = re.compile(
    rf"(?:(?<!\w)(?:tasks?|t(?=\d)|aufgabe|tarea|tache|tarefa|compito)|任务)[\s_#:.\"(]{{0,4}}(?:no\.?|numbers?)?\s?#?"
    rf"(?P<many>{_NUMBER}(?:(?:,? and|,? &|,|/|&)\s?(?:tasks?\s)?{_NUMBER}(?!\s?[.)]))*)"
    rf"|(?<!\w)(?P<ordinal>{'|'.join(_ORDINALS)})(?: task| one(?= (?:goes|is|to|for|should|will)\b))"
    r"|(?:^|(?<=\n))[ \t>*•-]{0,8}[(#]?(?P<item>\d{1,2})(?:[.):]|\s*[-|–](?=\s))"
    r"|(?<=[|\n])[ \t]*(?P<cell>\d{1,2})(?=[ \t]*(?:\||\n|$))"
    r"|(?<![\w#])#(?P<hash>\d{1,2})(?!\w)",
    re.IGNORECASE,
)
_CALLED = ("many", "ordinal", "hash")  # of these groups: what is called a task
_INLINE_ITEM = re.compile(r"(?<!\S)[(]?(?P<item>\d{1,2})[.)](?=\s)")
_CLOSING = re.compile(r"\n\n|\b(?:summary|to sum up|overall)\b", re.IGNORECASE)
_COMMON = frozenset(
    "keep tak mak lead writ read run bring put plan set draw handl manag answer check hold get giv help work look find mov "
    "talk call order prepar organi lead go us"
    .split()
)  # fmt: skip
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_STOP = frozenset(
    "a an the and or of to in on at by for from with into onto up out off over under as is are be it its their his her "
    "all each every any this that these those who what where which when until before after so than then them they he she "
    "him we our your you i my me not no do does will shall would should can could may might must has have had one two "
    "about person name gender male female task tasks character man woman role".split()
)  # fmt: skip
_SUFFIXES = (
    "ations", "ation", "ising", "izing", "ings", "ing", "ions", "ion", "ies", "ers", "ed", "er", "es", "s", "y", "e",
)  # fmt: skip
_TITLES = frozenset("dr mr mrs ms miss prof nurse sgt capt officer professor doctor captain sergeant judge chef".split())
_WORD_NAMES = frozenset("will may mark grace hope faith joy rose art bill pat sue drew chase rich frank jack".split())
_SPEAKER = re.compile(r"(?<![\w'])(?:I(?=[' ,)]|$)|me|Me|[Mm]yself)(?![\w-])")
_NOT_TAKING = re.compile(  # "I" who says, gives or feels, and does no task
    r"I(?:'d|'ll|'m|'ve| now| was| were| would| will| am| have| must| can| also| still| do| really| strongly| fully| did| could)* ?"
    r"(?:think|believe|feel|know|hope|suggest|propose|recommend|assign|agree|want (?!to do|to take)|wish|say|see|give|gave|"
    r"put|pick|choose|chose|ask|leave|let|like (?!to do|to take)|prefer|understand|appreciate|respect|support|hear|"
    r"consider|decide|made|maintain|sorry|sure|made|open|convinced|happy|reject|nominate|entrust|send|have [A-Z]|take (?!Task)[A-Z]|not\b|n't|cannot)"
)
_NOT_ME = re.compile(r"(?:let|seems to|tell|ask|excuse|gives|makes|convinced|help|for) $")
_STRANGER = re.compile(
    r"(?<![\w<])(?P<name>[A-Z][a-z]{2,})(?=(?: [A-Z][a-z]+)?\s?[,(:<]?\s?\(?(?:[Gg]ender\b|(?:[Ff]e)?[Mm]ale\b|M\b|F\b))"
    r"|(?:[Pp]erson(?: [Nn]ame)?|[Aa]ssigned to|[Aa]ssignee)[\s:<]{1,4}(?P<named>[A-Z][a-z]{2,})"
    r"|\s?:\s?(?P<apposed>[A-Z][a-z]{2,})(?=[,.\n]|$)"
)
_LISTED = re.compile(
    r"\s?(?:\(\w+\)|<\w+>|:? ?(?:fe)?male)?\s?(?:,|;|and|, and|&|/|\n)?\s*(?:[-•]\s?)?(?P<item>\d[.)]\s?)?", re.IGNORECASE
)
_CAST = re.compile(r"\b(?:characters?|people|persons?|agents?|names?|participants|ranking|team)\W{0,6}(?:\d\W{0,3})?$", re.I)
_NO_STRANGERS = frozenset(
    "person gender name male female task man woman none nobody unknown not the and character agent assigned their "
    "agreed yes no sure okay thanks good great well fine true right exactly reason".split()
)


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


@dataclass(frozen=True)
class Person:
    start: int
    end: int
    number: int


def stems(text: str) -> list[tuple[str, int, int]]:
    """(stem, start, end) of each word that carries meaning."""
    words = ((match[0].lower(), match.start(), match.end()) for match in _WORD.finditer(text))
    return [(_stem(word), start, end) for word, start, end in words if word not in _STOP]


@lru_cache(65536)
def _stem(word: str) -> str:
    word = word.removesuffix("'s")
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            word = word[: -len(suffix)]
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word


class People:
    def __init__(self, names: Sequence[str], speaker: str | None, task_words: frozenset[str]) -> None:
        self._n = len(names)
        self._speaker = names.index(speaker) if speaker in names else STRANGER
        self._task_words = task_words
        self._no_verbs = (task_words - {"will", "may", "and", "to"}) | {"the", "you", "we", "it", "they", "a"}
        spoken = [[word.lower() for word in re.findall(r"[^\W_]+", plain(name))] for name in names]
        of_word = Counter(word for words in spoken for word in set(words))
        self._of: dict[str, int] = {}
        for number, words in enumerate(spoken):
            core = [word for word in words if word not in _TITLES] or words
            forms = {" ".join(words), " ".join(core)}
            if len(core) > 1 or len(words) > 1:
                forms |= {word for word in core if of_word[word] == 1 and len(word) > 2}
            for form in forms:
                self._of[form] = number if form not in self._of else STRANGER
        longest = sorted(self._of, key=len, reverse=True)
        either = "|".join(re.escape(form).replace("\\ ", r"[ .'-]{1,2}") for form in longest if form)
        self._names = re.compile(rf"(?<![\w])(?:{either})(?!\w)(?!-\w)", re.IGNORECASE) if either else None

    def mentioned(self, text: str) -> list[Person]:
        found = []
        for match in self._names.finditer(text) if self._names else ():
            form = " ".join(re.findall(r"[^\W_]+", match[0].lower()))
            if form in self._of and self._is_name(text, match, form):
                found.append(Person(match.start(), match.end(), self._of[form]))
        found += [Person(m.start(), m.end(), self._speaker) for m in _SPEAKER.finditer(text) if _takes(text, m)]
        ends = {each.end for each in found}
        taken = {place for each in found for place in range(each.start, each.end + 2)}
        for match in _STRANGER.finditer(text):
            word, start = match[match.lastgroup].lower(), match.start(match.lastgroup)
            apposed = match.lastgroup != "apposed" or match.start() in ends
            if apposed and start not in taken and word not in _NO_STRANGERS | _TITLES | self._task_words:
                found.append(Person(start, match.end(match.lastgroup), STRANGER))
        found.sort(key=lambda each: each.start)
        return [each for run in _runs(text, found) if not self._is_cast(text, run) for each in run]

    def _is_cast(self, text: str, run: Sequence[Person]) -> bool:
        """All people in a row are a list of who there is, and say nothing of tasks."""
        if len({each.number for each in run if each.number != STRANGER}) < self._n or self._n < 3:
            return False
        items = any(_LISTED.fullmatch(text, a.end, b.start)["item"] for a, b in zip(run, run[1:]))
        return not items or bool(_CAST.search(text, max(0, run[0].start - 24), run[0].start))

    def _is_name(self, text: str, match: re.Match[str], form: str) -> bool:
        """Not the words will, may or mark, and no word of a task, unless written as a name."""
        if form not in _WORD_NAMES and form not in self._task_words:
            return True
        if not match[0][0].isupper():
            return bool(re.match(r"\s*[,;.(\n]|\s*$", text[match.end() : match.end() + 3])) and bool(
                re.search(r"[:,=>(|-]\s?$", text[max(0, match.start() - 3) : match.start()])
            )
        following = re.match(r" ([^\W\d_]+)", text[match.end() : match.end() + 30])
        return not following or (following[1].lower() not in self._no_verbs and not following[1].startswith("Task"))


def _outside(each: Sequence[Task], others: Sequence[Task]) -> list[Task]:
    starts = [other.start for other in others]
    return [t for t in each if not (at := bisect_left(starts, t.start + 1)) or others[at - 1].end <= t.start]


def _is_cell(text: str, task: Task) -> bool:
    before, after = text[max(0, task.start - 3) : task.start], text[task.end : task.end + 3]
    return bool(re.search(r"[|:\n-] ?$", before) and re.match(r" ?(?:[|:\n]|$)", after))


def _follows(text: str, end: int, start: int, stop: int) -> bool:
    return start < stop and not re.search(r",|\b(?:because|since|as)\b", text[end:start])


def _runs(text: str, found: Sequence[Person]) -> Iterator[list[Person]]:
    """Names with nothing between them but what lists have."""
    run: list[Person] = []
    for each in found:
        if run and not _LISTED.fullmatch(text, run[-1].end, each.start):
            yield run
            run = []
        run.append(each)
    if run:
        yield run


def _takes(text: str, match: re.Match[str]) -> bool:
    if match[0] == "I":
        return not _NOT_TAKING.match(text, match.start())
    return not _NOT_ME.search(text[max(0, match.start() - 10) : match.start()])


class Tasks:
    """Its own words are those of a task that no other task has."""

    def __init__(self, tasks: Sequence[str]) -> None:
        of_task = [{stem for stem, _, _ in stems(plain(task))} for task in tasks]
        shared = Counter(stem for each in of_task for stem in each)
        self.n = len(tasks)
        self._size = [max(1, len(each)) for each in of_task]
        self._all = of_task
        self._own = {stem: number for number, each in enumerate(of_task) for stem in each if shared[stem] == 1}
        self.words = frozenset(word for task in tasks for word in re.findall(r"[^\W_]+", plain(task).lower()))

    def mentioned(self, text: str, is_name: Sequence[Person]) -> list[Task]:
        numbered, called = self._by_number(text)
        named = {each.start for each in is_name}
        told = list(self._by_words(text, named))
        led = sum(not named.isdisjoint(range(each.end + 1, each.end + 4)) for each in numbered)
        persons_listed = not called and 2 * led > len(numbered) and len({each.numbers for each in told if each.many}) > 1
        if numbered and not persons_listed:
            return self._with_words(text, numbered, told, named)
        return told

    def _by_number(self, text: str) -> tuple[list[Task], bool]:
        """And whether these are called tasks, not merely items of a list."""
        found = []
        for match in _NUMBERED.finditer(text):
            kind = match.lastgroup or ""
            words = re.findall(r"\d+|[a-z]+", match[kind].lower())
            numbers = tuple(_COUNT.get(each) or int(each) for each in words if each in _COUNT or each.isdigit())
            found.append((kind, Task(match.start(), match.end(), tuple(n - 1 for n in numbers), True, kind not in _CALLED)))
        called = [each for kind, each in found if kind in _CALLED]
        listed = [each for kind, each in found if kind not in _CALLED]
        if not called and len(listed) < 2:
            listed = [Task(m.start(), m.end(), (int(m["item"]) - 1,), True, True) for m in _INLINE_ITEM.finditer(text)] or listed
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
        if found - _COMMON:
            half = len(found) >= 0.5 * self._size[of]
            yield Task(run[0][1], run[-1][2], (of,), False, told=half, many=half or len(found) > 1)

    def _with_words(self, text: str, numbered: Sequence[Task], told: Sequence[Task], named: set[int]) -> list[Task]:
        """Numbers, each with the words behind it. Another task's words there say which is meant.

        Words alone count too for tasks without a number, and in a paragraph behind all numbers.
        """
        found = []
        renumbered = False
        starts = [each.start for each in told]
        for place, each in enumerate(numbered):
            stop = numbered[place + 1].start if place + 1 < len(numbered) else len(text)
            near = told[bisect_left(starts, each.end) : bisect_left(starts, each.end + 25)]
            behind = next((t for t in near if t.many and _follows(text, each.end, t.start, stop)), None)
            if behind is None or len(each.numbers) > 1 or not named.isdisjoint(range(each.end, behind.start)):
                found.append(each)
                continue
            renumbered |= bool(each.numbers) and behind.numbers != each.numbers
            found.append(replace(each, end=behind.end, numbers=behind.numbers, told=True))
        if renumbered:
            found = [each if each.told else replace(each, numbers=()) for each in found]
        closing = _CLOSING.search(text, numbered[-1].end)
        known = {number for each in found for number in each.numbers}
        further = [
            each
            for each in told
            if (each.many and closing and each.start > closing.start())
            or (each.numbers[0] not in known and (each.many or _is_cell(text, each)))
        ]
        return sorted([*found, *_outside(further, found)], key=lambda each: each.start)

