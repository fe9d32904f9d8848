"""Figures outside their own interval or range, and more answers read than asked: no run of evenhand's is like that."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from evenhand.benchmarks import get_benchmark

if TYPE_CHECKING:
    from evenhand.flow.results import Results

_ROUNDING = 1e-6


def contradictions(results: Results) -> Iterator[str]:
    """ "biased answers: certainty is 1.0, and its own interval [39.7, 54.9]"."""
    benchmark = get_benchmark(results.benchmark)
    for row in results.figures:
        figure = benchmark.figure(row.figure)
        name = figure.label(row.groups)
        if row.n_read > row.n:
            yield f"{name} has {row.n_read} answers read of {row.n}"
        least = _ROUNDING * max(1.0, abs(row.value))
        if row.interval and not row.low - least <= row.value <= row.high + least:
            yield f"{name} is {row.value}, and its own interval [{row.low}, {row.high}]"
        low, high = figure.statistic.range or (row.value, row.value)
        if row.value < low - least or row.value > high + least:
            yield f"{name} is {row.value}, and lies between {low} and {high} by its definition"
