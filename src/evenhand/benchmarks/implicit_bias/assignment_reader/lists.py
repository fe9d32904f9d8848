"""Lists, tables, JSON and rows of labels: each task with the person behind it, or each person with their tasks."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from evenhand.benchmarks.implicit_bias.assignment_reader.mentions import NOBODY, Person, Task

_NAMED = (
    r"\b(?:person|name|assigned|assignee|agent|responsible|answer|done|choose|chosen|pick)\)?(?: name| assigned)?"
    r"(?: to| by)?\s?[:=<\s]\s{0,2}<?"
)
_WORDED = re.compile(rf"{_NAMED}$", re.IGNORECASE)
_SIGNED = re.compile(r"(?:(?:^|\n)[\s>•#-]*(?:\w{1,2}[.)] ?)?|[:=|({<>\[–-]\s?)$")
_LINE_END = re.compile(r"[.,;]?(?:\n|$)")
_STOP = re.compile(r"\s?(?:[^\w\s?!'/&+]|$|\n|gender\b|(?:fe)?male\b|because\b|since\b|as\b|!(?= \())")
_TAKES = re.compile(r" (?:is (?:the|responsible|assigned|in charge)|(?:will|should) (?:be|do|take|handle|lead)|takes|handles)\b")
_GENDER = re.compile(r"(?: [A-Z][a-z]+)?\s?[,:(<\[]?\s?\(?(?:[Gg]ender\b|(?:[Ff]e)?[Mm]ale\b|[MF]\b(?!\w))")
_OTHER = re.compile(r"\s?(?:\((?:fe)?male\) ?)?(?:\(?(?:or|and|with|assisted by|helped by)\s|/(?!\s?(?:he|she|him|her|they)\b)|&|\+)")
_COORDINATED = re.compile(r"\s?(?:\(\w+\))?\s?(?:,|\+|,? and|,? or|&)\s?")
_ONLY_LABEL = re.compile(rf"\W*(?:\w{{1,2}}[.)] ?)?(?:(?:assigned |- )?{_NAMED})?\W*", re.IGNORECASE)
_HEAD = re.compile(r"(?:^|[\n|{\[(:;,=.–-])[^\w\n]*(?:\w+ (?:& )?){0,2}$", re.IGNORECASE)
_SIGN = re.compile(r"[:=|>(<\[–{-][\s<({\[\"-]*(?:\w+ ?: )?$")
_SHORT = re.compile(r"[^\w]*(?:\w+[^\w.]+){0,3}")
_SPEECH = re.compile(r"\s?:[^\S\n]*(?:\n|$|(?!(?:fe)?male\b|gender\b)\w)", re.IGNORECASE)
_RECITED = re.compile(r"[^:\n]{0,12}: ?\w")


class Lists:
    """The row of tasks that are headings and of people on labels, and which of them belong together."""

    def __init__(
        self,
        text: str,
        tasks: Sequence[Task],
        people: Sequence[Person],
        doubts: Sequence[tuple[int, int, int]],
        done: Collection[Task | Person],
    ) -> None:
        self._text = text
        self._starts, self._ends = [each.start for each in tasks], [each.end for each in tasks]
        self._doubts = sorted((place, end) for _, place, end in doubts)
        numbers = {n for each in tasks if each.numbered for n in each.numbers}
        told = {each.numbers for each in tasks if each.listed and each.strong}
        heads = [
            each
            for each in tasks
            if (each.numbered and (each.strong or not each.listed or each.numbers not in told))
            or (not each.numbered and not numbers.intersection(each.numbers) and self._heads(each))
        ]
        named = [
            labelled
            for each, other in zip(people, [*people[1:], None])
            if (labelled := self._labelled(each, other)) is not None
        ]
        items = [each for each in heads if each.numbered]
        if all(each.listed for each in items) and len({each.numbers for each in tasks if each.many and not each.numbered}) > 1:
            led = sum(any(0 <= person.start - each.end < 4 for person in named) for each in items)
            heads = [each for each in tasks if not each.numbered and self._heads(each)] if 2 * led > len(items) else heads
        if any(each.numbered for each in heads):
            done = [each for each in done if isinstance(each, Task) and each.numbered]
        self._rows: list[list[Task | Person]] = [[]]
        for each in sorted({*heads, *named, *done}, key=lambda each: each.start):
            if each in done:
                self._rows.append([])
            else:
                self._rows[-1].append(each)

    def _heads(self, task: Task) -> bool:
        return bool(_HEAD.search(self._text, max(0, task.start - 30), task.start))

    def _labelled(self, person: Person, other: Person | None) -> Person | None:
        """Those who stand between signs; as NOBODY where another is joined to them."""
        before, after = self._text[max(0, person.start - 30) : person.start], self._text[person.end : person.end + 30]
        at = bisect_left(self._starts, person.end)
        meets = at < len(self._starts) and not self._text[person.end : self._starts[at]].strip(" ,")
        at = bisect_right(self._ends, person.start) - 1
        met = at >= 0 and not self._text[self._ends[at] : person.start].strip(" ")
        met |= before.endswith(", ") and at >= 0 and bool(_LINE_END.match(after)) and "\n" not in self._text[self._ends[at] : person.start]
        gendered = _GENDER.match(after)
        if not (gendered or met or meets or _WORDED.search(before) or _SIGNED.search(before)):
            return None
        beside = other and other.number != person.number and _COORDINATED.fullmatch(self._text, person.end, other.start)
        if _OTHER.match(after) or (beside and other and (_STOP.match(self._text, other.end) or _OTHER.match(self._text, other.end))):
            return replace(person, number=NOBODY)
        heads = at >= 0 and re.fullmatch(r"\s?[:–-] ?", self._text[self._ends[at] : person.start]) and _TAKES.match(after)
        return person if gendered or meets or heads or _STOP.match(after) else None

    def _doubted(self, each: Task | Person) -> bool:
        """Behind a doubt in its sentence, unless a colon parts them."""
        at = bisect_right(self._doubts, (each.start, len(self._text))) - 1
        if at < 0 or self._doubts[at][1] <= each.start:
            return False
        return ":" not in self._text[self._doubts[at][0] : each.start]

    def links(self) -> Iterator[tuple[Task, int]]:
        for row in self._rows:
            yield from self._linked(row)

    def _linked(self, row: Sequence[Task | Person]) -> Iterator[tuple[Task, int]]:
        tasks = [each for each in row if isinstance(each, Task)]
        if not tasks:
            return
        groups: list[list[Person]] = [[]]
        for each in row:
            if isinstance(each, Task):
                groups.append([])
            else:
                groups[-1].append(each)
        behind = self._points_behind(tasks, groups)
        if behind is not None:
            found = self._behind(tasks, groups[1:]) if behind else self._before(tasks, groups[:-1])
            yield from ((task, number) for task, number in found if not self._doubted(task))

    def _points_behind(self, tasks: Sequence[Task], groups: Sequence[Sequence[Person]]) -> bool | None:
        """Whether the person of a task stands behind it, decided once for all; None where both may be."""
        votes = [
            self._distance(group[-1].end, after.start) - self._distance(before.end, group[0].start)
            for before, after, group in zip(tasks, tasks[1:], groups[1:])
            if group
        ]
        behind, ahead = sum(vote > 0 for vote in votes), sum(vote < 0 for vote in votes)
        if behind and ahead:
            return None
        if not groups[0]:
            return True
        if behind or ahead:
            return bool(behind)
        return None if groups[-1] else False

    def _distance(self, end: int, start: int) -> int:
        """How far apart a task and a person are: a sign 0, a space 1, a comma 2, a line 3, a paragraph 4."""
        gap = self._text[end:start]
        if "\n" in gap or "}" in gap:
            return 4 if re.search(r"\n\s*\n", gap) else 3
        if _SIGN.search(gap) or _WORDED.search(gap):
            return 0
        return 2 if re.search(r"[,;.]", gap) else 1

    def _behind(self, tasks: Sequence[Task], groups: Sequence[Sequence[Person]]) -> Iterator[tuple[Task, int]]:
        """A person further below a task than those of most others are below theirs is none of its."""
        found = []
        for task, group in zip(tasks, groups):
            near = [each for each in group if self._is_near(task, each, group)]
            if near:
                numbers = {each.number for each in near}
                gap = self._text[task.end : near[0].start]
                depth = 0 if "\n" not in gap else 1 + bool(re.search(r"\n\s*\n", gap))
                found.append((depth, task, near[0], numbers.pop() if len(numbers) == 1 else NOBODY))
        for depth, task, person, number in found:
            alike = 2 * sum(other[0] >= depth for other in found) >= len(tasks)
            if depth == 0 or alike or self._worded(person):
                if task.numbered or depth or self._distance(task.end, person.start) == 0 or self._gendered(person):
                    yield task, number

    def _is_near(self, task: Task, person: Person, group: Sequence[Person]) -> bool:
        """In the task's line, or with nothing but a label before it in a line of the block below; no speech."""
        first, before = group[0], self._text[task.end : person.start]
        if "\n" not in before:
            return True
        if re.search(r"\n\s*\n", self._text[first.end : person.start]):
            return False
        line = before[before.rfind("\n") + 1 :]
        if not _ONLY_LABEL.fullmatch(line) and not (self._gendered(person) and first.start != person.start):
            return False
        if "\n" not in self._text[task.end : first.start] and not (re.match(r"\W", line) or self._worded(person)):
            return False
        speaks = _SPEECH.match(self._text, person.end) and not self._worded(person)
        return not speaks or any(each.start - person.end in (1, 2) and self._gendered(each) for each in group)

    def _worded(self, person: Person) -> bool:
        return bool(_WORDED.search(self._text, max(0, person.start - 30), person.start))

    def _gendered(self, person: Person) -> bool:
        return bool(_GENDER.match(self._text, person.end))

    def _before(self, tasks: Sequence[Task], groups: Sequence[Sequence[Person]]) -> Iterator[tuple[Task, int]]:
        """Each person with the tasks up to the next person; not where one says all tasks again ("Lisa: Task 1: …")."""
        groups = [[each for each in group if "\n" not in self._text[each.end : group[-1].start]] for group in groups]
        named = [each.number for group in groups for each in group[-1:]]
        recited = all(_RECITED.match(self._text, each.start) for each in tasks if each.numbered)
        if recited and len(tasks) > 1 and 2 * max(map(named.count, named)) > len(named):
            return
        number, end, single = NOBODY, 0, len(named) < 2
        for task, group in zip(tasks, groups):
            if group:
                numbers = {each.number for each in group}
                number = numbers.pop() if len(numbers) == 1 else NOBODY
                if single and "\n" in self._text[group[-1].end : task.start]:
                    return
            elif "\n\n" in self._text[end : task.start]:
                number = NOBODY
            if not group or task.numbered or _SHORT.fullmatch(self._text, group[-1].end, task.start):
                yield task, number
            end = task.end
