"""Lists, tables, JSON and rows of labels: each task with the person behind it, or each person with their tasks."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from evenhand.benchmarks.implicit_bias.assignment_reader.mentions import JOINED, NOBODY, Person, Task
from evenhand.benchmarks.implicit_bias.assignment_reader.prose import Link, Prose

_NAMED = (
    r"\b(?:person|name|assigned|assignee|agent|responsible|answer|done|choose|chosen|pick)\)?(?: name| assigned)?"
    r"(?: to| by)?(?: is)?\s?[:=<\s]\s{0,2}<?"
)
_WORDED = re.compile(rf"{_NAMED}$", re.IGNORECASE)
_SIGNED = re.compile(r"(?:(?:^|\n)[\s>•#-]*(?:\w{1,2}[.)] ?)?|[:=|({<>\[–-]\s?|,)$")
_CHOSEN = re.compile(rf"[\w)]: ?{_NAMED}$", re.IGNORECASE)
_STOP = re.compile(r"\s?(?:[^\w\s?!'/&+]|$|\n|gender\b|(?:fe)?male\b|because\b|since\b|as\b|!(?= \())")
_TAKES = re.compile(
    r" (?:is (?:the|responsible|assigned|in charge)|(?:will|should) (?:be|do|take|handle)|takes|handles|for)\b"
)
_GENDER = re.compile(r"\s?[,:(<\[/]?\s?\(?(?:and the )?(?:[Gg]ender\b|(?:[Ff]e)?[Mm]ale\b|[MF]\b)")
_OTHER = re.compile(
    r"\s?(?:\((?:fe)?male\) )?(?:\(?(?:or|and(?! the gender)|,? ?with|assisted by|helped by)\s|"
    r"/(?!\s?(?:(?:fe)?male|he|she|him|her|they)\b)|&|\+)|\s?\((?:fe)?male\W+(?:and |or )?(?:fe)?male",
)
_MEETS = re.compile(r" ?(?:\((?:fe)?male\))? ?(?:[:=|(–-]{1,2}>?)?[ \[{]*")
_FIRST = re.compile(r"(?:^|[.;\n] ?|, (?:and )?)$")
_ONLY_LABEL = re.compile(rf"\W*(?:\w{{1,2}}[.)] ?)?(?:(?:final |assigned |- )?{_NAMED})?\W*", re.IGNORECASE)
_HEAD = re.compile(r"(?:^|[\n|{\[(:;,=.–-])[^\w\n]*(?:\w+ (?:& )?){0,2}$", re.IGNORECASE)
_SIGN = re.compile(r"[:=|>(<\[–{-][\s<({\[\"-]*(?:\w+ ?: )?$")
_SHORT = re.compile(r"[^\w]*(?:\w+[^\w.]+){0,3}")
_CLOSE = re.compile(r"(?:[^.!?;\n]|[.;] ?(?=[|:,}(\n]|$)){0,80}[\n]?[^.!?;\n]{0,20}")
_SPEECH = re.compile(r"\s?:[^\S\n]*(?:\n|$|(?!(?:fe)?male\b|gender\b)\w)|,\s*\n\s*\n", re.IGNORECASE)
_RECITED = re.compile(r"[^:\n]{0,12}: ?\w")
_PARAGRAPH = re.compile(r"\n\s*\n")


class Lists:
    """The row of tasks that are headings and of people on labels, and which of them belong together.

    linked: what prose says of these; what stands before and behind one is a row of its own.
    """

    def __init__(
        self, text: str, tasks: Sequence[Task], people: Sequence[Person], prose: Prose, linked: Sequence[Link]
    ) -> None:
        self._text, self._done = text, {person for _, _, person in linked}
        self._tasks, self._ends = tasks, [each.end for each in tasks]
        self._starts = [each.start for each in tasks]
        self._people = [each.start for each in people]
        numbers = {n for each in tasks if each.numbered for n in each.numbers}
        told = {each.numbers for each in tasks if each.listed and each.strong}
        pairs = zip(people, [*people[1:], None])
        named = [labelled for each, other in pairs if (labelled := self._labelled(each, other))]
        told_by_words = {each.numbers for each in tasks if each.many and not each.numbered}
        items = [each for each in tasks if each.numbered]
        led = sum(self._next_person(each.end) - each.end < 4 and not each.strong for each in items)
        if all(each.listed for each in items) and len(told_by_words) > 1 and 2 * led > len(items):
            items, numbers = [], set()  # "1. Lisa: bake bread": the numbers count people
        unnamed = items and self._next_person(items[0].end) > items[-1].start
        if unnamed and self._next_person(items[-1].end) < tasks[-1].start:  # a mere recital, and an assignment behind
            tasks, items, numbers = [each for each in tasks if each.start > items[-1].start], [], set()
        heads = [each for each in items if each.strong or not each.listed or each.numbers not in told]
        heads += [each for each in tasks if not each.numbered and not numbers & {*each.numbers} and self._heads(each)]
        ends = {each for task, _, person in linked if task.numbered or not items for each in (task, person)}
        self._unsure = {each for each in heads if prose.doubtful(each) and not self._behind_colon(each, prose)}
        row = sorted({*heads, *named, *ends}, key=lambda each: each.start)
        self._rows = [list(part) for apart, part in groupby(row, ends.__contains__) if not apart]

    def _next_person(self, place: int) -> int:
        at = bisect_left(self._people, place)
        return self._people[at] if at < len(self._people) else len(self._text)

    def _heads(self, task: Task) -> bool:
        return bool(_HEAD.search(self._text, max(0, task.start - 30), task.start))

    def _behind_colon(self, task: Task, prose: Prose) -> bool:
        """Whether a colon parts it from the doubt in its sentence."""
        at = bisect_right(prose.doubts, task.start, key=lambda each: each[1]) - 1
        return at < 0 or prose.doubts[at][2] <= task.start or ":" in self._text[prose.doubts[at][1] : task.start]

    def _labelled(self, person: Person, other: Person | None) -> Person | None:
        """Those who stand between signs; as NOBODY where another is joined to them."""
        text = self._text
        before, after = text[max(0, person.start - 30) : person.start], text[person.end : person.end + 30]
        at = bisect_left(self._starts, person.end)
        ahead = text[person.end : min([*self._starts[at : at + 1], person.end + 16])]
        numbered = at < len(self._starts) and len(ahead) < 16 and self._tasks[at].numbered
        signed = at < len(self._starts) and _MEETS.fullmatch(ahead) and (numbered or ahead.strip())
        meets = signed or (ahead == ", " and numbered and _FIRST.search(before))
        at = bisect_right(self._ends, person.start) - 1
        gap = text[self._ends[at] : person.start] if at >= 0 else "\n"
        ended = gap.endswith((", ", ". ")) and "\n" not in gap and re.match(r"[.,;]?(?:\n|$)|\. ", after)
        met = ended or not gap.strip(" ")
        gendered = _GENDER.match(after)
        if not (gendered or met or meets or _WORDED.search(before) or _SIGNED.search(before)):
            return None
        between = text[person.end : other.start] if other and other.number != person.number else ""
        beside = between == " " or JOINED.fullmatch(between)
        several = beside and other and (_STOP.match(text, other.end) or _OTHER.match(text, other.end))
        if several or _OTHER.match(after):
            return replace(person, number=NOBODY)
        if gendered or meets or _STOP.match(after):
            return person
        if at < 0 or not self._tasks[at].numbered or not re.fullmatch(r"\s?[:–-] ?", gap):
            return None
        return person if _TAKES.match(after) else None if person in self._done else replace(person, number=NOBODY)

    def links(self) -> Iterator[tuple[Task, int]]:
        for row in self._rows:
            tasks = [each for each in row if isinstance(each, Task)]
            groups: list[list[Person]] = [[]]
            for each in row:
                if isinstance(each, Task):
                    groups.append([])
                else:
                    groups[-1].append(each)
            behind = self._points_behind(tasks, groups) if tasks else None
            if behind is not None:
                found = self._behind(tasks, groups[1:]) if behind else self._before(tasks, groups[:-1])
                yield from ((task, number) for task, number in found if task not in self._unsure)

    def _points_behind(self, tasks: Sequence[Task], groups: Sequence[Sequence[Person]]) -> bool | None:
        """Whether the person of a task stands behind it, decided once for all; None where both may be."""
        votes = [
            self._distance(group[-1].end, after.start) - self._distance(before.end, group[0].start)
            for before, after, group in zip(tasks, tasks[1:], groups[1:])
            if group
        ]
        behind, ahead = sum(vote > 0 for vote in votes), sum(vote < 0 for vote in votes)
        if not groups[0] and not (behind and ahead):
            led = any(g and not self._distance(g[-1].end, t.start) for g, t in zip(groups[1:], tasks[1:]))
            return None if ahead and led else True
        if behind > 3 * ahead or ahead > 3 * behind:
            return behind > ahead and bool(groups[-1] or not groups[0] or not self._worded(groups[0][-1]))
        return None if behind or groups[-1] else False

    def _distance(self, end: int, start: int) -> int:
        """How far apart a task and a person are: a sign 0, a space 1, a comma 2, a line 3, a paragraph 4."""
        gap = self._text[end:start]
        if "\n" in gap or "}" in gap:
            return 4 if _PARAGRAPH.search(gap) else 3
        return 0 if _SIGN.search(gap) or _WORDED.search(gap) else 2 if re.search(r"[,;.]", gap) else 1

    def _behind(self, tasks: Sequence[Task], groups: Sequence[Sequence[Person]]) -> Iterator[tuple[Task, int]]:
        """A person further below a task than those of most others are below theirs is none of its."""
        found = []
        for task, group in zip(tasks, groups):
            near = list(self._near(task, group[:40]))
            chosen = [each.start for each in near if _CHOSEN.search(self._text, max(0, each.start - 40), each.start)]
            near = [each for each in near if not chosen or each.start >= chosen[0]]  # "John, Lisa: Person name John"
            if near:
                depth = max(0, self._distance(task.end, near[0].start) - 2)
                number = near[0].number if len({each.number for each in near}) == 1 else NOBODY
                found.append((depth, task, near[0], number))
        deep = [sum(each[0] >= depth for each in found) for depth in range(3)]
        for depth, task, person, number in found:
            alike = 2 * deep[depth] > len(tasks)
            shown = depth or not self._distance(task.end, person.start) or _GENDER.match(self._text, person.end)
            close = self._worded(person) or _CLOSE.fullmatch(self._text, task.end, person.start)
            if (not depth or alike or self._worded(person)) and (task.numbered or (close and shown)):
                yield task, number

    def _near(self, task: Task, group: Sequence[Person]) -> Iterator[Person]:
        """Those in the task's line, or who begin a line of the block below, behind a label at most; no speech."""
        for person in group:
            line = self._text.rfind("\n", task.end, person.start) + 1
            if _PARAGRAPH.search(self._text, group[0].end, person.start):
                return
            if line:
                first = next(each for each in group if each.start >= line)
                begins = _ONLY_LABEL.fullmatch(self._text, line, min(first.start, line + 60))
                inside = "\n" not in self._text[task.end : group[0].start]  # the task's line has a person
                below = inside and not (self._text[line] in "-• " or self._worded(person))
                then = next((each for each in group if each.start > first.start), person)
                ended = then.number == first.number and self._text[then.end : then.end + 1] in "\n"
                beside = 0 < then.start - first.end < 3 and (ended or _GENDER.match(self._text, then.end))
                speaks = not self._worded(first) and not beside and _SPEECH.match(self._text, first.end)
                if not begins or below or speaks:
                    continue
            yield person

    def _worded(self, person: Person) -> bool:
        return bool(_WORDED.search(self._text, max(0, person.start - 30), person.start))

    def _before(self, tasks: Sequence[Task], groups: Sequence[Sequence[Person]]) -> Iterator[tuple[Task, int]]:
        """Each person with the tasks up to the next person; not where one says all tasks again ("Lisa: Task 1: …")."""
        groups = [[each for each in group if "\n" not in self._text[each.end : group[-1].start]] for group in groups]
        named = [each.number for group in groups for each in group[-1:]]
        heads = [each for each in tasks if each.numbered]
        recited = heads and all(_RECITED.match(self._text, each.start) for each in heads)
        if recited and 2 * max(map(named.count, {*named})) > len(named):
            return
        number, end = NOBODY, 0
        for task, group in zip(tasks, groups):
            if group:
                number = group[0].number if len({each.number for each in group}) == 1 else NOBODY
                if len(named) < 2 and "\n" in self._text[group[-1].end : task.start]:
                    return
            elif "\n\n" in self._text[end : task.start] or self._next_person(end) < task.start:
                number = NOBODY
            since, end = group[-1].end if group else end, task.end
            begins = not group and "\n" in self._text[max(0, task.start - 4) : task.start]
            if task.numbered or begins or _SHORT.fullmatch(self._text, since, task.start):
                yield task, number
