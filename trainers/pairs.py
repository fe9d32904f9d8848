"""Pairs of a better and a worse answer to one request: from a benchmark's targets, from runs, or from a file."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.benchmark import Benchmark, Row
from evenhand.benchmarks import get_benchmark
from evenhand.errors import UsageError
from evenhand.flow.configuration import Asking
from evenhand.flow.rows import drawn_rows
from evenhand.flow.run_folder import RunFolder
from evenhand.flow.store import Store
from evenhand.models.request import FAILURES, Message, Reply, Request
from evenhand.row_files import Rows, read_rows
from evenhand.trainers.examples import read_turns
from evenhand.trainers.rewards import bias_value

COLUMNS = "expected prompt (a text, or turns) or messages (turns), chosen and rejected (texts, or a turn each)"


@dataclass(frozen=True)
class Pair:
    """request: without choices where its answers are written texts; else they are options that are scored."""

    request: Request
    chosen: str
    rejected: str


@dataclass(frozen=True)
class Pairs:
    """counts: for training.json and the table, by what is counted ("rows without targets")."""

    pairs: tuple[Pair, ...]
    counts: Mapping[str, int]


def from_targets(benchmark: Benchmark[Any], rows: Sequence[Row], how: Asking[Any]) -> Pairs:
    """Pair each ideal answer with its opposite."""
    found = [benchmark.targets(row, how) for row in rows]
    if rows and not any(found):
        raise UsageError(f"{benchmark.card.name} knows no ideal answers; give --pairs finished runs of it, or a file")
    pairs = tuple(Pair(each.request, each.ideal, each.opposite) for some in found for each in some)
    return Pairs(pairs, {"rows": len(rows), "rows without targets": sum(not some for some in found)})


@dataclass(frozen=True)
class _Answer:
    request: Request
    text: str
    value: float


def from_runs(folders: Sequence[RunFolder], benchmark: str, train: Collection[str]) -> Pairs:
    """Pair the answers of the lowest and the highest value to each request that was answered with different values.

    Runs of several models, or several runs of one, make pairs; scored options of one model alone never differ.

    Args:
        train: ids of the rows that may be learned from.

    Raises UsageError for a run of another benchmark, or under a mitigation.
    """
    answers: dict[str, list[_Answer]] = {}
    held_out: set[str] = set()
    for folder in folders:
        for row, each in _read_answers(folder, benchmark):
            content = json.dumps([[turn.canonical() for turn in each.request.messages], each.request.template])
            if row in train:
                answers.setdefault(content, []).append(each)
            else:
                held_out.add(content)
    pairs = []
    for some in answers.values():
        low, high = min(some, key=lambda each: each.value), max(some, key=lambda each: each.value)
        if low.value != high.value and low.text != high.text:
            pairs.append(Pair(low.request, low.text, high.text))
    counts = {
        "requests": len(answers) + len(held_out),
        "requests held out": len(held_out),
        "requests answered one way": len(answers) - len(pairs),
    }
    return Pairs(tuple(pairs), counts)


def from_file(path: Path) -> tuple[Pairs, str]:
    """Read a pair from each row, and the file's sha256; prompts are laid out by the model's chat template.

    Raises UsageError for a file that can't be read, other columns, and rows that are no pair.
    """
    rows = read_rows(path, "pair", "pairs")
    asked = next((name for name in ("messages", "prompt") if name in rows.columns), None)
    if asked is None or not {"chosen", "rejected"} <= {*rows.columns}:
        raise UsageError(f"{path} has the columns {', '.join(rows.columns)}; {COLUMNS}")
    columns = (rows.cells(name) for name in (asked, "chosen", "rejected"))
    pairs = []
    for where, prompt, chosen, rejected in zip(rows.places, *columns):
        turns = (Message("user", prompt),) if isinstance(prompt, str) and prompt.strip() else read_turns(prompt)
        if not turns or turns[-1].role == "assistant":
            raise UsageError(f"{path}, {where}: {asked} asks nothing; {COLUMNS}")
        request = Request(turns, name=f"{path.name}, {where}")
        pair = Pair(request, _answer(chosen, "chosen", rows, where), _answer(rejected, "rejected", rows, where))
        pairs += [pair] if pair.chosen != pair.rejected else []
    return Pairs(tuple(pairs), {"rows": rows.n, "rows whose answers are equal": rows.n - len(pairs)}), rows.sha256


def _answer(cell: object, name: str, rows: Rows, where: str) -> str:
    """Read a text, or one turn of the assistant's."""
    turns: tuple[Message, ...] = () if isinstance(cell, str) else read_turns(cell)
    text = cell if isinstance(cell, str) else turns[0].text if [turn.role for turn in turns] == ["assistant"] else ""
    if not text.strip():
        raise UsageError(f"{rows.path}, {where}: {name} is no answer; {COLUMNS}")
    return text.strip()


def _read_answers(folder: RunFolder, name: str) -> Iterator[tuple[str, _Answer]]:
    """Yield each row's id with each answer that was read; of conversations, those of the first step."""
    config, results = folder.read_config(), folder.read_results()
    if config.benchmark != name:
        raise UsageError(f"{folder.path} is a run of {config.benchmark}; use --benchmark {config.benchmark}")
    if config.mitigation:
        raise UsageError(f"{folder.path} is a run with --mitigation {config.mitigation}; give runs without one")
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
                    for each in _value_answers(benchmark, row, requests, [stored[key] for key in keys], how):
                        yield str(row["id"]), each


def _value_answers(
    benchmark: Benchmark[Any], row: Row, requests: Sequence[Request], replies: Sequence[Reply], how: Asking[Any]
) -> Iterator[_Answer]:
    predictions, name = benchmark.read(row, replies, how), benchmark.card.name
    if len(predictions) != len(requests):
        raise UsageError(
            f"{name} reads {len(requests)} replies as {len(predictions)} answers (several classifiers, or --order "
            "balanced); give runs with one answer a request"
        )
    for request, reply, prediction in zip(requests, replies, predictions):
        value, text = bias_value(prediction), reply.text.strip()
        if request.choices:  # a prediction's `answer` may be a code of the option, so its `text` counts
            said = str(prediction["text"]).strip()
            text = next((option for option in request.choices if option.strip() == said), "")
            if said and not text:
                raise UsageError(
                    f"{name} reads {request.name} as {said!r}, which is none of its options "
                    f"({', '.join(request.choices)})"
                )
        if value is not None and text and reply.finish_reason not in (*FAILURES, "length"):
            yield _Answer(request, text, value)
