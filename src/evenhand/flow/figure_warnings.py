"""What any run's figures are looked at for: nothing read, few clusters, no interval."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from evenhand.figure import FigureRow, FigureTable
from evenhand.flow.results import RunWarning
from evenhand.statistics.resampling import FEW_CLUSTERS, FEWEST_CLUSTERS

if TYPE_CHECKING:
    from evenhand.benchmark import Benchmark

NAMED = 4  # figures in a sentence


def figure_warnings(benchmark: Benchmark[Any], table: FigureTable) -> Iterator[RunWarning]:
    """Of the headline figures, and of the first figure that there is."""
    headline = [row for row in table if row.headline]
    if not any(row.n_read for row in headline or table):
        yield RunWarning("nothing_read", "No answer could be read: there is no score.")
        return
    first = [row for row in table if row.figure == next(iter(table)).figure]
    whole = next((row for row in first if not row.groups), max(first, key=lambda row: row.n_read))
    if whole.n_clusters < FEW_CLUSTERS:
        s = "s" * (whole.n_clusters != 1)
        yield RunWarning(
            "few_clusters", f"Only {whole.n_clusters} cluster{s}: intervals from fewer than {FEW_CLUSTERS} are rough."
        )
    if empty := [row for row in headline if not row.n_read]:
        yield RunWarning("group_not_read", f"No answer could be read of: {_named(benchmark, empty)}.")
    if bare := [row for row in headline if row.n_read and row.interval is None and not math.isnan(row.value)]:
        few = all(row.n_clusters < FEWEST_CLUSTERS for row in bare)
        why = "too few clusters" if few else "too few clusters, or all clusters say the same"
        yield RunWarning("no_interval", f"No interval ({why}): {_named(benchmark, bare)}.")


def _named(benchmark: Benchmark[Any], rows: list[FigureRow]) -> str:
    named = "; ".join(benchmark.figure(row.figure).label(row.groups) for row in rows[:NAMED])
    return named + (f" and {len(rows) - NAMED} more" if len(rows) > NAMED else "")
