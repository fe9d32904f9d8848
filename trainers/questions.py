"""A benchmark's questions with their options, and the value of each: what an answer would be worth, before it is given.

The benchmark is known by `ask`, `read` and `counterparts` alone: an option's value is that of a reply which is
sure of it.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.benchmark import Benchmark
from evenhand.errors import UsageError
from evenhand.flow.configuration import Asking
from evenhand.models.errors import Unanswerable
from evenhand.models.request import Reply, Request
from evenhand.models.text_reader import TextReader
from evenhand.trainers.losses import Balanced, Question
from evenhand.trainers.rewards import bias_value

SURE, NOT = 0.0, -1e4  # log-probabilities
SAME = 1e-9  # sums of values that differ by less are the same
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Asked:
    """One request of a row. values: of each of its choices; none where the benchmark gives no choice a value.

    worst: the one with the highest value; of several the first behind the best, in a ring, so that each place is the
    worst as often as the place before it is the best.
    """

    request: Request
    values: tuple[float, ...]

    @property
    def worst(self) -> int:
        best, n = self.values.index(min(self.values)), len(self.values)
        return max(((best + step) % n for step in range(1, n + 1)), key=self.values.__getitem__)

    @property
    def tells(self) -> bool:
        """Whether it matters what is chosen."""
        return len(set(self.values)) > 1


def asked_of(benchmark: Benchmark[Any], row: Row, how: Asking[Any], only: int | None = None) -> list[Asked]:
    """All requests of a row that offer choices, or one of them.

    A choice's value is the mean of `value` over what `read` makes of replies that are sure of it, and undecided on all
    other requests of the row. Raises UsageError where some choices of a request have one, and others have none.
    """
    requests = benchmark.ask(row, how)
    undecided = [Reply(choice_log_probs=((SURE,),) * len(request.choices)) for request in requests]
    found = []
    for place, request in enumerate(requests):
        if only not in (None, place):
            continue
        values: list[float | None] = []
        for choice in range(len(request.choices)):
            sure = Reply(
                choice_log_probs=tuple((SURE if each == choice else NOT,) for each in range(len(request.choices)))
            )
            read = benchmark.read(row, [*undecided[:place], sure, *undecided[place + 1 :]], how)
            known = [value for value in map(bias_value, read) if value is not None]
            values.append(sum(known) / len(known) if known else None)
        valued = tuple(value for value in values if value is not None)
        if valued and len(valued) < len(values):
            raise UsageError(
                f"{benchmark.card.name} gives no value to the answer {request.choices[values.index(None)]!r} to "
                f"{request.name} alone: its expected value can't be made small; evenhand train reward learns from what "
                "is written"
            )
        if values:
            found.append(Asked(request, valued))
    return found


@dataclass(frozen=True)
class Balance:
    """groups: of rows' questions. left_out: questions that found no counterpart, or for which no answer matters."""

    groups: tuple[Balanced, ...]
    left_out: int


def groups_of(
    benchmark: Benchmark[Any], rows: Iterable[Row], how: Asking[Any], reader: TextReader, model: str, seed: int
) -> Balance:
    """Rows' questions in groups in which no constant answer is worth more than another.

    A row with counterparts is a group with them, of one of its questions each, drawn by the seed and the same in all;
    the others are `balanced`. Raises UsageError likewise, and where nothing can be learned from any row.
    """
    alone: list[list[Asked]] = []
    found: list[Balanced] = []
    n_rows = left_out = 0
    for row in rows:
        n_rows += 1
        if together := benchmark.counterparts(row):
            place = drawn_place(benchmark, row, how, seed)
            questions = [asked for each in together for asked in asked_of(benchmark, each, how, place)]
            if even(questions):
                found.append(Balanced(tuple(_read(questions, reader, model)), apart=True))
            else:
                left_out += len(questions)
        else:
            alone.append(asked_of(benchmark, row, how))
    balance = balanced(alone, reader, model, seed)
    if not (found or balance.groups):
        raise UsageError(
            f"none of {n_rows:,} rows of {benchmark.card.name} can be learned from: an expected value needs answers of "
            "different values, and counterparts among the rows in which another answer is the worst; other rows, or a "
            "higher --limit, are accepted"
        )
    return Balance((*found, *balance.groups), left_out + balance.left_out)


def drawn_place(benchmark: Benchmark[Any], row: Row, how: Asking[Any], seed: int) -> int:
    """Of one of the questions about a row that has counterparts."""
    return random.Random(f"question {seed} {row['id']}").randrange(len(benchmark.ask(row, how)))


def even(questions: Sequence[Asked]) -> bool:
    """Whether it matters what is chosen, and each place among the options is worth the same over all questions."""
    if not all(each.tells for each in questions) or len({len(each.values) for each in questions}) != 1:
        return False
    sums = [math.fsum(values) for values in zip(*(each.values for each in questions))]
    return max(sums) - min(sums) < SAME


def balanced(rows: Iterable[Sequence[Asked]], reader: TextReader, model: str, seed: int) -> Balance:
    """Rows' questions in groups of the same options, in which each of these is the worst equally often.

    So no constant answer, by words, by place or by role, is worth more than another, or than answers by chance. (By
    place alone it might be: of bbq "unknown" stands anywhere, and is right in half of all rows.) What finds no such
    company is left out. Raises UsageError, with the model as people call it, for prompts it can't read.
    """
    units: dict[tuple[str, ...], dict[int, list[list[Asked]]]] = defaultdict(lambda: defaultdict(list))
    n_asked = 0
    for questions in rows:
        n_asked += len(questions)
        for worst in sorted({each.worst for each in questions if each.tells}):
            unit = [each for each in questions if each.tells and each.worst == worst]
            units[unit[0].request.choices][worst].append(unit)
    rng = random.Random(f"balance {seed}")
    whole = (units[options] for options in sorted(units) if len(units[options]) == len(options))
    grouped = [[each for unit in group for each in unit] for of_worst in whole for group in _one_of_each(of_worst, rng)]
    rng.shuffle(grouped)
    groups = [Balanced(tuple(_read(group, reader, model))) for group in grouped if even(group)]
    return Balance(tuple(groups), n_asked - sum(len(group.questions) for group in groups))


def _one_of_each(of_worst: Mapping[int, list[list[Asked]]], rng: random.Random) -> list[list[list[Asked]]]:
    """Units in groups of one for each worst place, as many groups as there are units of the rarest."""
    drawn = [rng.sample(of_worst[worst], len(of_worst[worst])) for worst in sorted(of_worst)]
    return [list(group) for group in zip(*drawn)]


def _read(asked: Sequence[Asked], reader: TextReader, model: str) -> list[Question]:
    found = []
    for each, continuations in zip(asked, reader.continuations([each.request for each in asked])):
        if isinstance(continuations, Unanswerable):
            raise UsageError(f"{model} can't be tuned on {each.request.name}: {continuations}")
        found.append(Question(tuple(continuations), each.values))
    return found
