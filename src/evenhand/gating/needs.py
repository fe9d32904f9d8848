"""How many rows would be enough for a pass, in four of five cases where nothing got worse.

A pass needs every figure, so that each must be shown in more than four of five cases: rows are such that the shares of
all figures multiply to four of five. Each pair of runs has a part of that by how many figures are judged of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from evenhand.benchmarks import get_benchmark
from evenhand.errors import EvenhandError
from evenhand.gating.judgement import Judgement
from evenhand.gating.pairs import RunPair
from evenhand.statistics.non_inferiority import POWER, enough_for_all
from evenhand.statistics.resampling import ROUNDING


def rows_needed(pairs: Sequence[RunPair], judged: Sequence[Judgement]) -> Iterator[str]:
    """A sentence for each pair of which intervals alone stand in the way."""
    n_figures = sum(len(_counted(pair, judged)) for pair in pairs)
    for pair in pairs:
        if _lacking(pair, judged):
            counted = _counted(pair, judged)
            yield _needs(pair, _lacking(pair, judged), counted, POWER ** (len(counted) / n_figures))


def _lacking(pair: RunPair, judged: Sequence[Judgement]) -> list[Judgement]:
    """Figures of which the intervals alone are too wide."""
    of_pair = [each for each in judged if each.name == pair.name]
    return [each for each in of_pair if each.verdict == "not enough evidence" and each.enough_clusters]


def _counted(pair: RunPair, judged: Sequence[Judgement]) -> list[Judgement]:
    """Those, and figures that pass and must pass again, unless nothing can keep them from it."""
    passed = [each for each in judged if each.name == pair.name and each.verdict == "pass"]
    return [*_lacking(pair, judged), *(each for each in passed if 0 < each.worse.power(each.room, 1.0) < 1)]


def _needs(pair: RunPair, lacking: Sequence[Judgement], counted: Sequence[Judgement], power: float) -> str:
    """How many rows would be enough for all of counted, in a share `power` of cases; and whether there are any."""
    card, limit = get_benchmark(pair.benchmark).card, pair.base.results.config.get("limit")
    there = None if limit is None else _there(pair)
    clusters_there = None if there is None else there[1]
    n = max(each.worse.n for each in counted)
    found = [(each.worse, each.room) for each in counted]
    times = enough_for_all(found, power, n, clusters_there)
    most = min(lacking, key=lambda each: each.worse.power(each.room, times or 1.0, clusters_there))
    least = None
    if times is None:
        least = enough_for_all([(each.with_surely_lasting, room) for each, room in found], power, n, clusters_there)
        why = (
            f"{there[1]:,} clusters ({card.cluster}) are all there are, and they differ" if there else "clusters differ"
        )
        if least is None:
            told = f"{card.name}: no number of rows will be enough to tell for “{most.figure}”"
            return f"{told}: {why} too much; widen the margin."
        times = least
    if times <= 1:  # this was just one of the others
        more = (
            " Allow a wider margin."
            if limit is None
            else f" Twice as many, --limit {2 * limit}, would tell more surely."
        )
        return (
            f"{card.name}: as many answers as these ({most.worse.n:,}) are enough to tell in 4 of 5 cases where "
            f"nothing got worse, but not here, for “{most.figure}”.{more}"
        )
    answers, clusters = (math.ceil(times * n - ROUNDING) for n in (most.worse.n, most.worse.n_clusters))
    if clusters_there is not None:
        clusters = min(clusters, max(clusters_there, most.worse.n_clusters))
    for_what = f"“{most.figure}”" if len(counted) == 1 else f"“{most.figure}”, which needs most, and all others"
    told = (
        f"{card.name}: about {answers:,} answers in {clusters:,} clusters ({card.cluster}) would be enough to tell for "
        f"{for_what}, in 4 of 5 cases where nothing got worse; these runs have {most.worse.n:,} in "
        f"{most.worse.n_clusters:,}"
    )
    if least is not None:
        told += ". That is the least: clusters seem to differ, perhaps so much that no number is enough"
    if limit is None:
        return f"{told}, all that there are with these settings: allow a wider margin, or ask further configurations."
    rows = math.ceil(times * limit - ROUNDING)
    if there is not None and rows > there[0]:
        return f"{told}. --limit {rows} would be needed, and there are {there[0]:,} rows: allow a wider margin."
    return f"{told}. Run both with --limit {rows}."


def _there(pair: RunPair) -> tuple[int, int] | None:
    """How many rows its settings could draw from, and clusters; None where that can't be told here."""
    from evenhand.flow.configuration import RunConfig
    from evenhand.flow.rows import n_clusters

    try:
        config = RunConfig.from_json(pair.base.results.config)
        rows = get_benchmark(pair.benchmark).load(config).rows
        return len(rows), n_clusters(rows, get_benchmark(pair.benchmark).card)
    except EvenhandError:
        return None
