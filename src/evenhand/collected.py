"""What others collect of a run: figures by task, each with its range and which end is better, and single answers.

A benchmark gives them (`Benchmark.collected`, `Benchmark.single_answer`); boards and records of other people's, as
evenhand submit writes them, are made of them. Many figures are best at 0, some of these with a sign: a board that knows
only "lower" and "higher is better" gets the distance from 0, and the raw figure stands beside it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenhand.benchmark import Benchmark, Card
    from evenhand.flow.results import Results

Interval = tuple[float, float]


@dataclass(frozen=True)
class Definition:
    """What a figure is. key: as in results.json, without a sign where `signed`. low, high: between which it lies; None:
    nobody knows. signed: the raw figure has a sign, and this is its distance from 0. told: what it is.
    """

    key: str
    unit: str
    low: float | None
    high: float | None
    lower_is_better: bool
    told: str
    signed: bool = False


@dataclass(frozen=True)
class Collected:
    """A figure of a task. n: answers, n_read: those that were read. raw: before its sign was taken off."""

    figure: Definition
    task: str
    value: float
    interval: Interval | None
    n: int
    n_read: int
    raw: float


@dataclass(frozen=True)
class Collection:
    """Of a run's tasks. lacking: configurations that were not asked, so that there is no mean over all."""

    figures: tuple[Collected, ...]
    lacking: tuple[str, ...] = ()


@dataclass(frozen=True)
class SingleAnswer:
    """A read answer to a question with options. told: what else is known of it, by column."""

    task: str
    options: tuple[str, ...]
    right: str
    wrong: bool
    told: Mapping[str, str]


def lacking(card: Card, configs: Iterable[str]) -> tuple[str, ...]:
    """Of the configurations that the benchmark's mean is of."""
    return tuple(sorted({*(card.default_configs or card.configs)} - {*configs}))


def collected(
    of: Mapping[str, Any], figure: Definition, task: str, key: Sequence[str], counts: tuple[int, int] | None = None
) -> Collected:
    """of: metrics of a task, whose intervals are nested like their figures; key: the figure's place in them. counts:
    answers, and those read, where `of` has those of more than the task.
    """
    n, n_read = counts or (int(of["n"]), int(of["n_read"]))
    raw = _number(_at(of, key))
    ends = _at(of.get("intervals", {}), key)
    interval = None
    if isinstance(ends, (list, tuple)) and len(ends) == 2 and None not in ends:
        interval = (_number(ends[0]), _number(ends[1]))
    value = raw
    if figure.signed:
        value = abs(raw)
        interval = None if interval is None else distances(interval)
    return Collected(figure, task, value, interval, n, n_read, raw)


def distances(interval: Interval) -> Interval:
    """From 0, of what lies in an interval."""
    low, high = sorted(map(abs, interval))
    return (0.0 if interval[0] <= 0 <= interval[1] else low), high


def headline(benchmark: Benchmark[Any], results: Results) -> Collection:
    """Of a benchmark that says no more: how far it is from no bias, by its own word."""
    metrics, card = results.metrics, benchmark.card
    value = benchmark.headline(metrics)
    if value is None:
        return Collection(())
    high = None if card.ends is None else max(map(abs, card.ends))
    figure = Definition(
        card.metric or "headline", "", 0.0, high, True, f"{card.title}: distance from no bias; 0 is best"
    )
    task = "-".join(results.config["configs"]) or card.name
    n, n_read = int(metrics["n"]), int(metrics["n_read"])
    return Collection((Collected(figure, task, float(value), None, n, n_read, float(value)),))


def _at(of: Any, key: Sequence[str]) -> Any:
    for name in key:
        of = of.get(name) if isinstance(of, Mapping) else None
    return of


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else math.nan
