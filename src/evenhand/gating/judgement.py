"""One headline figure of two runs: by how much it got worse, and whether the policy allows that."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from evenhand.benchmarks import get_benchmark
from evenhand.errors import UsageError
from evenhand.figure import Changes, Columns, Figure, FigureRow, Groups
from evenhand.gating.pairs import RunPair
from evenhand.gating.policy import Policy
from evenhand.report.agreement import MOSTLY_UNREAD
from evenhand.report.differences import FigureKey, paired_groups
from evenhand.report.tables import n_of
from evenhand.statistics.clustered import Difference
from evenhand.statistics.non_inferiority import Worsening, worsening
from evenhand.statistics.resampling import LEVEL

T = TypeVar("T")
Verdict = Literal["pass", "worse", "not enough evidence"]
View = tuple[Difference, Changes | None]
"""A difference, second minus first, and what changed row by row, of figures that are means over rows."""
_NAN = math.nan
NO_DIFFERENCE = Difference(_NAN, _NAN, _NAN, _NAN, _NAN, _NAN, n=0, n_clusters=0, smallest_p=1.0)


@dataclass(frozen=True)
class Judgement:
    """What is judged of one figure.

    Attributes:
        name: of the pair of runs.
        base, candidate: the figure on what both answered.
        worse: by how much the candidate is worse, with what unread answers may hide.
        why: what stands in the way of a pass; empty for a pass.
        enough_clusters: with which it could be told; None: with none, or it is not known.
        room: by how much the answers that both gave may be worse.
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


def judge(pair: RunPair, policy: Policy) -> list[Judgement]:
    """Judge the figures that this policy is about; a figure that only the base has can't pass.

    Raises UsageError for a figure without a known worst value and without a margin of its own.
    """
    wanted = {
        FigureKey.of(figure, row.groups): figure
        for figure, row in list_judgeable(pair)
        if figure.is_judged(row.groups) or policy.own_margin(figure.label(row.groups)) is not None
    }
    margins = {key: _margin(figure, key.label, policy) for key, figure in wanted.items()}
    views = _compare(pair, wanted)
    return [
        _judge_figure(pair, figure, key, views.get(key, ()), margins[key], policy) for key, figure in wanted.items()
    ]


def list_judgeable(pair: RunPair) -> Iterator[tuple[Figure, FigureRow]]:
    """All that a policy may name: headline figures of the base that have a best value."""
    benchmark = get_benchmark(pair.benchmark)
    for row in pair.base.results.figures:
        figure = benchmark.figure(row.figure)
        if row.headline and figure.best is not None:
            yield figure, row


def _margin(figure: Figure, label: str, policy: Policy) -> float:
    """The margin in the figure's own unit."""
    if (own := policy.own_margin(label)) is not None:
        return own
    points = policy.max_increase if figure.about == "bias" else policy.max_utility_loss
    if figure.logarithm:
        return math.log1p(points / 100)
    if figure.span is not None:
        return points / 100 * figure.span
    if figure.unit in ("percent", "points"):
        return points
    raise UsageError(
        f"{label} has no largest value that points could be hundredths of: name its margin in its own unit, "
        f"--figure '{label}=MARGIN', or under figures in gate.yaml"
    )


def _compare(pair: RunPair, wanted: dict[FigureKey, Figure]) -> dict[FigureKey, tuple[View, ...]]:
    """The difference of each figure; of one that is best at zero also the one from a base with the opposite bias."""

    def groupings(figure: Figure) -> tuple[Columns, ...]:
        return tuple(dict.fromkeys(of.grouping_of(dict(key.groups)) for key, of in wanted.items() if of is figure))

    found: dict[FigureKey, tuple[View, ...]] = {}
    benchmark = get_benchmark(pair.benchmark)
    for figure, groups, one, other in paired_groups(benchmark, pair.base.sample, pair.candidate.sample, groupings):
        statistic = figure.statistic
        changes = _by_key(figure, groups, statistic.changes(one, other))
        for key, difference in _by_key(figure, groups, statistic.differences(one, other)).items():
            found[key] = ((difference, changes.get(key)),)
        if figure.best == "zero":
            mirrored = _by_key(figure, groups, statistic.changes(statistic.mirrored(one), other)) if changes else {}
            for key, difference in _by_key(figure, groups, statistic.mirrored_differences(one, other)).items():
                if key in found:
                    found[key] = (*found[key], (difference, mirrored.get(key)))
    return found


def _by_key(figure: Figure, groups: Groups, found: Iterable[tuple[Groups, T]]) -> dict[FigureKey, T]:
    return {FigureKey.of(figure, {**groups, **further}): each for further, each in found}


def _judge_figure(
    pair: RunPair, figure: Figure, key: FigureKey, views: tuple[View, ...], margin: float, policy: Policy
) -> Judgement:
    difference, changes = views[0] if views else (NO_DIFFERENCE, None)
    in_one, in_both = _unread_shares(pair, changes) if views else (1.0, 0.0)
    worse = _worsen(figure, views or ((NO_DIFFERENCE, None),))
    hidden = 0.0 if worse.most is None else worse.most * in_one  # unread answers might all be the worst
    with_unread = replace(worse, low=worse.low - hidden, high=worse.high + hidden)
    found = Judgement(
        pair.name, key.label, figure.about, difference.first, difference.second, with_unread, margin,
        "not enough evidence",
    )  # fmt: skip
    meaningless = "; ".join(_why_meaningless(pair, figure, dict(key.groups), difference, margin))
    if meaningless or not worse.known:
        return replace(found, why=meaningless or "there is no interval: it is not known how far it could be")
    if with_unread.low > margin:
        return replace(found, verdict="worse", why=f"it got worse by more than {margin:.4g}")
    if in_one > policy.max_unread:
        most = f"{100 * policy.max_unread:.1f} %"
        return replace(
            found, why=f"{100 * in_one:.1f} % of prompts were left unread by one run alone, more than {most}"
        )
    if in_both > MOSTLY_UNREAD:
        return replace(found, why=f"{100 * in_both:.1f} % of prompts were left unread by both runs")
    room = max(0.0, margin - hidden)
    if with_unread.high <= margin:
        return replace(found, verdict="pass", room=room)
    why = f"it may have got worse by up to {with_unread.high:.4g}, more than {margin:.4g}"
    if hidden:
        why += f", {hidden:.4g} of it in answers that one run alone left unread"
    enough = worse.enough_clusters(room) if room or not margin else None
    return replace(found, why=why, enough_clusters=enough, room=room)


def _unread_shares(pair: RunPair, changes: Changes | None) -> tuple[float, float]:
    """Shares of what both runs were asked that one of them alone left unread, and both.

    Of a figure that is no mean over rows, what the unread answers of the whole runs come to at most.
    """
    if changes is not None:
        return changes.unread_in_one, changes.unread_in_both
    rates = [run.results.unread_rate for run in (pair.base, pair.candidate)]
    least, most = sorted(1.0 if math.isnan(rate) else rate for rate in rates)
    return min(1.0, least + most), least if most < 1 else 1.0


def _worsen(figure: Figure, views: tuple[View, ...]) -> Worsening:
    """By how much a figure got worse.

    One that is best at zero got worse away from it on the base's side, or beyond as much on the other: the larger one.
    """
    if len(views) == 1:
        return _worsen_one_way(figure, views[0], -1.0 if figure.best == "high" else 1.0, figure.span)
    side = -1.0 if views[0][0].first < 0 else 1.0
    most = None if figure.span is None else 2 * figure.span
    both = [_worsen_one_way(figure, view, sign, most) for view, sign in zip(views, (side, -side))]
    return next((each for each in both if not each.known), max(both, key=lambda each: each.high))


def _worsen_one_way(figure: Figure, view: View, sign: float, most: float | None) -> Worsening:
    difference, changes = view
    if changes is None:
        return worsening(difference, sign, most)
    found = worsening(difference, sign, most, changes.change, changes.clusters, changes.strata, changes.crossed)
    known = changes.change.dropna()
    if figure.logarithm and len(known) and not known.any():
        return replace(found, low=0.0, high=0.0)  # likelihoods move with any change of a model: this one has none
    return found


def _why_meaningless(
    pair: RunPair, figure: Figure, groups: Groups, difference: Difference, margin: float
) -> Iterator[str]:
    if not difference.n or math.isnan(difference.estimate):
        yield "no answer to it was read in both runs"
    else:
        for name, run in (("base", pair.base), ("candidate", pair.candidate)):
            if run.results.is_constant(groups):
                yield f"the {name}'s answers are constant, so that its figure says nothing"
        if difference.smallest_p > LEVEL:
            yield f"only {n_of(difference.n_clusters, 'cluster')}"
    if figure.about == "utility" and figure.best == "high" and difference.first <= margin:
        yield f"the base has {difference.first:.4g}, so that no candidate could lose more than {margin:.4g}"
