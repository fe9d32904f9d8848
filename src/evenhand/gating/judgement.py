"""One headline figure of two runs: by how much it got worse, and whether the policy allows that."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

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
NAN = math.nan
NO_DIFFERENCE = Difference(NAN, NAN, NAN, NAN, NAN, NAN, n=0, n_clusters=0, smallest_p=1.0)


@dataclass(frozen=True)
class Judgement:
    """What is judged of one figure.

    Attributes:
        name: of the pair of runs.
        base, candidate: the figure on what both answered.
        worse: by how much the candidate is worse, with what unread answers may hide.
        why: what stands in the way of a pass; empty for a pass.
        enough_clusters: how many would be enough for a pass; None: no number, or it is not known.
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
    why: str
    enough_clusters: int | None
    room: float


def judge(pair: RunPair, policy: Policy) -> list[Judgement]:
    """Judge the figures that this policy is about; a figure that only the base has can't pass.

    Raises UsageError for a figure without a known worst value and without a margin of its own.
    """
    wanted: dict[FigureKey, tuple[Figure, float]] = {}
    for figure, row in list_judgeable(pair):
        key = FigureKey.of(figure, row.groups)
        if figure.is_judged(row.groups) or policy.own_margin(key.label) is not None:
            wanted[key] = figure, _margin(figure, key.label, policy)
    views = _compare(pair, {key: figure for key, (figure, _) in wanted.items()})
    no_view: list[View] = [(NO_DIFFERENCE, None)]
    return [_judge_figure(pair, key, *wanted[key], views.get(key, no_view), policy) for key in wanted]


def list_judgeable(pair: RunPair) -> Iterator[tuple[Figure, FigureRow]]:
    """Return all that a policy may name: headline figures of the base that have a best value."""
    rows = ((pair.benchmark.figure(row.figure), row) for row in pair.base.results.figures if row.headline)
    return ((figure, row) for figure, row in rows if figure.best is not None)


def _margin(figure: Figure, label: str, policy: Policy) -> float:
    """Return the margin in the figure's own unit."""
    if (own := policy.own_margin(label)) is not None:
        return own
    points = policy.max_increase if figure.about == "bias" else policy.max_utility_loss
    if figure.logarithm:
        return math.log1p(points / 100)
    if figure.span is not None:
        return points / 100 * figure.span
    if figure.unit in ("percent", "points"):
        return points
    advice = f"name its margin in its own unit, --figure '{label}=MARGIN', or under figures in gate.yaml"
    raise UsageError(f"{label} has no largest value that points could be hundredths of: {advice}")


def _compare(pair: RunPair, wanted: dict[FigureKey, Figure]) -> dict[FigureKey, list[View]]:
    """The difference of each figure; of one that is best at zero also the one from a base with the opposite bias."""

    def groupings(figure: Figure) -> tuple[Columns, ...]:
        return tuple(dict.fromkeys(of.grouping_of(dict(key.groups)) for key, of in wanted.items() if of is figure))

    found: dict[FigureKey, list[View]] = {}
    samples = pair.base.sample, pair.candidate.sample
    for figure, groups, one, other in paired_groups(pair.benchmark, *samples, groupings):
        statistic = figure.statistic
        changes = _by_key(figure, groups, statistic.changes(one, other))
        views = [(statistic.differences(one, other), changes)]
        if figure.best == "zero":
            mirrored = _by_key(figure, groups, statistic.changes(statistic.mirrored(one), other)) if changes else {}
            views.append((statistic.mirrored_differences(one, other), mirrored))
        for differences, changes in views:
            for key, difference in _by_key(figure, groups, differences).items():
                found.setdefault(key, []).append((difference, changes.get(key)))
    return found


def _by_key(figure: Figure, groups: Groups, found: Iterable[tuple[Groups, T]]) -> dict[FigureKey, T]:
    return {FigureKey.of(figure, {**groups, **further}): each for further, each in found}


def _judge_figure(
    pair: RunPair, key: FigureKey, figure: Figure, margin: float, views: Sequence[View], policy: Policy
) -> Judgement:
    difference, changes = views[0]
    in_one, in_both = _unread_shares(pair, changes)
    worse = _worsen(figure, views)
    hidden = 0.0 if worse.most is None else worse.most * in_one  # unread answers might all be the worst
    with_unread = replace(worse, low=worse.low - hidden, high=worse.high + hidden)
    room = max(0.0, margin - hidden)
    runs = {"base": pair.base, "candidate": pair.candidate}
    constant = [f"the {name}'s" for name, run in runs.items() if run.results.is_constant(dict(key.groups))]
    verdict: Verdict = "not enough evidence"
    why, enough = "", None
    if not difference.n or math.isnan(difference.estimate):
        why = "no answer to it was read in both runs"
    elif constant:
        why = f"{' and '.join(constant)} answers are constant, so that the figure says nothing"
    elif difference.smallest_p > LEVEL:
        why = f"only {n_of(difference.n_clusters, 'cluster')}"
    elif figure.about == "utility" and figure.best == "high" and difference.first <= margin:
        why = f"the base has {difference.first:.4g}, so that no candidate could lose more than {margin:.4g}"
    elif not worse.known:
        why = "there is no interval: it is not known how far it could be"
    elif with_unread.low > margin:
        verdict, why = "worse", f"it got worse by more than {margin:.4g}"
    elif in_one > policy.max_unread:
        most = f"{100 * policy.max_unread:.1f} %"
        why = f"{100 * in_one:.1f} % of prompts were left unread by one run alone, more than {most}"
    elif in_both > MOSTLY_UNREAD:
        why = f"{100 * in_both:.1f} % of prompts were left unread by both runs"
    elif with_unread.high <= margin:
        verdict = "pass"
    else:
        why = f"it may have got worse by up to {with_unread.high:.4g}, more than {margin:.4g}"
        why += f", {hidden:.4g} of it in answers that one run alone left unread" if hidden else ""
        enough = worse.enough_clusters(room) if room or not margin else None
    return Judgement(
        pair.name, key.label, figure.about, difference.first, difference.second, with_unread, margin, verdict, why,
        enough, room,
    )  # fmt: skip


def _unread_shares(pair: RunPair, changes: Changes | None) -> tuple[float, float]:
    """Return shares of what both runs were asked that one of them alone left unread, and both.

    Of a figure that is no mean over rows, what the unread answers of the whole runs come to at most.
    """
    if changes is not None:
        return changes.unread_in_one, changes.unread_in_both
    rates = [run.results.unread_rate for run in (pair.base, pair.candidate)]
    least, most = sorted(1.0 if math.isnan(rate) else rate for rate in rates)
    return min(1.0, least + most), least if most < 1 else 1.0


def _worsen(figure: Figure, views: Sequence[View]) -> Worsening:
    """Return by how much a figure got worse.

    One that is best at zero got worse away from it on the base's side, or beyond as much on the other: the larger one.
    """
    side = -1.0 if figure.best == "high" or (len(views) == 2 and views[0][0].first < 0) else 1.0
    most = None if figure.span is None else len(views) * figure.span
    found = [_worsen_one_way(figure, view, sign, most) for view, sign in zip(views, (side, -side))]
    return next((each for each in found if not each.known), max(found, key=lambda each: each.high))


def _worsen_one_way(figure: Figure, view: View, sign: float, most: float | None) -> Worsening:
    difference, changes = view
    if changes is None:
        return worsening(difference, sign, most)
    found = worsening(difference, sign, most, changes.change, changes.clusters, changes.strata, changes.crossed)
    known = changes.change.dropna()
    if figure.logarithm and len(known) and not known.any():
        return replace(found, low=0.0, high=0.0)  # likelihoods move with any change of a model: this one has none
    return found
