"""A benchmark's questions with options, and the value (bias) of each option, grouped so that no constant answer pays.

A benchmark is used by `ask`, `read` and `counterparts` alone: an option's value is that of a reply that is sure of it.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.benchmark import Benchmark, Row
from evenhand.errors import UsageError
from evenhand.flow.configuration import Asking
from evenhand.models.request import Reply, Request
from evenhand.models.text_reader import TextReader
from evenhand.trainers.examples import require_tokens
from evenhand.trainers.losses import Balanced, Question
from evenhand.trainers.rewards import bias_value

SURE, NOT = 0.0, -1e4  # log-probabilities
SAME = 1e-9  # sums of values that differ by less are equal


@dataclass(frozen=True)
class Asked:
    """One request of a row. values: of each choice; empty where the benchmark values none."""

    request: Request
    values: tuple[float, ...]

    @property
    def worst(self) -> int:
        """The choice with the highest value.

        Of several it is the first behind the best, cyclically, so that each place is the worst equally often.
        """
        best, n = self.values.index(min(self.values)), len(self.values)
        return max(((best + step) % n for step in range(1, n + 1)), key=self.values.__getitem__)

    @property
    def matters(self) -> bool:
        """Whether the choices differ in value."""
        return len(set(self.values)) > 1


def value_questions(benchmark: Benchmark[Any], row: Row, how: Asking[Any], only: int | None = None) -> list[Asked]:
    """Return a row's requests that offer choices, or the one at a place, with the value of each choice.

    A choice's value is the mean `value` that `read` gives replies that are sure of it, and undecided on all other
    requests of the row. Raises UsageError where only some choices of a request have one.
    """
    requests = benchmark.ask(row, how)
    undecided = [Reply(choice_log_probs=((SURE,),) * len(request.choices)) for request in requests]
    found = []
    for place, request in enumerate(requests):
        if only not in (None, place) or not request.choices:
            continue
        values: list[float | None] = []
        for choice in range(len(request.choices)):
            log_probs = tuple((SURE if each == choice else NOT,) for each in range(len(request.choices)))
            answers = [*undecided[:place], Reply(choice_log_probs=log_probs), *undecided[place + 1 :]]
            known = [value for value in map(bias_value, benchmark.read(row, answers, how)) if value is not None]
            values.append(sum(known) / len(known) if known else None)
        valued = tuple(value for value in values if value is not None)
        if valued and len(valued) < len(values):
            raise UsageError(
                f"{benchmark.card.name} gives no value to {request.choices[values.index(None)]!r} as an answer to "
                f"{request.name}, so it has no expected value; use evenhand train reward"
            )
        found.append(Asked(request, valued))
    return found


@dataclass(frozen=True)
class Balance:
    """groups: of rows' questions. left_out: questions without a counterpart, or whose choices don't differ in value."""

    groups: tuple[Balanced, ...]
    left_out: int


def group_questions(
    benchmark: Benchmark[Any], rows: Iterable[Row], how: Asking[Any], reader: TextReader, model: str, seed: int
) -> Balance:
    """Group rows' questions so that in each group no constant answer is worth more than another.

    A row with counterparts makes a group with them, of one question each, at a place drawn by the seed; other rows go
    through `balance`. Raises UsageError where nothing can be learned from any row.
    """
    alone: list[list[Asked]] = []
    found: list[Balanced] = []
    left_out = 0
    for row in rows:
        if together := benchmark.counterparts(row):
            place = draw_place(benchmark, row, how, seed)
            questions = [asked for each in together for asked in value_questions(benchmark, each, how, place)]
            if is_even(questions):
                found.append(Balanced(tuple(_read(questions, reader, model)), apart=True))
            else:
                left_out += len(questions)
        else:
            alone.append(value_questions(benchmark, row, how))
    balanced = balance(alone, reader, model, seed)
    if not (found or balanced.groups):
        raise UsageError(
            f"none of the rows of {benchmark.card.name} can be learned from: an expected value needs answers of "
            "different values, and counterparts in which another answer is the worst; try a higher --limit"
        )
    return Balance((*found, *balanced.groups), left_out + balanced.left_out)


def draw_place(benchmark: Benchmark[Any], row: Row, how: Asking[Any], seed: int) -> int:
    """Draw one of the questions about a row that has counterparts."""
    return random.Random(f"question {seed} {row['id']}").randrange(len(benchmark.ask(row, how)))


def is_even(questions: Sequence[Asked]) -> bool:
    """Whether choices differ in value, and each place has the same sum of values over all questions."""
    if not all(each.matters for each in questions) or len({len(each.values) for each in questions}) != 1:
        return False
    sums = [math.fsum(values) for values in zip(*(each.values for each in questions))]
    return max(sums) - min(sums) < SAME


def balance(rows: Iterable[Sequence[Asked]], reader: TextReader, model: str, seed: int) -> Balance:
    """Group rows' questions of the same options, so that each option is the worst equally often.

    So no constant answer, by words, place or role, is worth more than another, or than random answers. (By place alone
    it might be: of bbq "unknown" stands anywhere, and is right in half of all rows.)
    """
    units: dict[tuple[str, ...], dict[int, list[list[Asked]]]] = defaultdict(lambda: defaultdict(list))
    n_asked = 0
    for questions in rows:
        n_asked += len(questions)
        for worst in sorted({each.worst for each in questions if each.matters}):
            unit = [each for each in questions if each.matters and each.worst == worst]
            units[unit[0].request.choices][worst].append(unit)
    rng = random.Random(f"balance {seed}")
    grouped: list[list[Asked]] = []
    for options in sorted(units):
        of_worst: Mapping[int, list[list[Asked]]] = units[options]
        if len(of_worst) == len(options):
            drawn = [rng.sample(of_worst[worst], len(of_worst[worst])) for worst in sorted(of_worst)]
            grouped += [[each for unit in group for each in unit] for group in zip(*drawn)]
    rng.shuffle(grouped)
    groups = [Balanced(tuple(_read(group, reader, model))) for group in grouped if is_even(group)]
    return Balance(tuple(groups), n_asked - sum(len(group.questions) for group in groups))


def _read(asked: Sequence[Asked], reader: TextReader, model: str) -> list[Question]:
    requests = [each.request for each in asked]
    found = require_tokens(requests, reader.continuations(requests), model)
    return [Question(tuple(continuations), each.values) for each, continuations in zip(asked, found)]
