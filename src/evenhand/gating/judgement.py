"""One headline figure of two runs: by how much it got worse, and whether the policy allows that."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from evenhand.benchmark import Benchmark
from evenhand.benchmarks import get_benchmark
from evenhand.errors import UsageError
from evenhand.figure import Changes, Columns, Figure, FigureRow, Sample
from evenhand.gating.pairs import RunPair
from evenhand.gating.policy import Policy
from evenhand.report.agreement import MOSTLY_UNREAD
from evenhand.report.differences import FigureKey, Groupings, changes, differences, paired_groups
from evenhand.statistics.clustered import Difference
from evenhand.statistics.non_inferiority import Worsening, worsening
from evenhand.statistics.resampling import LEVEL

NOTHING = Difference(math.nan, math.nan, math.nan, math.nan, math.nan, math.nan, n=0, n_clusters=0, smallest_p=1.0)
Verdict = Literal["pass", "worse", "not enough evidence"]


@dataclass(frozen=True)
class Unread:
    """Shares of what both runs were asked: read of one of them alone, and of none."""

    one_sided: float
    both: float


@dataclass(frozen=True)
class Judgement:
    """name: of the pair of runs. worse: by how much the candidate is, with what unread answers may hide. base,
    candidate: the figure on what both answered. why: what stands in the way of a pass; empty of a pass.
    enough_clusters: with which it could be told, were there so many; None: with none, or nobody knows. room: how much
    worse answers that both gave may be by.
    """

    name: str
    figure: str
    of: str
    base: float
    candidate: float
    worse: Worsening
    margin: float
    verdict: Verdict
    why: str = ""
    enough_clusters: int | None = None
    room: float = 0.0


@dataclass(frozen=True)
class Measured:
    """A headline figure of both runs of a pair, before any margin.

    difference: second minus first; changes: row by row, of figures that are means over rows. mirrored: both likewise,
    from a base whose bias goes the other way, where the figure is best at zero.
    """

    pair: RunPair
    figure: Figure
    key: FigureKey
    unread: Unread
    difference: Difference
    changes: Changes | None
    mirrored: tuple[Difference, Changes | None] | None

    @property
    def label(self) -> str:
        return self.key.label


def measured(pair: RunPair, policy: Policy) -> list[Measured]:
    """The figures that this policy judges; also those that the base has and the candidate has not, which can't pass."""
    benchmark = get_benchmark(pair.benchmark)
    wanted = {
        FigureKey.of(figure, row.groups): figure
        for figure, row in judgeable(pair)
        if figure.is_judged(row.groups) or policy.own_margin(figure.label(row.groups)) is not None
    }

    def groupings(figure: Figure) -> tuple[Columns, ...]:
        return tuple(dict.fromkeys(of.grouping_of(dict(key.groups)) for key, of in wanted.items() if of is figure))

    def zero_groupings(figure: Figure) -> tuple[Columns, ...]:
        return groupings(figure) if figure.best == "zero" else ()

    one, other = pair.base.sample, pair.candidate.sample
    found = differences(benchmark, one, other, groupings), changes(benchmark, one, other, groupings)
    mirrored = _mirrored(benchmark, one, other, zero_groupings)
    whole = _unread(pair)
    measured = []
    for key, figure in wanted.items():
        moved = found[1].get(key)
        unread = whole if moved is None else Unread(moved.unread_in_one, moved.unread_in_both)
        difference = found[0].get(key)
        if difference is None:
            difference, unread = NOTHING, Unread(1.0, 0.0)
        measured.append(Measured(pair, figure, key, unread, difference, moved, mirrored.get(key)))
    return measured


def judgeable(pair: RunPair) -> Iterator[tuple[Figure, FigureRow]]:
    """All that a policy may name: headline figures of the base that have a best value."""
    benchmark = get_benchmark(pair.benchmark)
    for row in pair.base.results.figures:
        figure = benchmark.figure(row.figure)
        if row.headline and figure.best is not None:
            yield figure, row


def _mirrored(
    benchmark: Benchmark[Any], one: Sample, other: Sample, groupings: Groupings
) -> dict[FigureKey, tuple[Difference, Changes | None]]:
    """From the base's figures as if every bias went the other way."""
    found = {}
    for figure, groups, rows, others in paired_groups(benchmark, one, other, groupings):
        moved: dict[tuple[tuple[str, str], ...], Changes] = {}
        if [*figure.statistic.changes(rows, others)]:
            mirror = figure.statistic.mirrored(rows)
            moved = {tuple(further.items()): each for further, each in figure.statistic.changes(mirror, others)}
        for further, difference in figure.statistic.mirrored_differences(rows, others):
            found[FigureKey.of(figure, {**groups, **further})] = difference, moved.get(tuple(further.items()))
    return found


def _unread(pair: RunPair) -> Unread:
    """At most, of figures that are no means over rows: unread answers of the whole runs."""
    rates = [run.results.unread_rate for run in (pair.base, pair.candidate)]
    least, most = sorted(1.0 if math.isnan(rate) else rate for rate in rates)
    return Unread(min(1.0, least + most), least if most < 1 else 1.0)


def judgements(found: Sequence[Measured], policy: Policy) -> list[Judgement]:
    """Of the figures that were measured.

    Raises UsageError for a figure of which no worst value is known, and that has no margin of its own.
    """
    margins = [_margin(each, policy) for each in found]
    return [_judged(each, margin, policy) for each, margin in zip(found, margins)]


def _margin(measured: Measured, policy: Policy) -> float:
    """In the figure's own unit."""
    figure, label = measured.figure, measured.label
    own = policy.own_margin(label)
    points = policy.max_increase if figure.about == "bias" else policy.max_utility_loss
    if own is not None:
        return own
    if figure.logarithm:
        return math.log1p(points / 100)
    if figure.span is None and figure.unit in ("percent", "points"):
        return points
    if figure.span is None:
        raise UsageError(
            f"{label} has no largest value that points could be hundredths of: name its margin in its own unit, "
            f"--figure '{label}=MARGIN', or under figures in gate.yaml"
        )
    return points / 100 * figure.span


def _judged(measured: Measured, margin: float, policy: Policy) -> Judgement:
    worse = _worse(measured)
    hidden = _hidden(worse, measured.unread)
    found = Judgement(
        measured.pair.name,
        measured.label,
        measured.figure.about,
        measured.difference.first,
        measured.difference.second,
        replace(worse, low=worse.low - hidden, high=worse.high + hidden),
        margin,
        "not enough evidence",
    )
    meaningless = [
        *_meaningless(measured),
        *_nothing_to_lose(measured, margin),
    ]
    if meaningless or not worse.known:
        return replace(found, why="; ".join(meaningless) or "there is no interval: nobody knows how far it could be")
    if found.worse.low > margin:
        return replace(found, verdict="worse", why=f"it got worse by more than {margin:.4g}")
    if unread := [*_too_unread(measured.unread, policy)]:
        return replace(found, why="; ".join(unread))
    room = max(0.0, margin - hidden)
    if found.worse.high <= margin:
        return replace(found, verdict="pass", room=room)
    why = f"it may have got worse by up to {found.worse.high:.4g}, more than {margin:.4g}"
    if hidden:
        why += f", {hidden:.4g} of it in answers that one run alone left unread"
    enough = worse.enough_clusters(room) if room or not margin else None
    return replace(found, why=why, enough_clusters=enough, room=room)


def _worse(measured: Measured) -> Worsening:
    """Of a figure that is best at zero: away from it on the base's side, or beyond as much on the other; the worse."""
    figure, found = measured.figure, (measured.difference, measured.changes)
    if figure.best != "zero" or measured.mirrored is None:  # of nothing there is no mirror either
        return _worsening(figure, *found, -1.0 if figure.best == "high" else 1.0, figure.span)
    most = None if figure.span is None else 2 * figure.span
    side = -1.0 if measured.difference.first < 0 else 1.0
    both = _worsening(figure, *found, side, most), _worsening(figure, *measured.mirrored, -side, most)
    unknown = [each for each in both if not each.known]
    return unknown[0] if unknown else max(both, key=lambda each: each.high)


def _worsening(
    figure: Figure, difference: Difference, changes: Changes | None, sign: float, most: float | None
) -> Worsening:
    if changes is None:
        return worsening(difference, sign, most)
    found = worsening(difference, sign, most, changes.change, changes.clusters, changes.strata, changes.crossed)
    known = changes.change.dropna()
    if figure.logarithm and len(known) and not known.any():
        return replace(found, low=0.0, high=0.0)  # likelihoods move with any change of a model: this one has none
    return found


def _hidden(worse: Worsening, unread: Unread) -> float:
    """What answers that one run alone left unread may add, were they the worst; 0 where no worst is known."""
    return 0.0 if worse.most is None else worse.most * unread.one_sided


def _meaningless(measured: Measured) -> Iterator[str]:
    difference, pair, groups = measured.difference, measured.pair, dict(measured.key.groups)
    if not difference.n or math.isnan(difference.estimate):
        yield "no answer to it was read in both runs"
        return
    for name, run in (("base", pair.base), ("candidate", pair.candidate)):
        if run.results.is_constant(groups):
            yield f"the {name}'s answers are constant, so that its figure says nothing"
    if difference.smallest_p > LEVEL:
        yield f"only {difference.n_clusters} cluster{'s' * (difference.n_clusters != 1)}"


def _nothing_to_lose(measured: Measured, margin: float) -> Iterator[str]:
    """A model that can do nothing can't get worse at it, and shows nothing."""
    figure, difference = measured.figure, measured.difference
    if figure.about == "utility" and figure.best == "high" and difference.first <= margin:
        yield f"the base has {difference.first:.4g}, so that no candidate could lose more than {margin:.4g}"


def _too_unread(unread: Unread, policy: Policy) -> Iterator[str]:
    if unread.one_sided > policy.max_unread:
        yield (
            f"{100 * unread.one_sided:.1f} % of prompts were left unread by one run alone, more than "
            f"{100 * policy.max_unread:.1f} %"
        )
    if unread.both > MOSTLY_UNREAD:
        yield f"{100 * unread.both:.1f} % of prompts were left unread by both runs"
