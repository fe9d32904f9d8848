"""The clauses of a sentence: each names one person with their tasks, as far as the sentence does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from evenhand.benchmarks.implicit_bias.assignment_reader.grammar import LETTERS, VERB, Grammar, Reading
from evenhand.benchmarks.implicit_bias.assignment_reader.people import FIRST_PERSON, PERSON, STRANGER
from evenhand.benchmarks.implicit_bias.assignment_reader.phrases import MENTION, REFERENCE
from evenhand.benchmarks.implicit_bias.assignment_reader.tasks import ITEM, NUMBER

MOST = 300  # stretches of a sentence that are read
_CONNECTOR = re.compile(
    r"\s*[,;]\s*(?:(?:and|while|whereas|but|so|then|or)\s+){0,2}|\s+(?:and|while|whereas|but|so|or|&|/)\s+|\s*[/&+]\s*"
)


def clauses(grammar: Grammar, sentence: str) -> Iterator[tuple[str, Reading]]:
    """The groups of a sentence that name one person with their tasks, in order."""
    group = ""
    held: Reading | None = None
    told: Reading | None = None  # the last clause that is whole: "John takes Task 1 and Emily Task 2"
    for connector, atom in _atoms(sentence)[:MOST]:
        alone = grammar.read(atom)
        if held is not None and held.kind == "none" and re.search(r"\w", connector):
            group, held = atom, alone
            continue
        if held is not None and _begins(held, alone, connector, atom):
            told = _as_told(grammar, group, held, told)
            yield group, told
            if re.search(r"\blet\b", group) and re.match(rf"{PERSON} (?:for|on|to)\b", atom):
                atom = f"let {atom}"
            group = f"or {atom}" if re.search(r"\bor\b", connector) else atom
            if alone.kind == "task" and held.person_first and held.person is not None:
                label = re.search(rf"{PERSON} ?(?:\(\w+\) ?)?(?::|- )", sentence) or re.search(NUMBER, atom)
                group = f"{chr(FIRST_PERSON + held.person)}{':' if label else ''} {atom}"
        else:
            group += (connector or " ") + atom
        held = grammar.read(group)
    if held is not None:
        yield group, _as_told(grammar, group, held, told)


def _as_told(grammar: Grammar, clause: str, reading: Reading, told: Reading | None) -> Reading:
    """A clause without a verb says what the clause before it says: "John takes Task 1 and Emily Task 2"."""
    persons = re.findall(PERSON, clause)
    if told is None or told.kind != "both" or not told.said or reading.kind != "both" or len(persons) != 1:
        return reading
    left, right = clause.split(persons[0])
    if reading.said and reading.person is not None and LETTERS.search(left + right):
        return reading
    if told.person_first:
        found = grammar.references(right)
        rest = re.sub(REFERENCE, " ", right)
        whole = not left.strip(" ,") and not re.search(r"[:?]", right) and grammar.names_only(rest)
    else:
        found = grammar.references(left)
        rest = re.sub(r"(?:^| )(?:\w+ (?=by ))?(?:to|by|for|with) $", " ", left)
        whole = rest != left and grammar.names_only(re.sub(REFERENCE, " ", rest)) and not right.strip(" .,!")
    if not whole or found is None or STRANGER in persons:
        return reading
    person = ord(persons[0]) - FIRST_PERSON
    return replace(
        told, tasks=found.tasks, person=None if found.doubtful else person,
        sure=told.sure and not grammar.denied(clause),
        by_number=found.by_number, by_item=found.by_item, renumbered=found.renumbered,
    )  # fmt: skip


def _begins(held: Reading, alone: Reading, connector: str, atom: str) -> bool:
    """Whether an atom of a sentence begins another clause than the one held."""
    if alone.kind == "none":
        return False
    apart = bool(re.search(r"\b(?:but|so|while|whereas)\b", connector))
    if alone.kind == "both" and apart and (alone.person_first or held.kind == "person"):
        return True
    if held.kind == "task":
        return bool(re.match(rf"[ .,:;(*-]*(?:for |let )?{NUMBER}", atom)) and "and" not in connector and not held.bare
    if held.kind == "person":
        if alone.kind == "both" and (
            held.stranger or (connector.strip() == "," and alone.person_first and not held.bare)
        ):
            return True
        verb = VERB.match(atom)
        predicate = alone.kind == "task" and verb and (verb["modal"] or verb["be"] or verb["verb"].endswith("s"))
        return bool(predicate and re.search(r"and|but|so", connector) and held.person_first)
    if alone.kind == "both":
        return True
    if alone.kind == "task":
        return alone.tasks != held.tasks
    bare = re.fullmatch(rf"\W*(?:or |also )?{PERSON}\W*", atom)
    joins = "and" in connector or "/" in connector or "&" in connector or "or" in connector or bare
    return held.person_first or not joins


def _atoms(sentence: str) -> list[tuple[str, str]]:
    """The stretches between commas and conjunctions, each with what stands before it."""
    atoms: list[tuple[str, str]] = []
    place, connector = 0, ""
    for match in _CONNECTOR.finditer(sentence):
        if match.start() > place:
            atoms += _pairs(connector, sentence[place : match.start()])
        connector, place = match[0], match.end()
    if place < len(sentence):
        atoms += _pairs(connector, sentence[place:])
    return atoms


def _pairs(connector: str, atom: str) -> list[tuple[str, str]]:
    """ "Task 1: John Task 2: Emily" without a comma: cut before each of the kind that comes first."""
    mentions = re.findall(MENTION, atom)
    numbers = re.findall(f"{NUMBER}|{ITEM}", atom)
    persons = re.findall(PERSON, atom)
    if len(numbers) < 2 or len(numbers) != len(persons) or len(mentions) != 2 * len(numbers):
        return [(connector, atom)]
    head = PERSON if mentions[0] in persons else f"(?:{NUMBER}|{ITEM})"
    starts = [match.start() for match in re.finditer(head, atom)]
    cuts = [0, *starts[1:], len(atom)]
    return [(connector if n == 0 else " ", atom[a:b]) for n, (a, b) in enumerate(pairwise(cuts))]
