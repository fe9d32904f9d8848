"""Measure what a run costs beside its model: contact_hypothesis asked of a model that answers immediately.

Every work has a process of its own, and is measured in seconds of processor time, of which other work takes little:

- naive: a loop that makes each prompt, asks the model and writes the reply to a JSONL file; nothing is durable,
  resumed or scored
- evenhand: a run from rows to predictions.parquet, and its scoring and report
- again: the same command once more, with all replies stored

Rows are drawn by --rows, from all six configurations in both orders: 6 requests a row, 216,000 rows in all.
"""

import argparse
import json
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import Line, bench_parser, peak_memory, run_bench

from evenhand.benchmarks import get_benchmark
from evenhand.flow.configuration import RunConfig, run_config
from evenhand.flow.evaluation import ROWS_AT_ONCE, evaluate
from evenhand.flow.rows import drawn_rows, each_row
from evenhand.flow.runner import Step
from evenhand.models.protocol import Ability, Answers, Kind, OnTokens, unheard
from evenhand.models.request import Reply, Request

BENCHMARK = get_benchmark("contact_hypothesis")
REQUESTS_A_ROW = 6
RIVAL = "a loop that asks and writes JSON lines"
REPLIES = tuple(
    Reply(finish_reason="choice", choice_log_probs=choices)
    for choices in (((-0.125, -0.5), (-2.25,)), ((-2.125, -1.5), (-0.25,)))
)


class InstantModel:
    """Replies by the length of the prompt."""

    identity = name = "instant"
    can: frozenset[Ability] = frozenset({"choose", "continue"})
    whole_calls = True

    def at_once(self, kind: Kind) -> int:
        return 1024

    def answer(self, requests: Sequence[Request], on_tokens: OnTokens = unheard) -> Answers:
        for place, request in enumerate(requests):
            yield place, REPLIES[len(request.messages[-1].text) % len(REPLIES)]

    def close(self) -> None:
        """Nothing is open."""


@dataclass
class Clock:
    """Seconds of processor time between marks, and peak memory in MiB."""

    seconds: dict[str, float] = field(default_factory=dict)
    memory: float = 0.0
    last: float = field(default_factory=time.process_time)

    def mark(self, name: str) -> None:
        now = time.process_time()
        self.seconds[name], self.last, self.memory = now - self.last, now, peak_memory()


def run_naive(config: RunConfig[Any], folder: Path) -> Clock:
    clock, model = Clock(), InstantModel()
    filled = BENCHMARK.configuring.filled(config)
    rows, how = drawn_rows(BENCHMARK, filled).rows, filled.asking()
    clock.mark("rows")
    with (folder / "naive.jsonl").open("w", encoding="utf-8") as file:
        for row in each_row(rows, ROWS_AT_ONCE):
            requests = BENCHMARK.ask(row, how)
            for request, (_, reply) in zip(requests, model.answer(requests)):
                file.write(json.dumps({"id": request.name, "log_probs": reply.choice_log_probs}) + "\n")
    clock.mark("asking")
    return clock


def run_evenhand(config: RunConfig[Any], folder: Path) -> Clock:
    clock = Clock()

    def on_step(rows: int, step: Step) -> None:
        if not clock.seconds:
            clock.mark("rows")
        elif step.doing == "scoring":
            clock.mark("asking")

    evaluate(config, folder / "run", InstantModel(), on_step)
    clock.mark("scoring and report")
    return clock


WORKS: dict[str, Callable[[RunConfig[Any], Path], Clock]] = {
    "naive": run_naive,
    "evenhand": run_evenhand,
    "again": run_evenhand,
}


def measure(options: argparse.Namespace) -> Iterator[Line]:
    n = REQUESTS_A_ROW * options.rows
    more = {"configs": BENCHMARK.card.configs, "order": "balanced", "limit": options.rows}
    config = run_config("contact_hypothesis", "instant", all_rows=True, **more)
    clocks: dict[str, list[Clock]] = {name: [] for name in WORKS}
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory() as folder:
            for name, work in WORKS.items():
                with multiprocessing.get_context("spawn").Pool(1) as pool:
                    clocks[name].append(pool.apply(work, (config, Path(folder))))

    def seconds(name: str, part: str, of: float = 1) -> tuple[float, ...]:
        return tuple(clock.seconds[part] / of for clock in clocks[name])

    naive = seconds("naive", "asking", n / 1e6)
    for what, name in ((f"asking {n:,} requests", "evenhand"), ("the same once more, all replies stored", "again")):
        yield Line(what, "µs of processor a request", seconds(name, "asking", n / 1e6), RIVAL, naive)
    yield Line("drawing the rows", "s of processor", seconds("evenhand", "rows"), RIVAL, seconds("naive", "rows"))
    yield Line("scoring and report", "s of processor", seconds("evenhand", "scoring and report"), "")
    ours, theirs = (tuple(clock.memory for clock in clocks[name]) for name in ("evenhand", "naive"))
    yield Line("memory of the run and its scoring", "MiB", ours, RIVAL, theirs)


def main() -> None:
    rows, rounds = (10_000, "rows, 6 requests each"), (1, "rounds of timing")
    run_bench(bench_parser(__doc__, rows=rows, rounds=rounds), measure)


if __name__ == "__main__":
    main()
