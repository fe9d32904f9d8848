"""Lists, tables, JSON and rows of labels: each task with the one person behind it, or each person with their tasks."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from evenhand.benchmarks.implicit_bias.assignment_reader.mentions import NO_ONE, Link, Person, Task

_LABEL = r"\b(?:final )?(?:person|name|assigned|answer)(?: name| to| is)*\)?\s?[:=<–-]?\s?<?"
_GIVING = r"(?:(?:i|we|i'd|i'll) (?:would |will |'d )?(?:assign|give|suggest|choose|pick) )?(?:this|it)(?: one|"
r" task)?(?: (?:should |will )?"
_GIVING += r"(?:goes?|is|given|belongs))? (?:to|for)"
_LABELLED = re.compile(rf"{_LABEL}$", re.IGNORECASE)
_SIGN = re.compile(r"[^\n{}]*[:=|>(<\[–{-][ <({\[]*(?:\w+ ?: )?$")
_HEAD_SIGN = re.compile(r"\s?(?:\(\w+\))?[:|=–-]")
_HEAD_START = re.compile(r"(?:^|[\n|{\[(:–-])[^\w\n]*(?:\w+ (?:& )?){0,2}$")
_LINE_START = re.compile(rf"[\s>•#*|+:-]*(?:\w{{1,2}}[.)] ?)?(?:{_LABEL}|{_GIVING})?[\s<(|]*", re.IGNORECASE)
_AFTER_NAME = re.compile(
    r"(?: [A-Z][\w-]+)?\s?(?:[^\w\s?!'%]|$|\n|(?:gender|(?:fe)?male|because|since|and|can(?!'t)|takes|gets|will|could|"
    r"should|is the)\b|[Tt]asks? \d|\d[.)])"
)
_ANSWER_END = re.compile(
    r"(?<!\bDr)(?<!\bM[rs])(?<!\bMrs)[.!;](?=\s|$)|,? (?:because|since|as|so that|who)\b|[\n|]| [–-] |"
    r",? and (?:the )?(?:\w+ ){1,4}(?:goe?s?|falls?|belongs?|(?:is|are) given) to\b"
    r"|: (?=[A-Z])|, (?!(?:and |or |with |then |assisted by )?[A-Z])|\((?=s?he\b|they\b)|, (?=[Gg]ender\b|Task\b)"
)
_BESIDE = r"(?:[^\w\n.!?]|\b(?:gender|of|the|for|person|name|tasks?|(?:fe)?male|[mf])\b)*"
_ABOVE = re.compile(rf"{_BESIDE}(?:\n[ \t>*#•+-]*(?:\w{{1,2}}[.)] )?(?:tasks?:)?\s*)?", re.IGNORECASE)
_SPEECH = re.compile(r"\s?(?:\(\w+\))?: *(?!(?:fe)?male\b|gender\b)\S", re.IGNORECASE)
_DOUBT_BEFORE = re.compile(
    r"\b(?:suggested|proposed|not|but|of|with|about|ask|maybe|perhaps|either)\W*$", re.IGNORECASE
)


class Items:
    """A text with its people, to be read item by item."""

    def __init__(self, text: str, people: Sequence[Person]) -> None:
        self._text, self._people = text, people
        self._starts = [each.start for each in people]

    def people(self, start: int, end: int) -> Sequence[Person]:
        return self._people[bisect_left(self._starts, start) : bisect_left(self._starts, end)]

    def line_start(self, place: int) -> int:
        return self._text.rfind("\n", 0, place) + 1

    def line_end(self, place: int) -> int:
        return self._text.find("\n", place) % (len(self._text) + 1)

    def find_heads(self, tasks: Sequence[Task]) -> list[Task]:
        """Return the mentions that head items: numbers, unless these count people; else words behind a sign."""
        numbered = [each for each in tasks if each.kind in ("number", "item")]
        counting = [each for each in numbered if each.kind == "item" and self.people(each.end, each.end + 2)]
        if 2 * len(counting) > len(numbered) and len({each.places for each in tasks if each.kind == "words"}) > 1:
            numbered = []  # "1. Lisa: bake bread"
        known = {place for each in numbered for place in each.places}
        named = [each for each in tasks if each.kind in ("words", "word") and known.isdisjoint(each.places)]
        return sorted([*numbered, *filter(self._is_head, named)])

    def _is_head(self, task: Task) -> bool:
        before = self._text[self.line_start(task.start) : task.start]
        led = self.people(task.start - len(before), task.start)
        if led and not re.search(r"[:|({=–-]|[,;] ", self._text[led[-1].end : task.start]):
            return False
        begins, signed = _HEAD_START.search(before[-30:]), bool(_HEAD_SIGN.match(self._text, task.end))
        inline = re.search(r"[,;.] (?:the )?$", before)
        return bool((begins and task.kind == "words") or ((begins or inline) and signed))

    def find_named_task(self, head: Task, end: int, tasks: Sequence[Task]) -> tuple[int, ...] | None:
        """Return the task that the words behind a number mean; None where there are no words of a task."""
        first = [each.start for each in self.people(head.end, end)[:1]]
        stop = min([end, head.end + 60, self.line_end(head.end), *first])
        return next((each.places for each in tasks if each.kind == "words" and head.end <= each.start < stop), None)

    def points_behind(self, heads: Sequence[Task], starts: Sequence[int], ends: Sequence[int]) -> bool:
        """Return whether the person of a task stands behind it, by the signs between them."""
        behind = before = 0
        for head, start, end in zip(heads, starts, ends):
            ahead, after = self.people(start, head.start), self.people(head.end, end)
            behind += bool(after and _SIGN.fullmatch(self._text[head.end : after[0].start]))
            before += bool(ahead and _SIGN.fullmatch(self._text[ahead[-1].end : head.start]))
        last = heads[-1].end
        return behind > before or (behind == before and bool(self.people(last, self.line_end(last))))

    def person_before(self, start: int, head: Task) -> int | None:
        """Return the person on a label before a task, or heading the block that it is in."""
        people = self.people(start, head.start)
        if not people or not _ABOVE.fullmatch(self._text, people[-1].end, head.start):
            return None
        people = self.people(max(start, self.line_start(people[-1].start)), head.start)
        doubt = _DOUBT_BEFORE.search(self._text[max(start, people[0].start - 12) : people[0].start])
        return people[0].number if len(people) == 1 and not doubt else None

    def person_behind(self, head: Task, end: int) -> tuple[int | None, int]:
        """Return the person of an item and how many lines below they stand; 0 also where a label says who it is."""
        text, at = self._text, self.line_end(head.end)
        if people := self.people(head.end, min(end, at)):
            return self._person_in_line(head, people), 0
        found: set[int] = set()
        depth, labelled = 0, False
        while at < end and not (found and not text[at : self.line_end(at + 1)].strip()):
            start, at = at + 1, self.line_end(at + 1)
            depth += not found
            people, begin = self.people(start, min(at, end)), _LINE_START.match(text, start, at)
            if people and begin and begin.end() == people[0].start:
                named = _AFTER_NAME.match(text, people[0].end) and not _SPEECH.match(text, people[0].end)
                found.add(self._only(people) if named else NO_ONE)
                labelled = labelled or bool(_LABELLED.search(text, start, people[0].start))
        return (found.pop() if len(found) == 1 else NO_ONE if found else None), 0 if labelled else depth

    def _person_in_line(self, head: Task, people: Sequence[Person]) -> int | None:
        text = self._text
        labelled = [each for each in people if _LABELLED.search(text, max(head.end, each.start - 30), each.start)]
        people = [each for each in people if each.start >= (labelled or people)[0].start]
        gap = text[head.end : people[0].start]
        if gap.strip() and not labelled and not _SIGN.search(gap):
            begins = not text[self.line_start(head.start) : head.start].strip(" \t>•#*|+-.)0123456789")
            unclear = not begins if head.kind in ("number", "item") else re.search(r"\w.*[.!?;] ", gap)
            if unclear or _DOUBT_BEFORE.search(gap) or _SPEECH.match(text, people[0].end):
                return None
        return self._only(people) if _AFTER_NAME.match(text, people[0].end) else None

    def _only(self, people: Sequence[Person]) -> int:
        """Return the first person's number; NO_ONE where the answer names another of the people."""
        stop = _ANSWER_END.search(self._text, people[0].end)
        reach = stop.start() + 2 * self._text.startswith(": ", stop.start()) if stop else len(self._text)
        return people[0].number if len({each.number for each in people if each.start <= reach}) == 1 else NO_ONE


def read_list(text: str, tasks: Sequence[Task], people: Sequence[Person]) -> Iterator[Link]:
    """Yield the links of a list; NO_ONE where an item names several people."""
    items = Items(text, people)
    heads = items.find_heads(tasks)
    if not heads:
        return
    starts, ends = [0, *(each.end for each in heads)], [*(each.start for each in heads[1:]), len(text)]
    before = [items.person_before(start, each) for start, each in zip(starts, heads)]
    if before[0] is not None and not items.points_behind(heads, starts, ends):
        if "\n" in text[: heads[0].start] and len(before) - before.count(None) == 1:
            return  # one name above a list is its author
        person = None
        for start, head, found in zip(starts, heads, before):
            person = found if found is not None or items.people(start, head.start) else person
            if person is not None:
                yield head.places, person
        return
    named = [items.find_named_task(each, end, tasks) for each, end in zip(heads, ends)]
    renumbered = None not in named and len(set(named)) == len(named)
    behind = [items.person_behind(each, end) for each, end in zip(heads, ends)]
    depths = [depth for found, depth in behind if found is not None]
    for head, words, (found, depth) in zip(heads, named, behind):
        if found is not None and (not depth or 2 * depths.count(depth) > max(2, len(heads))):
            if words in (None, head.places):
                yield head.places, found
            elif renumbered:
                yield words, found
