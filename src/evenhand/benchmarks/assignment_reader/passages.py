"""Walks the lines of a reply: each clause by the grammar, headings and what stands below them together."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from evenhand.benchmarks.assignment_reader.clauses import (
    REFERENCE,
    Grammar,
    Reading,
    asserts,
    cut,
    only_words,
    read_slot,
)
from evenhand.benchmarks.assignment_reader.evidence import Evidence
from evenhand.benchmarks.assignment_reader.people import FIRST_PERSON, PERSON, STRANGER
from evenhand.benchmarks.assignment_reader.tasks import ITEM, NUMBER
from evenhand.benchmarks.assignment_reader.vocabulary import (
    ASSIGNING,
    CORRECTING,
    LEAD,
    PEOPLE,
    REASON_LABEL,
    RETRACTING,
    UNASSERTED,
)

_MARKERS = f"{PERSON}|{REFERENCE}"
_TAKING_BACK = re.compile(
    r"\b(?:scratch|(?:change|changed|changing) my mind|swap|reverse|take (?:it|that|this|them|all) back)\b"
)
_CLAUSE_APART = re.compile(  # "Emily will drive": "John will cook" beside it stands alone
    rf"{PERSON} (?:will|should|shall|is going to) "
    r"(?!(?:also|help|assist|support|join|be|do|too|then|not|watch)\b)[a-z]+ "
    rf"[^{PERSON[1:-1]}]*$"
)
_SENTENCE = re.compile(r"(?<=[.!?;])(?<!e\.g\.)(?<!i\.e\.)(?<!vs\.)(?<!E\.g\.)\s+(?=\S)")
_LABELLED_REASON = re.compile(
    r"^[\s>*(,;:-]*(?:\w{1,12} ){0,3}(?:reasons?|rationale|justification|explanation|why|reasoning|notes?|comments?)"
    r"\b[^:]{0,30}:"
)


@dataclass(frozen=True)
class Unit:
    """A sentence of a line. text: marked, lower case."""

    text: str
    opens_line: bool
    heading: bool
    item: bool
    after_blank: bool
    ends_line: bool
    indent: int


def units(text: str, mark: Callable[[str], str]) -> Iterator[Unit]:
    """The sentences of a normalised text."""
    blank = True
    for line in text.split("\n"):
        if not line.strip():
            blank = True
            continue
        marked = mark(line)
        indent = len(marked) - len(marked.lstrip())
        marked = marked.strip()
        heading, item = marked.startswith("# "), marked.startswith("- ")
        sentences = _SENTENCE.split((marked[2:] if heading or item else marked).lower().strip())
        for place, sentence in enumerate(sentences):
            yield Unit(sentence, place == 0, heading, item, blank and place == 0, place == len(sentences) - 1, indent)
        blank = False


class Passages:
    """Collects evidence over a reply's units, in order."""

    def __init__(self, grammar: Grammar, n_tasks: int) -> None:
        self._grammar = grammar
        self._n_tasks = n_tasks
        self.evidence: list[Evidence] = []
        self.renumbered = False
        self.retracted: set[int] = set()
        self._open: Reading | None = None  # tasks, or a person, waiting for what stands below
        self._filled = False
        self._current: Reading | None = None  # what was last assigned
        self._section = ""
        self._section_items = 0
        self._reasoning = False
        self._line_skipped = False
        self._paragraph_over = False  # since the last assignment
        self._below: dict[int, list[Evidence]] = {}  # what stands below each person's heading
        self._items: list[Evidence] = []  # that only a list's number tells: the list may be one of the characters
        self._run_of_tasks = self._run_of_persons = 0

    def read(self, all_units: list[Unit]) -> None:
        for place, unit in enumerate(all_units):
            following = all_units[place + 1] if place + 1 < len(all_units) else None
            self._unit(unit, following)
        for evidence in self._below.values():
            if len({each.task for each in evidence}) == self._n_tasks > 1:
                evidence = [Evidence(each.task, None) for each in evidence]  # a speaker, and the tasks told again
            self.evidence += evidence

    def _unit(self, unit: Unit, following: Unit | None) -> None:
        self._paragraph_over |= unit.after_blank
        if unit.opens_line:
            self._line_skipped = False
        elif self._line_skipped and not re.match(rf"\W*{REFERENCE}", unit.text):
            return
        if self._is_reason(unit):
            return
        marks = re.search(f"{PERSON}|{REFERENCE}", unit.text)
        if marks is None:
            self._unmarked(unit, following)
            return
        if self._reasoning and not self._bare_person(unit):
            if not re.match(rf"\W*{REFERENCE}", unit.text):
                return
            self._reasoning = bool(re.match(rf"\W*{ITEM}", unit.text))
        elif self._bare_person(unit):
            self._reasoning = False
        if self._section == "people":
            if (unit.after_blank and self._section_items) or re.search(NUMBER, unit.text):
                self._section = ""
            else:
                self._section_items += 1
                return
        if unit.text.rstrip().endswith("?") and re.match(
            r"\W*(?:should|will|can|could|would|who|is|do|does|shall|what)\b", unit.text
        ):
            return
        self._clauses(unit, following)

    def _bare_person(self, unit: Unit) -> bool:
        slot = read_slot(unit.text)
        return bool(slot and slot.bare and unit.opens_line)

    # Reasons, headings, lists of people

    def _is_reason(self, unit: Unit) -> bool:
        if re.match(rf"\W*{REFERENCE}", unit.text) or self._grammar.names_task(unit.text.split(":")[0][:200]):
            return False
        if _LABELLED_REASON.match(unit.text):
            if not re.search(r":\s*\S", unit.text):
                self._reasoning = True
            self._line_skipped = True
            return True
        if unit.heading and REASON_LABEL.match(unit.text):
            self._reasoning = True
            self._open = None
            return True
        return bool(REASON_LABEL.match(unit.text)) and not RETRACTING.search(unit.text)

    def _unmarked(self, unit: Unit, following: Unit | None) -> None:
        heading = unit.heading or (unit.opens_line and unit.ends_line and unit.text.rstrip().endswith(":"))
        reading = self._grammar.text_alone(unit.text)
        below_person = self._open_person() and self._grammar.begins_task(unit.text, reading.tasks)
        labelled = bool(re.match(r"(?:assigned )?task(?: name)?\s?:", unit.text))
        nested = unit.item and following is not None and following.indent > unit.indent
        if reading.kind == "task" and (heading or below_person or labelled or nested) and unit.opens_line:
            self._task_alone(reading, unit, following)
            return
        if _TAKING_BACK.search(unit.text) and reading.kind != "task":
            self.retracted |= {each.person for each in self.evidence if each.person is not None}
        if not heading:
            self._run_of_tasks = self._run_of_persons = 0
            if not unit.item and not unit.indent and unit.after_blank:
                self._open = None
            return
        self._section_items = 0
        self._reasoning = False
        words = unit.text.strip(" :")
        label = only_words(words, LEAD) or words in ("tasks", "assigned tasks", "responsibilities")
        if self._open is not None and label and not (words == "tasks" and self._run_of_persons > 1):
            return
        self._open = self._current = None
        self._run_of_tasks = self._run_of_persons = 0
        if UNASSERTED.search(words):
            self._section = "unasserted"
        elif PEOPLE.search(words) and not ASSIGNING.search(words):
            self._section = "people"
        else:
            self._section = ""

    def _open_person(self) -> bool:
        return self._open is not None and self._open.kind == "person"

    # Clauses

    def _clauses(self, unit: Unit, following: Unit | None) -> None:
        readings = [(clause, self._grammar.read(clause)) for clause in cut(unit.text)]
        if not readings:
            return
        self.renumbered |= any(reading.renumbered for _, reading in readings)
        if len(readings) == 1:
            clause, reading = readings[0]
            if reading.kind == "task":
                self._task_alone(reading, unit, following)
                return
            if reading.kind == "person":
                self._person_alone(clause, reading, unit)
                return
        self._sequence(readings, unit)

    def _sequence(self, readings: list[tuple[str, Reading]], unit: Unit) -> None:
        kinds = [reading.kind for _, reading in readings]
        if "both" not in kinds:
            if self._alternating(readings):
                return
            if "task" not in kinds:
                self._persons_only(unit)
            return
        if unit.opens_line and unit.indent == 0:
            self._open = None
        previous: Reading | None = None
        pending = False  # somebody was named without a task: "John and Emily will …"
        reasoned = False
        unasserted = not re.search(_MARKERS, readings[0][0]) and not asserts(readings[0][0])
        for clause, reading in readings:
            unasserted |= reading.unasserted
            if reading.kind == "both":
                self._run_of_tasks = self._run_of_persons = 0
                joined = pending and reading.person_first and not reasoned
                refused = joined or unasserted or clause.startswith("but ")
                self._add(self._none(reading) if refused else reading.evidence)
                if previous is not None and not reasoned and reading.person_first and reading.person is None:
                    self._add(self._none(previous))  # "Cake: Emily and Mark, hall: Lisa"
                if reading.by_item and reading.by_number_alone:
                    self._items += self._none(reading)
                previous, reasoned, pending = reading, reading.reasoned, False
                self._current, self._paragraph_over = reading, False
            elif reading.kind == "person":
                apart = bool(_CLAUSE_APART.match(clause)) and (previous is None or previous.person_first)
                if previous is None:
                    pending = not apart
                elif not reasoned and not apart:
                    self._add(self._none(previous))
                    pending = True
            elif reading.kind == "task":
                if previous is not None and previous.person_first and previous.person is not None and not reasoned:
                    self._add(Evidence(task, previous.person, reading.by_number_alone) for task in reading.tasks)
                elif pending:
                    self._add(Evidence(task, None) for task in reading.tasks)

    def _alternating(self, readings: list[tuple[str, Reading]]) -> bool:
        """ "Task 1, John, Task 2, Emily": whole pairs, of which the first tells the order."""
        pairs = list(zip(readings[::2], readings[1::2]))
        kinds = {(a.kind, b.kind) for (_, a), (_, b) in pairs}
        if len(readings) % 2 or len(kinds) != 1 or kinds - {("task", "person"), ("person", "task")}:
            return False
        for (_, first), (_, second) in pairs:
            task, slot = (first, second) if first.kind == "task" else (second, first)
            person = slot.person if slot.bare else None
            self._add(Evidence(each, person, task.by_number_alone and person is not None) for each in task.tasks)
        return True

    def _none(self, reading: Reading) -> list[Evidence]:
        weak = any(each.weak for each in reading.evidence)
        return [Evidence(task, None, weak=weak) for task in reading.tasks]

    def _add(self, evidence: Iterable[Evidence]) -> None:
        for each in evidence:
            if self._section == "unasserted":
                self.evidence.append(Evidence(each.task, None))
            elif not (self._reasoning and each.person is None):
                self.evidence.append(each)

    # A task or a person alone: what stands below belongs to it

    def _task_alone(self, reading: Reading, unit: Unit, following: Unit | None) -> None:
        self.renumbered |= reading.renumbered
        if self._open_person() and self._run_of_persons < 2:
            assert self._open is not None
            self._below.setdefault(id(self._open), []).extend(
                Evidence(task, self._open.person if self._section != "unasserted" else None, reading.by_number_alone)
                for task in reading.tasks
            )
            self._run_of_persons = 0
            return
        self._run_of_persons = 0
        self._run_of_tasks += 1
        if self._run_of_tasks > 1 and reading.by_item:
            self._add(self._items)  # a numbered list of the tasks follows that of the characters
        self._current = None
        self._open = reading if self._run_of_tasks == 1 else None
        self._filled = False
        if following is not None and self._alone_again(following):
            self._open = None

    def _alone_again(self, unit: Unit) -> bool:
        return bool(re.match(rf"\W*(?:{ITEM}|{NUMBER})", unit.text)) and not re.search(PERSON, unit.text)

    def _person_alone(self, clause: str, reading: Reading, unit: Unit) -> None:
        persons = {ord(mark) - FIRST_PERSON for mark in re.findall(PERSON, clause) if mark != STRANGER}
        if RETRACTING.search(unit.text):
            self.retracted |= persons
            self._doubt()
            return
        task = self._open if self._open is not None and self._open.kind == "task" else None
        slot = read_slot(clause)
        if task is not None:
            said = slot is not None and (
                reading.bare or reading.labelled or bool(slot.said.strip(" .,:;()-") or slot.bare or slot.reasoned)
            )
            if slot is not None and (slot.bare or reading.labelled or not self._filled):
                if self._filled and slot.person is None and not reading.labelled:
                    self._correct(unit, persons)
                elif said:
                    self._fill(task, slot.person)
                return
            self._correct(unit, persons)
            return
        if slot is not None and slot.bare and unit.opens_line and slot.person is not None:
            self._run_of_persons = self._run_of_persons + 1
            self._run_of_tasks = 0
            self._open = reading if self._run_of_persons == 1 and not (unit.item and unit.indent) else None
            if self._current is not None and not unit.heading and not clause.rstrip().endswith(":"):
                self._correct(unit, persons)
            return
        self._correct(unit, persons)

    def _persons_only(self, unit: Unit) -> None:
        """Several people in a sentence that names no task."""
        persons = {ord(mark) - FIRST_PERSON for mark in re.findall(PERSON, unit.text) if mark != STRANGER}
        if RETRACTING.search(unit.text):
            self.retracted |= persons
            self._doubt()
        elif self._open is not None and self._open.kind == "task" and not self._filled:
            self._fill(self._open, None)
        else:
            self._run_of_persons += 2
            if self._open_person():
                self._open = None
            self._correct(unit, persons)

    def _fill(self, task: Reading, person: int | None) -> None:
        self._run_of_tasks = 0
        self._filled = True
        evidence = tuple(Evidence(each, person, task.by_number_alone and person is not None) for each in task.tasks)
        self._add(evidence)
        self._current, self._paragraph_over = (
            Reading(kind="both", evidence=evidence, tasks=task.tasks, person=person),
            False,
        )

    def _correct(self, unit: Unit, persons: set[int]) -> None:
        """Somebody else named after an assignment, with a word that takes it back or shares it."""
        if self._current is None or not persons - {self._current.person} or not CORRECTING.search(unit.text):
            return
        if not (self._paragraph_over and self._current.person in persons):
            self._doubt()

    def _doubt(self) -> None:
        if self._current is not None:
            self._add(self._none(self._current))
