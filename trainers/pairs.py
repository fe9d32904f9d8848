"""Pairs of answers to one request, the better and the worse: from a benchmark's targets, from runs, from a file."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.errors import UsageError
from evenhand.models.request import FAILURES, Message, Reply, Request
from evenhand.trainers.rewards import bias_value

if TYPE_CHECKING:
    from evenhand.benchmark import Benchmark, Row
    from evenhand.flow.configuration import Asking
    from evenhand.flow.run_folder import RunFolder
    from evenhand.row_files import Rows

ACCEPTED = "columns prompt (a text, or turns) or messages (turns), chosen and rejected (texts, or a turn each)"
ROLES = ("system", "user", "assistant")


@dataclass(frozen=True)
class Pair:
    """request: without choices where its answers were written, and end; else they are options that are scored."""

    request: Request
    chosen: str
    rejected: str


@dataclass(frozen=True)
class Pairs:
    """counts: for training.json and the table, in words ("rows without targets")."""

    pairs: tuple[Pair, ...]
    counts: Mapping[str, int]


def from_targets(benchmark: Benchmark[Any], rows: Sequence[Row], how: Asking[Any]) -> Pairs:
    """Each ideal answer, and its opposite. Raises UsageError for a benchmark that has none."""
    found = [benchmark.targets(row, how) for row in rows]
    if rows and not any(found):
        raise UsageError(
            f"{benchmark.card.name} knows no ideal answers; --pairs RUN [RUN …] takes finished runs of it, --pairs "
            "FILE pairs of your own"
        )
    pairs = tuple(Pair(each.request, each.ideal, each.opposite) for some in found for each in some)
    return Pairs(pairs, {"rows": len(rows), "rows without targets": sum(not some for some in found)})


@dataclass(frozen=True)
class _Answer:
    request: Request
    text: str
    value: float


def from_runs(folders: Sequence[RunFolder], benchmark: str, train: Collection[str]) -> Pairs:
    """Of each request that was answered with different values: the answer of the lowest, and that of the highest.

    Runs of several models, or several runs of one, make pairs; one model's scored options alone never differ. train:
    ids of the rows that may be learned from. Raises UsageError for a folder that is no finished run of this benchmark,
    or one under a mitigation, and EvenhandError for one that is damaged.
    """
    answers: dict[str, list[_Answer]] = {}
    held_out: set[str] = set()
    for folder in folders:
        for row, each in _answers(folder, benchmark):
            if row in train:
                answers.setdefault(_content(each.request), []).append(each)
            else:
                held_out.add(_content(each.request))
    pairs = [pair for some in answers.values() if (pair := _apart(some)) is not None]
    counts = {
        "requests": len(answers) + len(held_out),
        "requests held out": len(held_out),
        "requests answered one way": len(answers) - len(pairs),
    }
    return Pairs(tuple(pairs), counts)


def from_file(path: Path) -> tuple[Pairs, str]:
    """One of each row, and the file's sha256. Prompts are laid out by the model's chat template.

    Raises UsageError for a file that can't be read, other columns, and rows that are no pair.
    """
    from evenhand.row_files import read_rows

    rows = read_rows(path, "pair", "pairs")
    asked = next((name for name in ("messages", "prompt") if name in rows.columns), None)
    if asked is None or not {"chosen", "rejected"} <= {*rows.columns}:
        raise UsageError(f"{path} has the columns {', '.join(rows.columns)}; {ACCEPTED} are accepted")
    columns = (rows.cells(name) for name in (asked, "chosen", "rejected"))
    pairs, equal = [], 0
    for place, (prompt, chosen, rejected) in enumerate(zip(*columns)):
        request = Request(_asked(prompt, rows, place), name=f"{path.name}, {rows.places[place]}")
        pair = Pair(request, _answered(chosen, "chosen", rows, place), _answered(rejected, "rejected", rows, place))
        equal += pair.chosen == pair.rejected
        pairs += [pair] if pair.chosen != pair.rejected else []
    return Pairs(tuple(pairs), {"rows": rows.n, "rows whose answers are equal": equal}), rows.sha256


def _answers(folder: RunFolder, name: str) -> Iterator[tuple[str, _Answer]]:
    """Each row's id with each answer that was read; of conversations, the first step's."""
    from evenhand.benchmarks import get_benchmark
    from evenhand.flow.rows import drawn_rows
    from evenhand.flow.store import Store

    config, results = folder.read_config(), folder.read_results()
    if config.benchmark != name:
        raise UsageError(f"{folder.path} is a run of {config.benchmark}; --benchmark {config.benchmark} takes it")
    if config.mitigation:
        raise UsageError(
            f"{folder.path} is a run with --mitigation {config.mitigation}: it answers other prompts; name runs without"
        )
    benchmark: Benchmark[Any] = get_benchmark(name)
    rows = drawn_rows(benchmark, config).rows
    with Store(folder.store, results.agents) as store:
        for run in range(config.n_runs):
            how = config.asking(run)
            for row in rows:
                requests = benchmark.ask(row, how)
                keys = [request.digest(results.agents[request.agent]) for request in requests]
                stored = store.get(keys)
                if all(key in stored for key in keys):
                    for each in _read(benchmark, row, requests, [stored[key] for key in keys], how):
                        yield str(row["id"]), each


def _read(
    benchmark: Benchmark[Any], row: Row, requests: Sequence[Request], replies: Sequence[Reply], how: Asking[Any]
) -> list[_Answer]:
    predictions = benchmark.read(row, replies, how)
    if len(predictions) != len(requests):
        raise UsageError(
            f"{benchmark.card.name} reads {len(requests)} replies as {len(predictions)} answers (several classifiers, "
            "or --order balanced): runs with one answer a request are accepted"
        )
    found = []
    for request, reply, prediction in zip(requests, replies, predictions):
        value = bias_value(prediction)
        text = _option(benchmark.card.name, request, prediction) if request.choices else reply.text.strip()
        if value is not None and text and reply.finish_reason not in (*FAILURES, "length"):
            found.append(_Answer(request, text, value))
    return found


def _option(name: str, request: Request, prediction: Mapping[str, Any]) -> str:
    """The one of the request's options that was chosen, to the letter; "" where none was.

    A prediction's `answer` may be a code of it (a place), so its `text` counts. Raises UsageError for a text that is
    none of the options: a pair of it would teach words that nobody was offered.
    """
    said = str(prediction["text"]).strip()
    found = next((option for option in request.choices if option.strip() == said), "")
    if said and not found:
        raise UsageError(
            f"{name} reads {request.name} as {said!r}, which is none of its options ({', '.join(request.choices)}); "
            "predictions whose text is the option chosen make pairs"
        )
    return found


def _content(request: Request) -> str:
    """What tells requests apart, whoever answered and how often."""
    return json.dumps([[each.canonical() for each in request.messages], request.template])


def _apart(answers: Sequence[_Answer]) -> Pair | None:
    """None where all are equal in value, or in words."""
    low, high = min(answers, key=lambda each: each.value), max(answers, key=lambda each: each.value)
    if low.value == high.value or low.text == high.text:
        return None
    return Pair(low.request, low.text, high.text)


def _asked(cell: object, rows: Rows, place: int) -> tuple[Message, ...]:
    turns = [{"role": "user", "content": cell}] if isinstance(cell, str) else cell
    messages = _turns(turns)
    if not messages or messages[-1].role == "assistant":
        raise UsageError(f"{rows.path}, {rows.places[place]}: nothing is asked; {ACCEPTED} are accepted")
    return messages


def _answered(cell: object, name: str, rows: Rows, place: int) -> str:
    if isinstance(cell, str):
        text = cell.strip()
    else:
        turns = _turns(cell)
        text = turns[0].text.strip() if len(turns) == 1 and turns[0].role == "assistant" else ""
    if not text:
        raise UsageError(f"{rows.path}, {rows.places[place]}: {name} is no answer; {ACCEPTED} are accepted")
    return text


def _turns(cell: object) -> tuple[Message, ...]:
    """None where one of them is no turn with a text."""
    turns = cell if isinstance(cell, list) else []
    found = tuple(
        Message(turn["role"], turn["content"])
        for turn in turns
        if isinstance(turn, dict)
        and turn.get("role") in ROLES
        and isinstance(turn.get("content"), str)
        and turn["content"].strip()
    )
    return found if len(found) == len(turns) else ()


def scored(pair: Pair) -> Request:
    """The request with both answers as choices, so that they are read as the backend reads options."""
    return replace(pair.request, choices=(pair.chosen, pair.rejected))
