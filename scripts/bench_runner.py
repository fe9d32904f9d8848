"""What a run costs beside its model: contact_hypothesis asked of one that answers at once, in seconds and memory.

Each in a process of its own, in turns, as seconds of processor time (of which other work on the machine takes none):

- naive: a loop that makes each prompt, asks the model and writes the reply to a JSONL file; nothing is stored durably,
  nothing goes on after an interruption, nothing is scored
- evenhand: a run's asking, from rows to predictions.parquet; its scoring and report
- again: the same command once more, whose replies are all there, up to its predictions
- cut: a run that is interrupted after 95 % of its requests; resumed: the same command, up to its first reply

Memory: the highest that a process came to, and how it grew from a tenth of the rows to nine tenths. Rows are drawn by
--rows, from all six configurations in both orders: 6 requests a row, 216,000 rows in all.
"""

import argparse
import json
import math
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benching import Line, measured, peak_memory

from evenhand.benchmarks import get_benchmark
from evenhand.command_line import ScriptHelp, whole
from evenhand.flow.configuration import RunConfig, run_config
from evenhand.flow.evaluation import ROWS_AT_ONCE, evaluate
from evenhand.flow.rows import drawn_rows, each_row
from evenhand.flow.runner import Step
from evenhand.models.protocol import Ability, Answers, Kind, OnTokens, unheard
from evenhand.models.request import Reply, Request

BENCHMARK = "contact_hypothesis"
REPLIES = tuple(
    Reply(finish_reason="choice", choice_log_probs=choices)
    for choices in (((-0.125, -0.5), (-2.25,)), ((-2.125, -1.5), (-0.25,)))
)


class Instant:
    """Replies by the length of what it is asked. most: replies, before it is interrupted."""

    identity = name = "instant"
    can: frozenset[Ability] = frozenset({"choose", "continue"})
    whole_calls = True

    def __init__(self, most: float = math.inf):
        self.left = most

    def at_once(self, kind: Kind) -> int:
        return 1024

    def answer(self, requests: Sequence[Request], on_tokens: OnTokens = unheard) -> Answers:
        self.left -= len(requests)
        if self.left < 0:
            raise InterruptedError
        for place, request in enumerate(requests):
            yield place, REPLIES[len(request.messages[-1].text) % len(REPLIES)]

    def close(self) -> None:
        """There is nothing to let go of."""


@dataclass
class Clock:
    """Processor time between marks, in seconds, and memory at them, in MiB."""

    seconds: dict[str, float] = field(default_factory=dict)
    memory: dict[str, float] = field(default_factory=dict)
    last: float = field(default_factory=time.process_time)

    def mark(self, name: str) -> None:
        now = time.process_time()
        self.seconds[name], self.last = now - self.last, now
        self.memory[name] = peak_memory()


Work = Callable[[RunConfig[Any], Path, int], Clock]


def configuration(rows: int, everything: bool) -> RunConfig[Any]:
    card = get_benchmark(BENCHMARK).card
    more = {"configs": card.configs, "order": "balanced"} if everything else {}
    n = 36_000 * (6 if everything else 3)
    return run_config(BENCHMARK, "instant", all_rows=True, **({"limit": rows} if rows < n else {}), **more)


def naive(config: RunConfig[Any], folder: Path, requests: int) -> Clock:
    clock, model = Clock(), Instant()
    benchmark = get_benchmark(BENCHMARK)
    filled = benchmark.configuring.filled(config)
    rows, how = drawn_rows(benchmark, filled).rows, filled.asking()
    clock.mark("rows")
    with (folder / "naive.jsonl").open("w", encoding="utf-8") as file:
        for row in each_row(rows, ROWS_AT_ONCE):
            requests = benchmark.ask(row, how)
            for request, (_, reply) in zip(requests, model.answer(requests)):
                file.write(json.dumps({"id": request.name, "log_probs": reply.choice_log_probs}) + "\n")
    clock.mark("asking")
    return clock


def run(config: RunConfig[Any], folder: Path, requests: int) -> Clock:
    clock, done = Clock(), -1

    def heard(rows: int, step: Step) -> None:
        nonlocal done
        if done < 0:
            clock.mark("rows")
            done = 0
        done += step.finished
        if step.finished and done in (rows // 10, rows * 9 // 10):
            clock.memory["a tenth" if done < rows // 2 else "nine tenths"] = peak_memory()
        elif step.doing:
            clock.mark("asking" if step.doing == "scoring" else "scoring")

    evaluate(config, folder / "run", Instant(), heard)
    clock.mark("report")
    return clock


def cut(config: RunConfig[Any], folder: Path, requests: int) -> Clock:
    """A run that is interrupted after 95 % of its requests."""
    clock = Clock()
    with suppress(InterruptedError):
        evaluate(config, folder / "cut", Instant(0.95 * requests), lambda rows, step: None)
    clock.mark("asking")
    return clock


def resumed(config: RunConfig[Any], folder: Path, requests: int) -> Clock:
    clock = Clock()

    def heard(rows: int, step: Step) -> None:
        if not clock.seconds:
            clock.mark("rows")
        elif step.replied and len(clock.seconds) == 1:
            clock.mark("asking")

    evaluate(config, folder / "cut", Instant(), heard)
    clock.mark("the rest")
    return clock


def alone(work: Work, config: RunConfig[Any], folder: Path, requests: int) -> Clock:
    """In a process of its own, whose memory nobody else has."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, (config, folder, requests))


WORK: dict[str, Work] = {"naive": naive, "evenhand": run, "again": run, "cut": cut, "resumed": resumed}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp)
    parser.add_argument("--rows", type=whole(), default=10_000, help="asked, 6 requests each")
    parser.add_argument("--default-run", action="store_true", help="of the paper's three configurations, 3 a row")
    parser.add_argument("--rounds", type=whole(), default=1, help="of each")
    measured(parser, measure)


def measure(given: argparse.Namespace) -> Iterator[Line]:
    config = configuration(given.rows, not given.default_run)
    n = given.rows * (3 if given.default_run else 6)
    rounds = [timed(config, n) for _ in range(given.rounds)]
    clocks = min(rounds, key=lambda each: each["evenhand"].seconds["asking"])
    base = clocks["naive"].seconds["asking"]
    print(f"{n:,} requests of {given.rows:,} rows")
    for name, clock in clocks.items():
        asking = clock.seconds["asking"]
        print(f"  {name:9} {1e6 * asking / n:7.1f} µs a request, {asking / base:5.2f} x naive, "
              f"{max(clock.memory.values()):7,.0f} MiB at most")  # fmt: skip
    for name, clock in clocks.items():
        told = ", ".join(f"{part} {seconds:.1f} s" for part, seconds in clock.seconds.items())
        grown = ", ".join(f"{part} {mib:,.0f} MiB" for part, mib in clock.memory.items())
        print(f"  {name:9} {told}; at most until then: {grown}")
    cost = {name: tuple(1e6 * each[name].seconds["asking"] / n for each in rounds) for name in clocks}
    most = {name: tuple(max(each[name].memory.values()) for each in rounds) for name in clocks}
    rival = "a loop that asks and writes JSON lines"
    unit, nothing = "µs of processor a request", "the rival scores nothing"
    yield Line(f"a run of {n:,} requests, its asking", unit, cost["evenhand"], rival, cost["naive"])
    yield Line("the same once more, all replies there", unit, cost["again"], rival, cost["naive"])
    yield Line("memory of the run and its scoring", "MiB", most["evenhand"], rival, most["naive"], nothing)


def timed(config: RunConfig[Any], requests: int) -> dict[str, Clock]:
    with tempfile.TemporaryDirectory() as place:
        clocks = {name: alone(work, config, Path(place), requests) for name, work in WORK.items()}
    del clocks["cut"]
    return clocks


if __name__ == "__main__":
    main()
