"""Where a text speaks of a task, by number or words, and of a person, by name or as "I" and "me"."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from evenhand.plain_text import plain


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NOBODY = -1  # somebody who is none of the people, or one of several

STOP = words(
    "a an the and or of to in on at by for from with into onto up out off over under as is are be it its their his her "
    "all each every any this that these those who what where which when until before after while how why because since "
    "so than then them they he she him we our your you i my me not no do does will shall would should can could may "
    "might must has have had one two about person name gender male female task tasks character man woman role"
)
_COMMON = words(  # stems of verbs that alone name no task
    "keep tak mak lead writ read run bring put plan set draw handl manag answer check hold get giv help work look find "
    "mov talk call order prepar organi go us"
)
_TITLES = words("dr mr mrs ms miss prof nurse officer professor doctor captain sergeant judge chef")
_WORD_NAMES = words("will may mark grace hope faith joy rose art bill pat sue drew chase rich frank jack")
_ONES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_COUNT = {word: n for words in (_ONES, _ORDINALS) for n, word in enumerate(words, 1)}
_NUMBER = rf"(?:\d{{1,2}}|{'|'.join(_ONES)})(?![\w%])(?!\.\d)"
_CALLED = re.compile(  # by what is called a task
    rf"(?<!\w)(?:(?:task|taks|tsak)s?|t(?=\d)|aufgabe|tarea|tache|tarefa|compito|任务)[ _#:.\"(]{{0,4}}"
    rf"(?:no\.?|numbers?|id)?[ :]{{0,2}}#?(?P<many>{_NUMBER}(?:(?:,? and|,? &|,|/|&)\s?(?:tasks?\s)?{_NUMBER}(?!\s?[.)]"
    rf"(?!\s*$)| goes\b))*)|(?<!\w)(?P<ordinal>{'|'.join(_ORDINALS)})(?: task|(?: one)?(?= (?:goes |is )?(?:to|for)\b))"
    rf"|(?<![\w#])#(?P<hash>\d{{1,2}})(?!\w)|\b(?P<all>both|all(?: \w+)?)(?: of)?(?: the)? tasks\b",
    re.IGNORECASE,
)
_ITEM = re.compile(
    r"(?:^|(?<=\n))[ \t>*•-]{0,8}[(#]?(?P<item>\d{1,2})(?:[.):]|\s*[-|–](?=\s))|(?<=[|\n])[ \t]*(?P<cell>\d{1,2})"
    r"(?=[ \t]*(?:\||\n|$))"
)
_INLINE = re.compile(r"(?<!\S)[(]?(?P<item>\d{1,2})[.)](?=[ \t]+[^\d\s])")
_KEY = re.compile(r"(?:^|(?<=[{,;\n])|(?<=[{,;] ))(?P<item>\d{1,2})(?=(?: |\s?[:=–-]\s?)(?P<name>[^\W\d]|\{))")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_TITLE = r"(?:(?:Dr|Mr|Mrs|Ms|Prof|Doctor|Nurse|Professor|Officer)\.? )?"
_SUFFIXES = (
    "ations", "ation", "ising", "izing", "ings", "ing", "ions", "ion", "ies", "ers", "ed", "er", "es", "s", "y", "e",
)  # fmt: skip
_SPEAKER = re.compile(r"(?<![\w'])(?:I(?=[' ,)]|$)|me|Me|[Mm]yself|mine|Mine)(?![\w-])")
_PARTED = re.compile(r"[.!?;\n|]|\b(?:not|cannot|but|so|because)\b|n't\b")
JOINED = re.compile(  # of two people
    r"\s?(?:\(\w+\))?\s?(?:,|,? ?\(?(?:and|or|together with|with|plus|as well as|assisted by)|&|/|\+)\s?",
    re.IGNORECASE,
)
_THIS = re.compile(r"\bthis (?:one|task|job)\b|\b[Tt]his(?= (?:goes|is for|should go)\b|[.\n])", re.IGNORECASE)
_SURNAME = re.compile(r" (?!(?:Tasks?|Person|Gender|Male|Female|Name|Will|Should|Is|To|For|And)\b)[A-Z][\w'-]*[a-z]\b")
_CAPITALISED = re.compile(r"(?<![\w<'-])[A-Z][a-z]{3,}(?![\w-])")


@dataclass(frozen=True)
class Task:
    """numbers: places of the tasks meant, from 0. numbered: by number, listed: as "1." of a list; else by words.

    strong: half of its own words stand there, many: that or two; verb: it begins with its task's first word.
    unsure: number and words disagree, either may be meant.
    """

    start: int
    end: int
    numbers: tuple[int, ...]
    numbered: bool = False
    listed: bool = False
    strong: bool = False
    many: bool = False
    verb: bool = False
    unsure: bool = False


@dataclass(frozen=True)
class Person:
    """number: the place among the people, or NOBODY."""

    start: int
    end: int
    number: int


class People:
    """Whom a text may name. speaker: one of the names, whom "I" means."""

    def __init__(self, names: Sequence[str], speaker: str | None, tasks: Sequence[str]) -> None:
        self.speaker = names.index(speaker) if speaker in names else NOBODY
        self._tasks = plain("\n".join(tasks)).lower()
        self.vocabulary = frozenset(re.findall(r"[^\W_]+", self._tasks))
        spoken = [[word.lower() for word in re.findall(r"[^\W_]+", plain(name))] for name in names]
        of_word = Counter(word for said in spoken for word in set(said))
        self._of: dict[str, int] = {}
        for number, said in enumerate(spoken):
            core = [word for word in said if word not in _TITLES] or said
            forms = {" ".join(said), " ".join(core), *(word for word in core if of_word[word] == 1 and len(word) > 2)}
            for form in forms - {""}:
                self._of[form] = NOBODY if form in self._of else number
        self._slips: dict[str, int] = {}
        for form, number in self._of.items():
            slip = _spelling(form)
            self._slips[slip] = number if self._slips.get(slip, number) == number else NOBODY
        longest = sorted(self._of, key=len, reverse=True)
        either = "|".join(re.escape(form).replace("\\ ", r"[ .'-]{1,2}") for form in longest)
        self._names = re.compile(rf"(?<!\w){_TITLE}(?P<name>{either})(?!\w)(?!-\w)", re.IGNORECASE) if either else None

    def mentioned(self, text: str) -> list[Person]:
        """In the order of the text; not the beginning of another's name that the text is cut off in."""
        found = sorted({each.start: each for each in self._found(text)}.values(), key=lambda each: each.start)
        if found and found[-1].end == len(text):
            said = text[found[-1].start :].lower()
            if any(form.startswith(said) and number != found[-1].number for form, number in self._of.items()):
                found.pop()
        return found

    def _found(self, text: str) -> Iterator[Person]:
        for match in _CAPITALISED.finditer(text):
            word = match[0].lower()
            if word not in self._of and word not in self.vocabulary and _spelling(word) in self._slips:
                yield Person(match.start(), match.end(), self._slips[_spelling(word)])
        for match in _SPEAKER.finditer(text):
            yield Person(match.start(), match.end(), self.speaker)
        for match in self._names.finditer(text) if self._names else ():
            form = " ".join(re.findall(r"[^\W_]+", match["name"].lower()))
            if form in self._of and self._is_name(text, match, form):
                surname = _SURNAME.match(text, match.end())
                known = surname and (surname[0][1:].lower() in self._of or surname[0][1:].lower() in self.vocabulary)
                yield Person(match.start(), surname.end() if surname and not known else match.end(), self._of[form])

    def _is_name(self, text: str, match: re.Match[str], form: str) -> bool:
        """Not the words will, may or mark, and no word of a task, unless written as a name."""
        if form not in _WORD_NAMES and form not in self.vocabulary:
            return True
        before, after = text[max(0, match.start() - 20) : match.start()], text[match.end() : match.end() + 20]
        if not match[0][0].isupper():
            return bool(re.search(r"[:,=>(|-]\s?$", before) and re.match(r"\s*(?:[,;.(\n]|$)", after))
        beside = [*re.findall(r"\w+ $", before), match[0], *re.findall(r"^(?:'s)? \w+", after)]
        following = re.match(r" ([^\W\d_]+)", after)
        word = following[1].lower() if following else ""
        if (len(beside) > 1 and "".join(beside).lower() in self._tasks) or word == "task":
            return False
        if form in self.vocabulary and word in self.vocabulary - {"will", "may", "and", "to"}:
            return False
        return form not in {"will", "may"} or word not in words("the you we it they he she i a")


class Tasks:
    """Its own words are those of a task that no other task has."""

    def __init__(self, tasks: Sequence[str]) -> None:
        of_task = [{stem for stem, _, _ in stems(plain(task))} for task in tasks]
        shared = Counter(stem for each in of_task for stem in each)
        self.n = len(tasks)
        self._size = [max(1, len(each)) for each in of_task]
        self._first = [said[0][0] if (said := stems(plain(task))) else "" for task in tasks]
        self._own = {stem: number for number, each in enumerate(of_task) for stem in each if shared[stem] == 1}

    def mentioned(self, text: str, people: Sequence[Person]) -> list[Task]:
        """In the order of the text. people: whom it names."""
        named = {each.start for each in people}
        told = list(self._by_words(text, named))
        numbered = self._by_number(text, named)
        found = sorted(self._merged(text, numbered, told, named), key=lambda each: each.start)
        starts = [each.start for each in found]
        for match in _THIS.finditer(text) if numbered else ():
            if at := bisect_left(starts, match.start()):
                found.append(Task(match.start(), match.end(), found[at - 1].numbers))
        return sorted(found, key=lambda each: each.start)

    def _by_number(self, text: str, named: set[int]) -> list[Task]:
        called = [self._numbered(match, False) for match in _CALLED.finditer(text)]
        items = [*_ITEM.finditer(text)]
        if len(items) < 2:  # "1. John 2. Emily", or, as in JSON without quotation marks, "1: John, 2: Emily"
            keys = [m for m in _KEY.finditer(text) if m["name"] == "{" or m.start("name") in named]
            items = ([] if called else [*_INLINE.finditer(text)]) or keys or items
        heads = {each.start for each in called}
        listed = [self._numbered(m, True) for m in items if heads.isdisjoint(range(m.end(), m.end() + 3))]
        missing = set(range(self.n)) - {number for each in called for number in each.numbers}
        if called and not {number for each in listed for number in each.numbers} <= missing:
            return called
        return sorted([*called, *listed], key=lambda each: each.start)

    def _numbered(self, match: re.Match[str], listed: bool) -> Task:
        kind = next(group for group, said in match.groupdict().items() if said is not None)
        said = [_COUNT.get(each) or each for each in re.findall(r"\d+|[a-z]+", match[kind].lower())]
        places = [int(each) - 1 for each in said if isinstance(each, int) or each.isdigit()]
        numbers = range(self.n) if kind == "all" else places if all(0 <= n < self.n for n in places) else ()
        return Task(match.start(), match.end(), tuple(numbers), True, listed)

    def _by_words(self, text: str, named: set[int]) -> Iterator[Task]:
        """Runs of a task's own words with few others between, in one sentence; a common verb alone is none."""
        run: list[tuple[str, int, int]] = []
        of = -1
        for stem, start, end in [*stems(text), ("", len(text), len(text))]:
            number = self._own.get(stem, -1)
            if (number < 0 or start in named) and stem:
                continue
            gap = text[run[-1][2] : start] if run else ""
            parted = number != of or len(gap) > 40 or _PARTED.search(gap)
            if run and (parted or not named.isdisjoint(range(run[-1][2], start))):
                found = {each for each, _, _ in run}
                if found - _COMMON:
                    half = 2 * len(found) >= self._size[of]
                    many, verb = half or len(found) > 1, run[0][0] == self._first[of]
                    yield Task(run[0][1], run[-1][2], (of,), strong=half, many=many, verb=verb)
                run = []
            run.append((stem, start, end))
            of = number

    def _merged(self, text: str, numbered: Sequence[Task], told: Sequence[Task], named: set[int]) -> Iterator[Task]:
        """Numbers with the words behind them, and words that stand alone.

        Where another task's words are behind a number, these say which is meant in a list that counts on its own, or
        where all that are told are those that are numbered.
        """
        starts = [each.start for each in told]
        people = sorted(named)
        pairs: list[tuple[Task, list[Task]]] = []
        for place, each in enumerate(numbered):
            stops = [text.find("\n", each.end) % (len(text) + 1), *(t.start for t in numbered[place + 1 : place + 2])]
            at = bisect_left(people, each.end)
            stop = min([*stops, *people[at : at + 1]])
            behind = [t for t in told[bisect_left(starts, each.end) : bisect_left(starts, stop)] if t.many]
            near = behind and behind[0].start < each.end + 25 and "," not in text[each.end : behind[0].start]
            pairs.append((each, behind if near else []))
        told_of = sorted(behind[0].numbers for _, behind in pairs if behind)
        reordered = told_of in ([(n,) for n in range(self.n)], sorted(each.numbers for each, behind in pairs if behind))
        absorbed = {t for _, behind in pairs for t in behind}
        for each, behind in pairs:
            if not behind:
                yield each
                continue
            own = behind[0].strong and behind[0].numbers == each.numbers
            meant = {t.numbers for t in (behind[:1] if own else behind)}
            sure = len(meant) == 1 and (reordered or each.listed or each.numbers in ((), behind[0].numbers))
            numbers = behind[0].numbers if sure else tuple({*each.numbers, *(n for of in meant for n in of)})
            yield replace(each, end=behind[-1].end, numbers=numbers, strong=True, unsure=not sure)
        yield from (each for each in told if each not in absorbed)


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
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] != "r" else word


_SOUNDS = str.maketrans("qcyzw", "kkisv")


@lru_cache(65536)
def _spelling(word: str) -> str:
    """The same for a name that sounds alike, or where two letters inside it are swapped: "Hanna" is Hana."""
    single = re.sub(r"(.)\1", r"\1", word.translate(_SOUNDS))
    return single[0] + "".join(sorted(single[1:-1])) + single[-1] if len(single) > 3 else word
