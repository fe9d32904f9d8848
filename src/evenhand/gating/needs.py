"""How many rows would be enough for a pass, in four of five cases where nothing got worse.

A pass needs every figure, so that each must be shown in more than four of five cases: rows are such that the shares of
all figures multiply to four of five. Each pair of runs has a part of that by how many figures are judged of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress

from evenhand.benchmarks import get_benchmark
from evenhand.errors import EvenhandError
from evenhand.flow.configuration import RunConfig
from evenhand.flow.rows import n_clusters
from evenhand.gating.judgement import Judgement
from evenhand.gating.pairs import RunPair
from evenhand.report.tables import n_of
from evenhand.statistics.non_inferiority import POWER, enough_for_all
from evenhand.statistics.resampling import ROUNDING


def describe_rows_needed(pairs: Sequence[RunPair], judged: Sequence[Judgement]) -> Iterator[str]:
    """A sentence for each pair of which intervals alone stand in the way of a pass.

    Figures that pass must pass again, unless nothing can keep them from it.
    """
    lacking: dict[str, list[Judgement]] = {}
    counted: dict[str, list[Judgement]] = {}
    for each in judged:
        if each.verdict == "not enough evidence" and each.enough_clusters:
            lacking.setdefault(each.name, []).append(each)
        elif each.verdict != "pass" or not 0 < each.worse.power(each.room, 1.0) < 1:
            continue
        counted.setdefault(each.name, []).append(each)
    for pair in pairs:
        if pair.name in lacking:
            power = POWER ** (len(counted[pair.name]) / sum(map(len, counted.values())))
            yield f"{pair.benchmark}: {_needs(pair, lacking[pair.name], counted[pair.name], power)}"


def _needs(pair: RunPair, lacking: Sequence[Judgement], counted: Sequence[Judgement], power: float) -> str:
    """How many rows would be enough for all of counted, in a share `power` of cases; and whether there are any."""
    limit, cluster = pair.base.results.config.get("limit"), get_benchmark(pair.benchmark).card.cluster
    n_rows, clusters_there = (None, None) if limit is None else _count_rows(pair)
    n = max(each.worse.n for each in counted)
    found = [(each.worse, each.room) for each in counted]
    times = enough = enough_for_all(found, power, n, clusters_there)
    if times is None:
        found = [(worse.with_surely_lasting, room) for worse, room in found]
        times = enough_for_all(found, power, n, clusters_there)
    most = min(lacking, key=lambda each: each.worse.power(each.room, enough or 1.0, clusters_there))
    here = f"“{most.figure}”"
    if times is None:
        why = "clusters differ"
        if clusters_there is not None:
            why = f"{n_of(clusters_there, 'cluster')} ({cluster}), all that there are, differ"
        return f"no number of rows will be enough to tell for {here}: {why} too much; widen the margin."
    if times <= 1:  # this run was one of the few cases
        more = f"Twice as many, --limit {2 * limit}, would tell more surely." if limit else "Allow a wider margin."
        return (
            f"as many answers as these ({most.worse.n:,}) are enough to tell in 4 of 5 cases where nothing got worse, "
            f"but not here, for {here}. {more}"
        )
    answers, clusters = (math.ceil(times * n - ROUNDING) for n in (most.worse.n, most.worse.n_clusters))
    if clusters_there is not None:
        clusters = min(clusters, max(clusters_there, most.worse.n_clusters))
    others = "" if len(counted) == 1 else ", which needs most, and all others"
    needed = (
        f"about {n_of(answers, 'answer')} in {n_of(clusters, 'cluster')} ({cluster}) would be enough to tell for "
        f"{here}{others}, in 4 of 5 cases where nothing got worse; these runs have {most.worse.n:,} in "
        f"{most.worse.n_clusters:,}"
    )
    if enough is None:
        needed += ". That is the least: clusters seem to differ, perhaps so much that no number is enough"
    if limit is None:
        return f"{needed}, all that there are with these settings: allow a wider margin, or ask further configurations."
    rows = math.ceil(times * limit - ROUNDING)
    if n_rows is not None and rows > n_rows:
        return f"{needed}. --limit {rows} would be needed, and there are {n_rows:,} rows: allow a wider margin."
    return f"{needed}. Run both with --limit {rows}."


def _count_rows(pair: RunPair) -> tuple[int | None, int | None]:
    """How many rows its settings could draw from, and clusters; None where the rows can't be read here."""
    benchmark = get_benchmark(pair.benchmark)
    with suppress(EvenhandError):
        rows = benchmark.load(RunConfig.from_json(pair.base.results.config)).rows
        return len(rows), n_clusters(rows, benchmark.card)
    return None, None
