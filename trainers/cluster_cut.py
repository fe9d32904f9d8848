"""A tenth of a benchmark's rows held out, where it has no cut of its own."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenhand.benchmark import Benchmark, Row

VALIDATION_SHARE = 1 / 10  # of clusters


def cut_by_cluster(
    benchmark: Benchmark[Any], seed: int, configs: Sequence[str] = (), source: str = "evenhand"
) -> tuple[list[Row], list[Row], str]:
    """For training, in an order of the seed; for validation; and the cut in a sentence.

    Whole clusters are held out; where rows have no column of them, rows. Rows that are drawn together (bbq's fillings
    of a template) follow each other, so that whoever learns from the first ones has their counterparts, too. configs:
    of the dataset, by default all.
    Raises UsageError for names that are none, and for a benchmark that has no rows without more being said.
    """
    from evenhand.flow.configuration import run_config

    config = run_config(benchmark.card.name, configs=tuple(configs), source=source)
    rows: list[Row] = list(benchmark.load(benchmark.configuring.filled(config)).rows)
    cluster = benchmark.card.cluster if rows and benchmark.card.cluster in rows[0] else "id"
    names = sorted({str(row[cluster]) for row in rows})
    rng = random.Random(f"held out {seed}")
    rng.shuffle(names)
    held = set(names[: max(1, round(VALIDATION_SHARE * len(names)))])
    train = [row for row in rows if str(row[cluster]) not in held]
    ordered = _sets_shuffled(train, benchmark.card.together, rng)
    what = f"{', '.join(configs) or 'all configurations'}; a tenth, by {cluster}, held out"
    return ordered, [row for row in rows if str(row[cluster]) in held], what


def _sets_shuffled(rows: Sequence[Row], together: Sequence[str], rng: random.Random) -> list[Row]:
    """In an order by chance, but for rows of the same values of `together`, which stay beside each other."""
    sets: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        sets.setdefault(tuple(row[name] for name in together or ("id",)), []).append(row)
    some = list(sets.values())
    rng.shuffle(some)
    return [row for each in some for row in each]
