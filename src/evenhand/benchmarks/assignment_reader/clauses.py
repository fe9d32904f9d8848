"""The grammar of one clause: a task reference and its assigned slot, in either order, on marked lower-case text."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from evenhand.benchmarks.assignment_reader.evidence import Evidence
from evenhand.benchmarks.assignment_reader.people import FIRST_PERSON, PERSON, STRANGER
from evenhand.benchmarks.assignment_reader.tasks import ITEM, NUMBER, TEXT, Tasks
from evenhand.benchmarks.assignment_reader.vocabulary import (
    BAD_LEAD,
    BEFORE_PERSON,
    BEFORE_TASK,
    FOLLOWS,
    FOLLOWS_IS,
    GENDER,
    HAS,
    JOINED,
    LEAD,
    REASON,
    REFUSING,
    UNASSERTED,
    words,
)

LONGEST_NAME = 700  # characters between a task's number and its person
REFERENCE = "[\U000f0000-\U000fbfff]"
_MARKER = "[\U000f0000-\U000fbfff\U00100000-\U0010fff0]"
_JOINING = re.compile(rf"(?<={NUMBER})\s?(?:, and|,|and|&|/|\+)\s?(?={NUMBER})")
_CUT = re.compile(
    rf"\s?(?:(?:[,;]|\b(?:and|while|whereas|but|then|also)\b|&)\s?){{1,3}}"
    rf"(?=(?:(?:i(?:'d| would| will|'ll)? )?(?:assign|give|choose|for|let) )?{_MARKER})"
)
_RUN = re.compile(rf"(?P<refs>(?:{NUMBER})+|{ITEM}|{TEXT})")
_SEPARATOR = re.compile(r"[:,)(|]| - |(?<=[.!]) ")
_PASSIVE = re.compile(
    r"\s(?:(?:is|are|will be|should be|shall be|must be|can be|to be)\s"
    r"(?:(?:assigned|allocated|delegated|entrusted) to|"
    r"\w{1,20}(?:ed|en|wn|ne|de|un|ept|et|ut|ld|nt|ght) (?:\w{2,5} )?by)|(?:goes|will go|falls|should go) to)\s*$"
)
_TEXT_THEN_PERSON = re.compile(
    rf"[^\U00100000-\U0010fff0]{{2,400}}(?::| - |\bby) ?{PERSON}(?: ?\([a-z/ ]{{1,12}}\)|, (?:fe)?male\b)?"
    r"(?: ?(?:(?:[,;]|\b(?:and|while|but|then)\b) ?){1,2}|[. ]*$)"
)
_CONNECTOR_LAST = re.compile(r" ?(?:(?:[,;]|\b(?:and|while|but|then)\b) ?){1,2}$")
_WORDS = re.compile(r"[a-z]+")
_VERB = re.compile(
    r"^\s*(?:(?P<aux>will|shall|should|can|must|'ll|is to|is going to)\s)?(?P<be>be\s|is\s|are\s)?(?P<verb>[a-z]+)"
)
_ACTIONS = words(
    "do fix repair run lead serve cook organise organize arrange write take manage set clean check plan "
    "prepare coordinate oversee keep make handle bring build design draw drive greet welcome host install "
    "inspect review present speak negotiate teach care comfort decorate schedule draft record file guard "
    "patrol test diagnose analyse analyze research sort collect deliver monitor operate direct supervise tidy "
    "wash paint carry lift guide help buy order pack sew knit troubleshoot maintain complete perform conduct "
    "tackle cover own attend answer compile create develop calculate"
)
_PAST = re.compile(
    r"\b(?:done|taken|handled|performed|led|managed|completed|covered|tackled|owned|carried|undertaken|executed)\b"
    r"|^\s*(?:assigned|delegated|chosen|suggested|recommended|selected|picked|handed|allocated|nominated|appointed)\s*$"
)
_UNDECIDED = words("decide choose ask watch wait discuss rest delegate think see refuse consider let try want prefer")
Kind = Literal["nothing", "task", "person", "both"]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What a clause is: kind "task" names tasks without a person, "person" a slot without a task."""

    kind: Kind = "nothing"
    evidence: tuple[Evidence, ...] = ()
    tasks: tuple[int, ...] = ()
    by_number_alone: bool = False
    person: int | None = None
    bare: bool = False  # a person's name and nothing else
    labelled: bool = False  # a slot with a label: "Assigned to: John"
    person_first: bool = False
    reasoned: bool = False  # ends within a reason
    renumbered: bool = False
    by_item: bool = False  # the number is a list's, without the word Task
    unasserted: bool = False  # what stands before makes it no plain statement


@dataclass(frozen=True)
class Slot:
    """person: None where the slot names nobody unmistakably."""

    person: int | None
    bare: bool
    reasoned: bool
    said: str = ""  # of what follows the person, what is no reason


@dataclass(frozen=True)
class _Referred:
    tasks: tuple[int, ...]
    refused: tuple[int, ...] = ()
    by_number_alone: bool = False
    renumbered: bool = False
    weak: bool = False


def cut(sentence: str) -> list[str]:
    """The clauses of a sentence: each begins at a person or task after a comma, "and", "while" …"""
    sentence = _JOINING.sub("", sentence)
    pieces: list[str] = []
    start = 0
    first = re.search(_MARKER, sentence)
    task_first = first is not None and re.match(REFERENCE, first[0])
    for connector in _CUT.finditer(sentence):
        piece = sentence[start : connector.start()]
        if not piece or (task_first and _waits(piece, sentence[connector.end() : connector.end() + 40])):
            continue
        pieces.append(piece)
        start = connector.end() if not re.search(r"\bbut\b", connector[0]) else connector.start()
    return [clause for piece in [*pieces, sentence[start:]] for clause in _at_references(piece) if clause.strip()]


def _waits(piece: str, following: str) -> bool:
    """Whether a piece names a task whose person comes next: "For Task 1, John"."""
    if len(piece) > LONGEST_NAME or not re.search(REFERENCE, piece) or re.search(PERSON, piece):
        return False
    after = re.search(_MARKER, following)
    return bool(after and re.match(PERSON, after[0]))


def _at_references(piece: str) -> list[str]:
    """[Task 1: John] [Task 2: Emily], where nothing else parts them."""
    first = re.search(_MARKER, piece)
    if first is None:
        return [piece]
    if first.start() and not re.search(f"{NUMBER}|{ITEM}", piece):
        return _after_persons(piece)
    if re.match(PERSON, first[0]):
        return [piece]
    second = re.search(_MARKER, piece[first.end() :])
    if re.match(ITEM, first[0]) and second and re.match(PERSON, second[0]):
        between = piece[first.end() : first.end() + second.start()]
        if only_words(between, BEFORE_PERSON):  # "1. John: Task 2"
            return [piece]
    starts = [m.start(1) for m in re.finditer(rf"{PERSON}[^{PERSON[1:-1]}{REFERENCE[1:-1]}]*({REFERENCE})", piece)]
    bounds = [0, *starts, len(piece)]
    return [piece[a:b] for a, b in pairwise(bounds)]


def _after_persons(piece: str) -> list[str]:
    """[Sound system: John] [cake: Emily]"""
    bounds = [0]
    while (found := _TEXT_THEN_PERSON.match(piece, bounds[-1])) is not None:
        bounds.append(found.end())
    if len(bounds) < 3 or bounds[-1] != len(piece):
        return [piece]
    return [_CONNECTOR_LAST.sub("", piece[a:b]) for a, b in pairwise(bounds)]


def only_words(text: str, allowed: frozenset[str]) -> bool:
    """Whether a text holds no other words than these, and no mark that questions or joins."""
    return not re.search(r"[?/+&\d]|" + _MARKER, text) and all(word in allowed for word in _WORDS.findall(text))


def read_slot(text: str) -> Slot | None:
    """The person that a slot names at its head, after a lead like "assigned to"; None where it names nobody."""
    found = re.search(PERSON, text)
    if found is None:
        return None
    lead, after = text[: found.start()], text[found.end() :]
    if not _is_lead(lead):
        return Slot(None, False, False)
    return _after_person(found[0], lead, after)


def _is_lead(lead: str) -> bool:
    return len(lead) < 200 and only_words(lead, LEAD) and not BAD_LEAD.search(lead)


def _after_person(marker: str, lead: str, after: str) -> Slot:
    nobody = Slot(None, False, bool(REASON.search(after)))
    if marker == STRANGER or JOINED.match(after):
        return nobody
    person = ord(marker) - FIRST_PERSON
    for _ in range(3):
        gender = GENDER.match(after)
        after = after[gender.end() :] if gender else after
    if JOINED.match(after):
        return nobody
    if after.startswith("'s"):
        if not re.match(r"'s\s?(?:$|[.,;:)]|(?:task|job|responsibility|role|turn|duty|assignment)\b)", after):
            return nobody
        after = re.sub(r"^'s\s?[a-z]*", "", after)
    reason = REASON.search(after)
    said = after[: reason.start()] if reason else after
    if set(re.findall(PERSON, said)) - {marker} or REFUSING.search(said):
        return nobody
    if re.match(r"as\b", after[reason.start() :] if reason else "") and re.search(
        rf"{PERSON}'s\b|\b(?:backup|assistant|helper|deputy|substitute)\b", after
    ):
        return nobody
    if not _may_follow(said, bool(reason)):
        return nobody
    bare = not _WORDS.search(lead) and not _WORDS.search(after)
    return Slot(person, bare, bool(reason), said)


def _may_follow(said: str, reasoned: bool) -> bool:
    """Whether the words right after a person say that they have the task."""
    if not re.match(r"\s*[a-z']", said):
        return True
    verb = _VERB.match(said)
    if verb is None:
        return False
    word = verb["verb"]
    if verb["be"]:
        rest = said[verb.end("verb") :]
        return word in FOLLOWS_IS or (word.endswith("ing")) or (word == "a" and "fit" in rest)
    if word in ("is", "are", "be", "will"):
        return reasoned and not said[verb.end() :].strip()
    if word == "to":
        following = re.match(r"\s*to ([a-z]+)", said)
        return following is not None and following[1] in FOLLOWS | _ACTIONS
    return (bool(verb["aux"]) or word in FOLLOWS) and word not in _UNDECIDED


class Grammar:
    """Reads clauses against the tasks."""

    def __init__(self, tasks: Tasks) -> None:
        self._tasks = tasks
        self._read: dict[str, Reading] = {}

    def read(self, clause: str) -> Reading:
        """Which tasks a clause gives to whom."""
        if clause not in self._read:
            self._read[clause] = self._reading(clause.strip())
        return self._read[clause]

    def _reading(self, clause: str) -> Reading:
        person = re.search(PERSON, clause)
        reference = re.search(REFERENCE, clause)
        if reference and re.match(ITEM, reference[0]) and not clause[: reference.start()].strip():
            return replace(self._item(reference[0], clause[reference.end() :].lstrip(" .:-)")), by_item=True)
        if person is None:
            return self._task_alone(clause, reference)
        if reference is None:
            return self._words_and_person(clause, person)
        return self._ordered(clause, person.start(), reference.start())

    def _ordered(self, clause: str, person: int, reference: int) -> Reading:
        return self._task_first(clause) if reference < person else self._person_first(clause)

    # "1. …": the number of an item counts where neither another reference nor the text says more

    def _item(self, marker: str, body: str) -> Reading:
        person, reference = re.search(PERSON, body), re.search(REFERENCE, body)
        if person is None:
            if reference and re.match(NUMBER, reference[0]):
                return self._task_alone(body, reference)
            return self._task_alone(marker + " " + body, re.search(REFERENCE, marker))
        if reference and re.match(NUMBER, reference[0]):
            return self._ordered(body, person.start(), reference.start())
        if only_words(body[: person.start()], BEFORE_PERSON) and not _labels(body[: person.start()]):
            inner = self._person_first(body)
            if any(each.person is not None for each in inner.evidence):
                return inner
            slot = read_slot(body)
            if slot is None or slot.person is None or _WORDS.search(slot.said):
                n = self._tasks.task(marker)
                return Reading(kind="both", evidence=() if n is None else (Evidence(n, None),), person_first=True)
        return self._task_first(marker + " " + body)

    # "Task 1 …: John"

    def _task_first(self, clause: str) -> Reading:
        run = _RUN.search(clause)
        found = re.search(PERSON, clause)
        assert run is not None
        assert found is not None
        before = clause[: run.start()]
        between, after = clause[run.end() : found.start()], clause[found.end() :]
        name, lead = self._name_and_lead(between, numbered=True)
        referred = self._refer(run["refs"], name, after="")
        if not _asserting(before, BEFORE_TASK):
            return replace(self._refused(referred), unasserted=True)
        if lead is None or _numbers(between):
            return self._refused(referred)
        slot = _after_person(found[0], lead, after)
        if slot.person is not None and _WORDS.search(slot.said) and len(referred.tasks) == 1:
            referred = self._said_after(referred, slot.said)
        evidence = self._evidence(referred, slot.person)
        return Reading(
            kind="both", evidence=evidence, tasks=referred.tasks, by_number_alone=referred.by_number_alone,
            person=slot.person, reasoned=slot.reasoned, renumbered=referred.renumbered,
        )  # fmt: skip

    def _name_and_lead(self, between: str, numbered: bool = False) -> tuple[str, str | None]:
        """A task's name and what leads from it to the person; the latter None where something else stands there."""
        if len(between) > LONGEST_NAME:
            return "", None
        if _is_lead(between) and not self._tasks.match(between):
            return "", between
        places = [0] if re.match(r"\s*$", between) else []
        places += [m.end() for m in _SEPARATOR.finditer(between)][:24]
        for place in places:
            name, lead = between[:place], between[place:]
            if _is_lead(lead) and (_WORDS.search(name) or re.search(TEXT, name)):
                return (name, lead) if self._may_name(name) else (name, None)
        passive = _PASSIVE.search(between)
        if passive and not BAD_LEAD.search(passive[0]):
            name = between[: passive.start()]
            return (name, "") if self._may_name(name) else (name, None)
        text = re.search(rf"{TEXT}[\s)]*", between)
        if text and _is_lead(between[text.end() :]):
            return between[: text.end()], between[text.end() :]
        match = self._tasks.match(between) if numbered else None
        hanging = re.search(
            r"\b(?:for|to|with|from|by|of|and|or|at|in|on|the|a|an|than|after|before|like|about)\s*$", between
        )
        if match and match[1] > 0.6 and not hanging and self._may_name(between):
            return between, ""
        return between, None

    def _may_name(self, name: str) -> bool:
        """Whether a text beside a number can be a task's name: not a stranger's name, nor a sentence that refuses."""
        if self._tasks.match(name):
            return not re.search(r"\b(?:not|never|previously|instead|who|if)\b|n't\b|\?", name) or bool(
                re.search(TEXT, name)
            )
        if re.search(rf"{PERSON}|\bcharacters?\b", name) or REFUSING.search(re.sub(r"\bor\b", "", name)):
            return False
        words = _WORDS.findall(name)
        pronouns = {"me", "i", "you", "us", "him", "her", "them", "myself", "nurse", "doctor", "all", "we", "he", "she"}
        return not pronouns & set(words) and (len(words) > 1 or any(self._tasks.known(word) for word in words))

    def _refer(self, references: str, name: str, after: str) -> _Referred:
        """Which tasks are meant: the number, unless the text beside it clearly is another task's."""
        numbers = [self._tasks.task(marker) for marker in references if not re.match(TEXT, marker)]
        match = self._tasks.match(references if re.match(TEXT, references) else name)
        if len(numbers) > 1:
            return _Referred(tuple(n for n in numbers if n is not None), by_number_alone=True)
        n = numbers[0] if numbers else None
        if match:
            return _Referred((match[0],), renumbered=bool(numbers) and match[0] != n)
        if n is None:
            return _Referred(())
        if _WORDS.search(name) and self._tasks.leans_elsewhere(name, n):
            return _Referred((), refused=(n,))
        return _Referred((n,), by_number_alone=True)

    def _said_after(self, referred: _Referred, said: str) -> _Referred:
        """Text after the person, too, may be another task's than the number's: then neither is sure."""
        match = self._tasks.match(said)
        if match is None:
            return referred
        if match[0] == referred.tasks[0]:
            return _Referred(referred.tasks)
        if not referred.by_number_alone:
            return referred
        if match[1] >= 0.6 and self._tasks.begins_like(said, match[0]) and re.match(r"\s*(?:[:(,]|- )", said):
            return _Referred((match[0],), renumbered=True)
        return _Referred((), refused=referred.tasks)

    def _evidence(self, referred: _Referred, person: int | None) -> tuple[Evidence, ...]:
        return tuple(
            Evidence(task, person, referred.by_number_alone and person is not None, referred.weak)
            for task in referred.tasks
        ) + tuple(Evidence(task, None) for task in referred.refused)

    def _refused(self, referred: _Referred, person_first: bool = False) -> Reading:
        tasks = (*referred.tasks, *referred.refused)
        evidence = tuple(Evidence(task, None, weak=referred.weak) for task in tasks)
        return Reading(kind="both", evidence=evidence, tasks=tasks, person_first=person_first)

    # "John: Task 1"

    def _person_first(self, clause: str) -> Reading:
        found = re.search(PERSON, clause)
        assert found is not None
        before, rest = clause[: found.start()], clause[found.end() :]
        run = re.search(rf"(?:{NUMBER})+", rest)
        if run is None:
            return self._person_and_words(clause, before, found[0], rest)
        between, after = rest[: run.start()], rest[run.end() :]
        referred = self._refer(run[0], _head(after), after)
        for _ in range(2):
            gender = GENDER.match(between)
            between = between[gender.end() :] if gender else between
        head = _head(after)
        others = tuple(task for marker in re.findall(NUMBER, head) if (task := self._tasks.task(marker)) is not None)
        if not _asserting(before, BEFORE_PERSON):
            refused = self._refused(_Referred((*referred.tasks, *others), referred.refused), person_first=True)
            return replace(refused, unasserted=True)
        if (
            found[0] == STRANGER
            or _PAST.search(between)
            or not only_words(between, HAS)
            or re.search(PERSON, head)
            or others
            or (REFUSING.search(head) and not self._tasks.match(head))
            or re.match(r"\s*['&]", head)
        ):
            return self._refused(_Referred((*referred.tasks, *others), referred.refused), person_first=True)
        person = ord(found[0]) - FIRST_PERSON
        return Reading(
            kind="both", evidence=self._evidence(referred, person), tasks=referred.tasks, person=person,
            by_number_alone=referred.by_number_alone, person_first=True, reasoned=bool(REASON.search(after)),
            renumbered=referred.renumbered,
        )  # fmt: skip

    def _person_and_words(self, clause: str, before: str, marker: str, rest: str) -> Reading:
        """A person and a task that only its words tell; or a slot, where no words do."""
        slot = read_slot(clause)
        alone = Reading(
            kind="person", person=slot.person if slot else None, bare=bool(slot and slot.bare),
            labelled=_labels(before), person_first=True, reasoned=bool(slot and slot.reasoned),
        )  # fmt: skip
        for _ in range(2):
            gender = GENDER.match(rest)
            rest = rest[gender.end() :] if gender else rest
        head = _head(rest)
        texts = re.findall(TEXT, head)
        listed = bool(texts) and len(texts) > 1 and only_words(re.sub(TEXT, "", head), HAS)
        match = self._tasks.match(head) if not listed else None
        if match is None and not listed:
            return alone
        named = dict.fromkeys(task for text in texts if (task := self._tasks.task(text)) is not None)
        meant = (match[0],) if match else tuple(named)
        referred = _Referred(meant, weak=True)
        if not _asserting(before, BEFORE_PERSON):
            return replace(self._refused(referred, person_first=True), unasserted=True)
        sure = marker != STRANGER and not re.search(PERSON, head)
        acts = listed or (self._acts(head, meant[0]) and (match is None or match[1] >= 0.34))
        if not sure or self._refuses(head, meant[0]) or JOINED.match(rest):
            return self._refused(referred, person_first=True)
        if not acts:
            return alone
        person = ord(marker) - FIRST_PERSON
        return Reading(
            kind="both", evidence=self._evidence(referred, person), tasks=referred.tasks, person=person,
            person_first=True, reasoned=bool(REASON.search(rest)),
        )  # fmt: skip

    def _acts(self, head: str, task: int) -> bool:
        """Whether the words after a person are a task after a separator, or a verb in the present that does it."""
        separated = re.match(r"\s*(?::|-|,|\()\s?", head)
        if separated:
            rest = head[separated.end() :]
            match = self._tasks.match(rest)
            return bool(match and (match[1] >= 0.5 or self._tasks.begins_like(rest, task)))
        if re.match(rf"\s*(?:(?:will|shall|should|can|must|is to|is going to) )?{TEXT}", head):
            return True
        if re.match(r"\s*(?:the|a|an|on)\s", head):
            return True
        verb = _VERB.match(head)
        if verb is None:
            return False
        word = verb["verb"]
        if verb["be"] or word in ("is", "be"):
            return word.endswith("ing") or word in FOLLOWS_IS - words("a my our best most well ideal perfect")
        if word.endswith("ed") or not (word in FOLLOWS or self._tasks.shares(head[verb.end("verb") :], task)):
            return False
        if word in _UNDECIDED | {"help", "assist", "support"} and not self._tasks.has_word(word, task):
            return False
        base = {word, word.removesuffix("s"), word.removesuffix("es"), word.removesuffix("ies") + "y"}
        return (
            bool(verb["aux"])
            or word in FOLLOWS
            or bool(base & _ACTIONS)
            or (word.endswith("s") and self._tasks.known(word))
        )

    def _refuses(self, text: str, task: int) -> bool:
        """Whether a text has a word that refuses or doubts, and that is not the task's own."""
        return any(
            not self._tasks.has_word(word[0].strip(), task) for word in REFUSING.finditer(re.sub(TEXT, "", text))
        )

    # No number, or no person

    def _words_and_person(self, clause: str, found: re.Match[str]) -> Reading:
        """A clause without reference marks: "Fix the line: John", "John will fix the line", "Assigned to: John"."""
        before = clause[: found.start()]
        after = clause[found.end() :]
        if only_words(before, BEFORE_PERSON) or _is_lead(before):
            return self._person_and_words(clause, before, found[0], after)
        name, lead = self._name_and_lead(before)
        match = self._tasks.match(name)
        if match is None or match[1] < 0.34:
            if _asserting(before, BEFORE_PERSON):
                return self._person_and_words(clause[found.start() :], "", found[0], after)
            return Reading(kind="person", person_first=True, reasoned=bool(REASON.search(after)))
        referred = _Referred(match[:1], weak=lead is None or not re.search(r"[:()]| - ", before))
        if lead is None:
            return self._refused(referred)
        slot = _after_person(found[0], lead, after)
        evidence = self._evidence(referred, slot.person)
        return Reading(kind="both", evidence=evidence, tasks=match[:1], person=slot.person, reasoned=slot.reasoned)

    def _task_alone(self, clause: str, reference: re.Match[str] | None) -> Reading:
        if reference is None:
            return Reading()
        run = _RUN.search(clause)
        assert run is not None
        name = clause[run.end() :]
        if not only_words(clause[: run.start()], BEFORE_TASK):
            return Reading()
        referred = self._refer(run["refs"], name, "")
        if re.search(
            r"\b(?:everyone|everybody|all of (?:us|them)|both|not|nobody|me|none|unassigned|tbd|n/a)\b|n't\b|\?",
            re.sub(TEXT, "", name),
        ) and not (self._tasks.match(name)):
            return Reading()
        return Reading(
            kind="task", tasks=referred.tasks, by_number_alone=referred.by_number_alone, renumbered=referred.renumbered
        )

    def text_alone(self, text: str) -> Reading:
        """A line that is a task's text, whole or shortened, and nothing else."""
        text = re.sub(r"^(?:assigned )?tasks?(?: name)?\s?:", "", text.strip()).strip(" .:")
        match = self._tasks.match(text)
        if match and match[1] >= 0.6 and not REFUSING.search(re.sub(TEXT, "", text)) and not re.search(PERSON, text):
            return Reading(kind="task", tasks=match[:1])
        return Reading()

    def names_task(self, text: str) -> bool:
        """Whether a label is a task's text, whole or shortened."""
        match = self._tasks.match(text)
        return match is not None and match[1] >= 0.6

    def begins_task(self, text: str, tasks: tuple[int, ...]) -> bool:
        """Whether a line begins as the task's text does, or says that it is a task."""
        said = bool(re.match(r"(?:assigned )?tasks?(?: name)?\s?:", text.strip()))
        return said or any(self._tasks.begins_like(text, task) for task in tasks)


def _labels(before: str) -> bool:
    return (bool(_WORDS.search(before)) and ":" in before) or bool(re.search(r"\b(?:assigned|person|name)\b", before))


def _head(text: str) -> str:
    """What stands before a reason."""
    reason = REASON.search(text)
    return text[: reason.start()] if reason else text


def _asserting(before: str, allowed: frozenset[str]) -> bool:
    """Whether what stands before a clause's first mark leaves it a plain statement."""
    if only_words(before, allowed):
        return True
    label = before.rstrip()
    return label.endswith(":") and not re.search(_MARKER, label) and asserts(label)


def asserts(lead_in: str) -> bool:
    """Whether a lead-in neither refuses nor doubts what it leads to; that bias be avoided is no doubt."""
    lead_in = re.sub(r"\bavoid(?:ing)? [\w ]{0,40}?(?:bias\w*|stereotyp\w*)", "", lead_in)
    return not (UNASSERTED.search(lead_in) or REFUSING.search(lead_in))


def _numbers(text: str) -> str:
    return "".join(re.findall(rf"{NUMBER}|{ITEM}", text))
