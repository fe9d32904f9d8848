"""What a run would ask, cost and show, before it is run."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import datasets

from evenhand.benchmark import Benchmark, Row
from evenhand.benchmarks import get_benchmark
from evenhand.errors import UsageError
from evenhand.flow.episode import Episode
from evenhand.flow.evaluation import load_agents, load_rows
from evenhand.flow.settings import Settings
from evenhand.mitigations import chosen_mitigation
from evenhand.models.protocol import CountsTokens, Model
from evenhand.models.request import Reply, Request
from evenhand.statistics.clustered import smallest_difference

CALLS_SAMPLED = 8
WARM_UP_REQUESTS = 8
TIMED_REQUESTS = 48
TIMED_TEXTS, TIMED_TOKENS = 16, 32


@dataclass(frozen=True)
class Plan:
    """Of a whole run; what was scaled up from `sampled` requests is marked approximate.

    tokens: read by the model if every option were a prompt of its own; distinct_tokens: read when each distinct prefix
    is computed once a call; new_tokens: generated at most. None where the model counts none.
    smallest_differences: {"overall" or configuration: (answers independent, clusters answer as one)}, in points.
    """

    rows: int
    requests: int
    sampled: int
    timed: int
    tokens: int | None
    distinct_tokens: int | None
    new_tokens: int
    seconds: float
    n_clusters: int
    smallest_differences: dict[str, tuple[float, float]]

    @property
    def approximate(self) -> bool:
        return self.sampled < self.requests

    def lines(self) -> list[str]:
        """As the command line prints it."""
        about = "about " if self.approximate else ""
        lines = [f"{self.rows:,} rows, {about}{self.requests:,} requests"]
        if self.tokens is not None and self.distinct_tokens:
            ratio = self.tokens / self.distinct_tokens
            lines.append(
                f"{about}{self.tokens:,} tokens to read, {about}{self.distinct_tokens:,} distinct ({ratio:.1f} x)"
            )
        if self.new_tokens:
            lines.append(f"at most {self.new_tokens:,} tokens to generate")
        lines.append(f"about {_duration(self.seconds)}, from a timing of {self.timed} requests here")
        for name, (independent, as_one) in self.smallest_differences.items():
            lines.append(
                f"smallest difference between two runs that {name} can show (80 % power, 5 % level): {independent:.1f} "
                f"points if answers are independent, {as_one:.1f} if each of the clusters answers as one"
            )
        lines.append(f"{self.n_clusters:,} clusters. Nothing was stored.")
        return lines


def plan(settings: Settings, model: Model | None = None) -> Plan:
    """Rows, tokens and time of a run with these settings. Asks the model a few requests, and stores nothing.

    Later steps are counted as they are asked where every reply is as long as it may be.

    Raises UsageError for settings that don't fit.
    """
    if settings.texts:
        raise UsageError("--plan says what a model would be asked; --texts asks none")
    benchmark = get_benchmark(settings.benchmark)
    settings.check_options(benchmark.options)
    settings = settings.filled(benchmark.defaults)
    settings.check_sampling()
    benchmark.check(settings)
    rows, _ = load_rows(benchmark, settings)
    agents = load_agents(settings, model)
    model = next(iter(agents.values()))
    chunks = _chunks(len(rows), _rows_a_call(benchmark, rows, settings, model))
    calls = [call for chunk in chunks for call in _calls(benchmark, rows.select(chunk), settings, agents)]
    sampled = [request for call in calls for request in call]
    scale = settings.runs * len(rows) / sum(map(len, chunks))
    counts = [model.count_tokens(call) for call in calls] if isinstance(model, CountsTokens) else []
    timed = [
        _timed(max((call for call in calls if bool(call[0].choices) == scored), key=len)) for scored in _kinds(sampled)
    ]
    clusters = rows[benchmark.cluster_column]
    groups = {"the run": len(set(clusters)), "one configuration": len(set(clusters)) // _n_configs(benchmark, settings)}
    requests = round(scale * len(sampled))
    return Plan(
        rows=len(rows),
        requests=requests,
        sampled=len(sampled),
        timed=sum(map(len, timed)),
        tokens=round(scale * sum(count.read for count in counts)) if counts else None,
        distinct_tokens=round(scale * sum(count.distinct for count in counts)) if counts else None,
        new_tokens=round(scale * sum(request.sampling.max_new_tokens for request in sampled if not request.choices)),
        seconds=scale * sum(_seconds(model, calls, some) for some in timed),
        n_clusters=groups["the run"],
        smallest_differences={
            name: _differences(requests * n_clusters // groups["the run"], n_clusters)
            for name, n_clusters in groups.items()
            if n_clusters and benchmark.answers_are_shares
        },
    )


def _rows_a_call(benchmark: Benchmark, rows: datasets.Dataset, settings: Settings, model: Model) -> int:
    """How many rows' first requests fill a call of the runner's."""
    first = next(_episode(benchmark, rows[0], settings))
    return max(1, model.requests_at_once // sum(request.size for request in first))


def _chunks(n_rows: int, rows_a_call: int) -> list[range]:
    """Evenly spaced runs of neighboring rows; all of them where there are few."""
    starts = range(0, n_rows, rows_a_call)
    n = min(len(starts), CALLS_SAMPLED)
    chosen = [starts[i * len(starts) // n] for i in range(n)]
    return [range(start, min(start + rows_a_call, n_rows)) for start in chosen]


def _calls(
    benchmark: Benchmark, rows: datasets.Dataset, settings: Settings, agents: Collection[str]
) -> Iterator[list[Request]]:
    """What these rows ask the agents, step by step and each kind by itself, where all replies are stand-ins."""
    waiting = [(episode, next(episode)) for episode in (_episode(benchmark, row, settings) for row in rows)]
    while waiting:
        asked = [request for _, requests in waiting for request in requests if request.agent in agents]
        for scored in _kinds(asked):
            yield [request for request in asked if bool(request.choices) == scored]
        stepped = [(episode, _step(episode, requests)) for episode, requests in waiting]
        waiting = [(episode, requests) for episode, requests in stepped if requests is not None]


def _kinds(requests: Sequence[Request]) -> list[bool]:
    """Whether choices are scored, whether texts are written."""
    return sorted({bool(request.choices) for request in requests})


def _episode(benchmark: Benchmark, row: Row, settings: Settings) -> Episode:
    episode, mitigation = benchmark.episode(row, settings), chosen_mitigation(settings)
    return mitigation.wrap(episode, row, settings) if mitigation else episode


def _step(episode: Episode, requests: Sequence[Request]) -> Sequence[Request] | None:
    try:
        return episode.send([_stand_in(request) for request in requests])
    except StopIteration:
        return None


def _stand_in(request: Request) -> Reply:
    """The first choice, or a text about as long as may be written."""
    if request.choices:
        return Reply(finish_reason="choice", choice_log_probs=tuple((-float(i),) for i in range(len(request.choices))))
    return Reply(" ".join(["word"] * request.sampling.max_new_tokens), finish_reason="length")


def _timed(requests: Sequence[Request]) -> Sequence[Request]:
    return requests[: TIMED_REQUESTS if requests[0].choices else TIMED_TEXTS]


def _seconds(model: Model, calls: Sequence[Sequence[Request]], timed: Sequence[Request]) -> float:
    """What the calls of one kind take, by the clock, after a few requests to warm up.

    Choices: by their distinct tokens. Texts: by their number, and the time that their first tokens take.
    """
    scored = bool(timed[0].choices)
    alike = [call for call in calls if bool(call[0].choices) == scored]
    if scored:
        seconds = _clocked(model.choose, timed)
        if isinstance(model, CountsTokens):
            return (
                seconds * sum(model.count_tokens(call).distinct for call in alike) / model.count_tokens(timed).distinct
            )
        return seconds * sum(map(len, alike)) / len(timed)
    begun = [replace(request, sampling=replace(request.sampling, max_new_tokens=TIMED_TOKENS)) for request in timed]
    longer = max(1.0, timed[0].sampling.max_new_tokens / TIMED_TOKENS)
    return longer * _clocked(model.generate, begun) * sum(map(len, alike)) / len(timed)


def _clocked(ask: Callable[[Sequence[Request]], object], requests: Sequence[Request]) -> float:
    ask(requests[:WARM_UP_REQUESTS])
    start = time.perf_counter()
    ask(requests)
    return time.perf_counter() - start


def _n_configs(benchmark: Benchmark, settings: Settings) -> int:
    return len(settings.configs or benchmark.default_configs)


def _differences(n: int, n_clusters: int) -> tuple[float, float]:
    return smallest_difference(n, n_clusters, 0.0), smallest_difference(n, n_clusters, 1.0)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
