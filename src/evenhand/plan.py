"""What a run would ask, cost and show, before it is run."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import datasets

from evenhand.benchmark import Benchmark
from evenhand.benchmarks import get_benchmark
from evenhand.errors import UsageError
from evenhand.evaluation import load_agents, load_rows
from evenhand.mitigations import chosen_mitigation
from evenhand.models.protocol import CountsTokens, Model
from evenhand.models.request import Request
from evenhand.settings import Settings
from evenhand.stats import smallest_difference

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
        lines = [f"{self.rows:,} rows, {about}{self.requests:,} requests (the first step of each row)"]
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

    Raises UsageError for settings that don't fit.
    """
    if settings.texts:
        raise UsageError("--plan says what a model would be asked; --texts asks none")
    benchmark = get_benchmark(settings.benchmark)
    settings.check_options(benchmark.options)
    settings = settings.filled(benchmark.defaults)
    benchmark.check(settings)
    rows, _ = load_rows(benchmark, settings)
    model = next(iter(load_agents(settings, model).values()))
    calls = _sample_of_calls(benchmark, rows, settings, model.requests_at_once)
    sampled = [request for call in calls for request in call]
    sampled_rows = len(sampled) / len(_requests(benchmark, rows, 0, settings))
    requests = round(settings.runs * len(rows) * len(sampled) / sampled_rows)
    scale = requests / len(sampled)
    counts = [model.count_tokens(call) for call in calls] if isinstance(model, CountsTokens) else []
    clusters = rows[benchmark.cluster_column]
    groups = {"the run": len(set(clusters)), "one configuration": len(set(clusters)) // _n_configs(benchmark, settings)}
    return Plan(
        rows=len(rows),
        requests=requests,
        sampled=len(sampled),
        timed=len(_timed(calls[0])),
        tokens=round(scale * sum(count.read for count in counts)) if counts else None,
        distinct_tokens=round(scale * sum(count.distinct for count in counts)) if counts else None,
        new_tokens=round(scale * sum(request.sampling.max_new_tokens for request in sampled if not request.choices)),
        seconds=requests * _seconds_a_request(model, _timed(calls[0])),
        n_clusters=groups["the run"],
        smallest_differences={
            name: _differences(requests * n_clusters // groups["the run"], n_clusters)
            for name, n_clusters in groups.items()
            if n_clusters and benchmark.answers_are_shares
        },
    )


def _sample_of_calls(
    benchmark: Benchmark, rows: datasets.Dataset, settings: Settings, at_once: int
) -> list[list[Request]]:
    """Evenly spaced calls of neighboring rows, as large as the runner's; all of them where there are few."""
    rows_a_call = max(1, at_once // sum(request.size for request in _requests(benchmark, rows, 0, settings)))
    starts = list(range(0, len(rows), rows_a_call))
    chosen = (
        starts
        if len(starts) <= CALLS_SAMPLED
        else [starts[i * len(starts) // CALLS_SAMPLED] for i in range(CALLS_SAMPLED)]
    )
    return [
        [
            request
            for row in range(start, min(start + rows_a_call, len(rows)))
            for request in _requests(benchmark, rows, row, settings)
        ]
        for start in chosen
    ]


def _requests(benchmark: Benchmark, rows: datasets.Dataset, row: int, settings: Settings) -> Sequence[Request]:
    """What a row asks first."""
    episode, mitigation = benchmark.episode(rows[row], settings), chosen_mitigation(settings)
    return next(mitigation.wrap(episode, rows[row], settings) if mitigation else episode)


def _timed(requests: Sequence[Request]) -> Sequence[Request]:
    return requests[: TIMED_REQUESTS if requests[0].choices else TIMED_TEXTS]


def _seconds_a_request(model: Model, requests: Sequence[Request]) -> float:
    """By the clock, after a few requests to warm up; of texts, by the time that their first tokens take."""
    if requests[0].choices:
        return _clocked(model.choose, requests) / len(requests)
    begun = [replace(request, sampling=replace(request.sampling, max_new_tokens=TIMED_TOKENS)) for request in requests]
    longer = max(1.0, requests[0].sampling.max_new_tokens / TIMED_TOKENS)
    return longer * _clocked(model.generate, begun) / len(requests)


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
