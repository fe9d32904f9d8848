"""Plan a run: what it would ask, cost and show."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.errors import UsageError
from evenhand.figure import figure_rows
from evenhand.flow.configuration import RunConfig
from evenhand.flow.episode import Episode, Prediction
from evenhand.flow.evaluation import Prepared, prepare
from evenhand.flow.rows import n_clusters as clusters_of
from evenhand.flow.run_folder import RunFolder
from evenhand.flow.store import Store
from evenhand.models.protocol import CountsTokens, Kind, Model, TokenCount, kind_of, replies
from evenhand.models.request import Reply, Request
from evenhand.report.tables import n_of
from evenhand.statistics.estimators import RowMean
from evenhand.statistics.power import smallest_difference

if TYPE_CHECKING:
    import datasets

CALLS_SAMPLED = 8
WARM_UP_REQUESTS = 8
TIMED_REQUESTS = 48
TIMED_TEXTS, TIMED_TOKENS = 16, 32


@dataclass(frozen=True)
class SmallestDifference:
    """The smallest difference in a figure that two runs can show, in its own unit.

    Attributes:
        independent: if answers are independent.
        clustered: if each cluster answers as one.
        largest: the largest difference that is possible.
    """

    independent: float
    clustered: float
    largest: float
    digits: int
    unit: str

    def shown(self, difference: float) -> str:
        if difference > self.largest:
            return "none (too few answers)"
        return f"{difference:.{self.digits}f}{' points' if self.unit == 'percent' else ''}"


@dataclass(frozen=True)
class Plan:
    """What a whole run would ask; what was scaled up from `sampled` requests is marked approximate.

    Attributes:
        tokens: read by the model if every option were a prompt of its own; None where the model counts none.
        distinct_tokens: read if each distinct prefix is computed once a call.
        new_tokens: generated at most.
        smallest_differences: {figure: what two runs can show}.
        stored: answers that the output folder has.
        to_ask: answers that it lacks, to which tokens and seconds then apply; None where nothing is stored.
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
    smallest_differences: dict[str, SmallestDifference]
    runs: int = 1
    stored: int = 0
    to_ask: int | None = None

    @property
    def approximate(self) -> bool:
        return self.sampled < self.requests

    def lines(self) -> list[str]:
        """As the command line prints it."""
        about = "about " if self.approximate else ""
        each = f", each asked {self.runs} times" if self.runs > 1 else ""
        lines = [f"{self.rows:,} rows{each}, {about}{self.requests:,} requests"]
        if self.to_ask is not None:
            total = self.stored + self.to_ask
            lines.append(f"{self.stored:,} of {total:,} answers are stored; {self.to_ask:,} will be asked")
        if self.tokens and self.distinct_tokens:
            ratio = self.tokens / self.distinct_tokens
            lines.append(
                f"{about}{self.tokens:,} tokens to read, {about}{self.distinct_tokens:,} distinct ({ratio:.1f} x)"
            )
        if self.new_tokens:
            lines.append(f"at most {self.new_tokens:,} tokens to generate")
        if self.timed:
            lines.append(f"about {_duration(self.seconds)}, from a timing of {self.timed} requests here")
        for name, smallest in self.smallest_differences.items():
            lines.append(
                f"smallest difference between two runs in {name} (80 % power, 5 % level): "
                f"{smallest.shown(smallest.independent)} if answers are independent, "
                f"{smallest.shown(smallest.clustered)} if each of the clusters answers as one"
            )
        nothing = "This plan stored nothing" if self.stored else "Nothing was stored"
        return [*lines, f"{self.n_clusters:,} clusters. {nothing}."]


def plan(config: RunConfig[Any], model: Model | None = None, output: Path | None = None) -> Plan:
    """Count a run's requests and tokens and time a few of them; nothing is stored.

    Later steps of a conversation are counted as they are asked where every reply is as long as it may be.

    Args:
        output: the run folder, which may hold answers already.

    Raises:
        UsageError: for a configuration that doesn't fit, also to what the folder holds.
    """
    if output is not None:
        RunFolder(output).refuse_occupied()
    run = prepare(config, model)
    if not run.measured:
        raise UsageError("--plan says what a model would be asked, and here none is: existing texts are scored")
    stored, to_ask = _count_stored(run, RunFolder(output)) if output is not None else (0, None)
    rows, model = run.rows.rows, next(iter(run.measured.values()))
    chunks = _choose_chunks(len(rows), _rows_a_call(run, model))
    read: list[Prediction] = []
    calls = [call for chunk in chunks for call in _calls(run, rows.select(chunk), read)]
    sampled = [request for call in calls for request in call]
    scale = run.config.n_runs * len(rows) / sum(map(len, chunks))
    requests = round(scale * len(sampled))
    asked = scale if to_ask is None else scale * to_ask / max(1, stored + to_ask)
    counted = _count_tokens(model, calls)
    by_kind = [[call for call in calls if kind_of(call[0]) == kind] for kind in _kinds(sampled)]
    estimates = [_estimate_seconds(model, same) for same in by_kind if asked]
    new_tokens = sum(request.sampling.max_new_tokens for request in sampled if not request.choices)
    n_clusters = clusters_of(rows, run.benchmark.card)
    return Plan(
        rows=len(rows),
        requests=requests,
        sampled=len(sampled),
        timed=sum(n for n, _ in estimates),
        tokens=round(asked * counted.read) if counted else None,
        distinct_tokens=round(asked * counted.distinct) if counted else None,
        new_tokens=round(asked * new_tokens),
        seconds=asked * sum(seconds for _, seconds in estimates),
        n_clusters=n_clusters,
        smallest_differences=_smallest_differences(run, read, scale, n_clusters),
        runs=run.config.n_runs,
        stored=stored,
        to_ask=to_ask,
    )


def _count_stored(run: Prepared, folder: RunFolder) -> tuple[int, int | None]:
    """Count the measured models' answers that the folder's store has, and those of this run that it lacks.

    What is asked after an answer that is not there is counted as after a stand-in.
    """
    folder.refuse_other(run.config)
    if not folder.store.is_file():
        return 0, None
    identities = {agent: model.identity for agent, model in run.models.items()}
    known: set[str] = set()
    missing: set[str] = set()
    with Store(folder.store, identities) as store:
        for episode in run.all_episodes():
            requests: Sequence[Request] | None = next(episode)
            while requests is not None:
                keys = [request.digest(identities[request.agent]) for request in requests]
                found = store.get(keys)
                for key, request in zip(keys, requests):
                    if request.agent in run.measured:
                        (known if key in found else missing).add(key)
                requests = _send(episode, [found.get(key) or _stand_in(each) for key, each in zip(keys, requests)], [])
    return len(known), len(missing)


def _count_tokens(model: Model, calls: Sequence[Sequence[Request]]) -> TokenCount | None:
    """Count what calls would read; None where the model can't tell."""
    if "count_tokens" not in model.can:
        return None
    counting: CountsTokens = model  # type: ignore[assignment]
    counts = [counting.count_tokens(call) for call in calls]
    return TokenCount(sum(each.read for each in counts), sum(each.distinct for each in counts))


def _rows_a_call(run: Prepared, model: Model) -> int:
    """How many rows' first requests fill a call of the runner's."""
    first = next(next(run.episodes(run.rows.rows.select([0]))))
    return max(1, model.at_once("choose") // sum(request.size for request in first))


def _choose_chunks(n_rows: int, rows_a_call: int) -> list[range]:
    """Evenly spaced runs of neighboring rows; all of them where there are few."""
    starts = range(0, n_rows, rows_a_call)
    n = min(len(starts), CALLS_SAMPLED)
    chosen = [starts[i * len(starts) // n] for i in range(n)]
    return [range(start, min(start + rows_a_call, n_rows)) for start in chosen]


def _smallest_differences(
    run: Prepared, read: Sequence[Prediction], scale: float, n_clusters: int
) -> dict[str, SmallestDifference]:
    """Compute them for figures that a gate judges by default and that are means over rows of a known range.

    read: predictions of the sampled rows, of which there are `scale` times as many.
    """
    import pandas as pd

    figures = [each for each in run.benchmark.figures if each.statistic.range and isinstance(each.statistic, RowMean)]
    found = {}
    for row in figure_rows(figures, run.benchmark.sample(pd.DataFrame(read))):
        figure = run.benchmark.figure(row.figure)
        n = round(scale * row.n)
        if row.headline and figure.is_judged(row.groups) and n and figure.statistic.range:
            low, high = figure.statistic.range
            independent, clustered = (smallest_difference(n, n_clusters, same) for same in (0, 1))
            span = high - low
            found[figure.label(row.groups)] = SmallestDifference(
                span / 100 * independent, span / 100 * clustered, span, figure.digits, figure.unit
            )
    return found


def _calls(run: Prepared, rows: datasets.Dataset, read: list[Prediction]) -> Iterator[list[Request]]:
    """Yield what these rows ask the measured models, by step and kind, where all replies are stand-ins.

    read: predictions from those replies are added to it.
    """
    waiting = [(episode, next(episode)) for episode in run.episodes(rows)]
    while waiting:
        asked = [request for _, requests in waiting for request in requests if request.agent in run.measured]
        for kind in _kinds(asked):
            yield [request for request in asked if kind_of(request) == kind]
        stepped = [(episode, _send(episode, list(map(_stand_in, requests)), read)) for episode, requests in waiting]
        waiting = [(episode, requests) for episode, requests in stepped if requests is not None]


def _kinds(requests: Sequence[Request]) -> list[Kind]:
    return sorted({kind_of(request) for request in requests}, reverse=True)


def _send(episode: Episode, answers: Sequence[Reply], read: list[Prediction]) -> Sequence[Request] | None:
    """An episode's next requests; None at its end, whose predictions are added to `read`."""
    try:
        return episode.send(answers)
    except StopIteration as end:
        read += end.value
        return None


def _stand_in(request: Request) -> Reply:
    """The first choice, or a text about as long as may be written."""
    if request.choices:
        return Reply(finish_reason="choice", choice_log_probs=tuple((-float(i),) for i in range(len(request.choices))))
    return Reply(" ".join(["word"] * request.sampling.max_new_tokens), finish_reason="length")


def _estimate_seconds(model: Model, calls: Sequence[Sequence[Request]]) -> tuple[int, float]:
    """Time some requests of calls of one kind. Returns how many, and an estimate of the seconds of all.

    Choices: by their distinct tokens. Texts: by their number, and the time that their first tokens take.
    """
    longest, n = max(calls, key=len), sum(map(len, calls))
    if longest[0].choices:
        timed = longest[:TIMED_REQUESTS]
        counted, of_timed = _count_tokens(model, calls), _count_tokens(model, [timed])
        share = counted.distinct / of_timed.distinct if counted and of_timed else n / len(timed)
        return len(timed), share * _time(model, timed)
    timed = longest[:TIMED_TEXTS]
    begun = [replace(request, sampling=replace(request.sampling, max_new_tokens=TIMED_TOKENS)) for request in timed]
    longer = max(1.0, timed[0].sampling.max_new_tokens / TIMED_TOKENS)
    return len(timed), longer * n / len(timed) * _time(model, begun)


def _time(model: Model, requests: Sequence[Request]) -> float:
    replies(model, requests[:WARM_UP_REQUESTS])
    start = time.perf_counter()
    replies(model, requests)
    return time.perf_counter() - start


def _duration(seconds: float) -> str:
    if seconds < 90:
        return n_of(max(1, round(seconds)), "second")
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
