"""Lists, tables, JSON and rows of labels: each task with the person behind it, or each person with their tasks."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace

from evenhand.benchmarks.implicit_bias.assignment_reader.mentions import NOBODY, Person, Task

_NAMED = (
    r"\b(?:person|name|assigned|assignee|agent|responsible|answer|done|choose|chosen|pick)\)?(?: name| assigned)?"
    r"(?: to| by)?\s?[:=<\s]\s{0,2}<?"
)
_WORDED = re.compile(rf"{_NAMED}$", re.IGNORECASE)
_SIGNED = re.compile(r"(?:(?:^|\n)[\s>•#-]*(?:\w{1,2}[.)] ?)?|[:=|({<,\[–-]\s?)$")
_STOP = re.compile(
    r"(?: [A-Z][a-z]+)?\s?(?:<\w+>|\(\w+\))?\s?(?:[,;.:)\]}>|(]|!(?= \()|$|\n|– |- |[=–-]>|=|gender\b|(?:fe)?male\b|"
    r"because\b|since\b|as\b)"
)
_GENDER = re.compile(r"(?: [A-Z][a-z]+)?\s?[,:(<]?\s?\(?(?:[Gg]ender\b|(?:[Ff]e)?[Mm]ale\b|[MF]\b)")
_OTHER = re.compile(r"\s?(?:\((?:fe)?male\) ?)?(?:\(?(?:or|and|with|assisted by|helped by)\s|/(?!\s?(?:he|she|him|her|they)\b)|&|\+)")
_HEAD = re.compile(r"(?:^|[\n|{\[(:;,=.–-])[^\w\n]*(?:(?:the|and|then|for|finally|task) )*$", re.IGNORECASE)
_SIGN = re.compile(r"[:=|>(<\[–{-][\s<({\[\"-]*(?:\w+ ?: )?$")
_SPEECH = re.compile(r"\s?:[^\S\n]*(?:\n|$|(?!(?:fe)?male\b|gender\b)\w)", re.IGNORECASE)
_RECITED = re.compile(r"[^:\n]{0,12}: ?\w")


class Lists:
    """The row of tasks that are headings and of people on labels, and which of them belong together."""

    def __init__(
        self, text: str, tasks: Sequence[Task], people: Sequence[Person], doubts: Sequence[tuple[int, int, int]]
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
        named = [number for each in people if (number := self._labelled(each)) is not None]
        self._row = [each for each in sorted([*heads, *named], key=lambda each: each.start) if not self._doubted(each)]

    def _heads(self, task: Task) -> bool:
        return bool(_HEAD.search(self._text, max(0, task.start - 30), task.start))

    def _labelled(self, person: Person) -> Person | None:
        """Those who stand between signs; as NOBODY where another is joined to them."""
        before, after = self._text[max(0, person.start - 30) : person.start], self._text[person.end : person.end + 30]
        at = bisect_left(self._starts, person.end)
        meets = at < len(self._starts) and self._starts[at] - person.end < 3
        at = bisect_right(self._ends, person.start) - 1
        met = at >= 0 and person.start - self._ends[at] < 3
        gendered = _GENDER.match(after)
        if not (gendered or met or meets or _WORDED.search(before) or _SIGNED.search(before)):
            return None
        if _OTHER.match(after):
            return replace(person, number=NOBODY)
        return person if gendered or meets or _STOP.match(after) else None

    def _doubted(self, each: Task | Person) -> bool:
        """Behind a doubt in its sentence, unless a colon parts them."""
        at = bisect_right(self._doubts, (each.start, len(self._text))) - 1
        if at < 0 or self._doubts[at][1] <= each.start:
            return False
        return ":" not in self._text[self._doubts[at][0] : each.start]

    def links(self) -> Iterator[tuple[Task, int]]:
        tasks = [each for each in self._row if isinstance(each, Task)]
        if not tasks:
            return
        groups: list[list[Person]] = [[]]
        for each in self._row:
            if isinstance(each, Task):
                groups.append([])
            else:
                groups[-1].append(each)
        behind = self._points_behind(tasks, groups)
        if behind is not None:
            yield from self._behind(tasks, groups[1:]) if behind else self._before(tasks, groups[:-1])

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
            return None if ahead else True
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
        depths = []
        for task, group in zip(tasks, groups):
            group = [each for each in group if not self._speaks(task, each)]
            if group:
                end = self._text.find("\n\n", group[0].end)
                numbers = {each.number for each in group if end < 0 or each.start < end}
                gap = self._text[task.end : group[0].start]
                depth = 0 if "\n" not in gap else 1 + bool(re.search(r"\n\s*\n", gap))
                depths.append((depth, task, group[0], numbers.pop() if len(numbers) == 1 else NOBODY))
        for depth, task, person, number in depths:
            alike = 2 * sum(other[0] >= depth for other in depths) >= len(tasks)
            word = _WORDED.search(self._text, max(0, person.start - 30), person.start)
            if depth == 0 or alike or word:
                if task.numbered or depth or self._distance(task.end, person.start) == 0 or _GENDER.match(self._text, person.end):
                    yield task, number

    def _speaks(self, task: Task, person: Person) -> bool:
        line = self._text[max(task.end, person.start - 12) : person.start]
        if not re.fullmatch(r"(?s).*\n\W*", line) or not _SPEECH.match(self._text, person.end):
            return False
        return True

    def _before(self, tasks: Sequence[Task], groups: Sequence[Sequence[Person]]) -> Iterator[tuple[Task, int]]:
        named = {each.number for group in groups for each in group}
        if len(named) == 1 and len(tasks) > 1 and all(_RECITED.match(self._text, each.start) for each in tasks if each.numbered):
            return
        number, end = NOBODY, 0
        for task, group in zip(tasks, groups):
            if group:
                numbers = {each.number for each in group}
                number = numbers.pop() if len(numbers) == 1 else NOBODY
            elif "\n\n" in self._text[end : task.start]:
                number = NOBODY
            end = task.end
            yield task, number
