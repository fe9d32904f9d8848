"""One headline figure of two runs: by how much it got worse, and whether the policy allows that."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import pandas as pd

from evenhand.benchmark import Comparison, Judged
from evenhand.benchmarks import get_benchmark
from evenhand.errors import UsageError
from evenhand.gating.pairs import RunPair
from evenhand.gating.policy import Policy
from evenhand.report.agreement import MOSTLY_UNREAD
from evenhand.report.comparison import difference_of, paired_values, ways_of
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
    """Both runs of a pair, before any margin. figures: headline figures that the policy judges, by name."""

    pair: RunPair
    figures: Mapping[str, _Measured]


def measured(pair: RunPair, policy: Policy) -> Measured:
    """Of what this policy judges; others, such as those that take embeddings, are not computed."""
    comparison = get_benchmark(pair.benchmark).comparison()

    def wanted(figure: str) -> bool:
        how = comparison.judged(figure)
        return how is not None and (how.by_default or policy.own_margin(figure) is not None)

    return Measured(pair, _figures(pair, comparison, wanted))


def names_of_figures(pair: RunPair) -> list[str]:
    """All that a policy may name."""
    comparison, base = get_benchmark(pair.benchmark).comparison(), pair.base.predictions
    names = (*comparison.differences(base, base), *map(str, comparison.headline(base)["figure"].dropna()))
    return [name for name in dict.fromkeys(names) if comparison.judged(name)]


def judgements(found: Measured, policy: Policy) -> list[Judgement]:
    """Of the figures that were measured.

    Raises UsageError for a figure of which no most is known, and that has no margin of its own.
    """
    margins = {name: _margin(name, each.how, policy) for name, each in found.figures.items()}
    return [_judged(found.pair, name, each, margins[name], policy) for name, each in found.figures.items()]


class Changes(NamedTuple):
    """Of rows (n,), second minus first, and what they cluster by; None: by no more."""

    change: pd.Series
    clusters: pd.Series
    strata: pd.Series | None
    crossed: pd.Series | None


@dataclass(frozen=True)
class _Measured:
    """difference: second minus first. mirrored: likewise, from a base whose bias goes the other way, where the figure
    is best at zero. changes: of figures that are means over rows, of both of these.
    """

    how: Judged
    difference: Difference
    unread: Unread
    changes: Changes | None = None
    mirrored: _Measured | None = None


def _figures(pair: RunPair, comparison: Comparison, wanted: Callable[[str], bool]) -> dict[str, _Measured]:
    """Also those that the base has and the candidate has nothing of: what isn't there can't pass."""
    base = pair.base.predictions
    found = _differences(pair, comparison, base, wanted)
    own = comparison.differences(base, base) if type(comparison).differences is not Comparison.differences else {}
    for name in dict.fromkeys((*own, *map(str, comparison.headline_of(base, wanted)["figure"]))):
        if name not in found and wanted(name) and (how := comparison.judged(name)):
            found[name] = _Measured(how, NOTHING, Unread(1.0, 0.0))
    if not any(each.how.best == "zero" and each.difference.n for each in found.values()):
        return found
    mirrored = _differences(pair, comparison, comparison.mirrored(base), wanted)
    return {
        name: replace(each, mirrored=mirrored.get(name)) if each.how.best == "zero" else each
        for name, each in found.items()
    }


def _differences(
    pair: RunPair, comparison: Comparison, base: pd.DataFrame, wanted: Callable[[str], bool]
) -> dict[str, _Measured]:
    second = pair.candidate.predictions
    rates = [run.results.metrics["unread_rate"] for run in (pair.base, pair.candidate)]
    least, most = sorted(1.0 if rate is None else float(rate) for rate in rates)
    unread = Unread(min(1.0, least + most), least if most < 1 else 1.0)
    found = {}
    for name, each in comparison.differences(base, second).items():
        if wanted(name) and (how := comparison.judged(name)):
            found[name] = _Measured(how, each, unread)
    values_of = [comparison.headline_of(each, wanted) for each in (base, second)]
    for name, values in paired_values(*values_of).items():
        if how := comparison.judged(name):
            read = [values[f"value_{which}"].notna() for which in ("first", "second")]
            changes = Changes(values["value_second"] - values["value_first"], *ways_of(values))
            unread = Unread(float((read[0] ^ read[1]).mean()), float((~(read[0] | read[1])).mean()))
            found[name] = _Measured(how, difference_of(values), unread, changes)
    return found


def _margin(figure: str, how: Judged, policy: Policy) -> float:
    """In the figure's own unit."""
    own = policy.own_margin(figure)
    points = policy.max_increase if how.of == "bias" else policy.max_utility_loss
    if own is not None:
        return own
    if how.logarithm:
        return math.log1p(points / 100)
    if how.span is None:
        raise UsageError(
            f"{figure} has no largest value that points could be hundredths of: name its margin in its own unit, "
            f"--figure '{figure}=MARGIN', or under figures in gate.yaml"
        )
    return points / 100 * how.span


def _judged(pair: RunPair, figure: str, measured: _Measured, margin: float, policy: Policy) -> Judgement:
    how, worse = measured.how, _worse(measured)
    hidden = _hidden(worse, measured.unread)
    found = Judgement(
        pair.name,
        figure,
        how.of,
        measured.difference.first,
        measured.difference.second,
        replace(worse, low=worse.low - hidden, high=worse.high + hidden),
        margin,
        "not enough evidence",
    )
    meaningless = [
        *_meaningless(pair, figure, measured.difference),
        *_nothing_to_lose(how, measured.difference, margin),
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


def _worse(measured: _Measured) -> Worsening:
    """Of a figure that is best at zero: away from it on the base's side, or beyond as much on the other; the worse."""
    how = measured.how
    if how.best != "zero" or measured.mirrored is None:  # of nothing there is no mirror either
        return _worsening(measured, -1.0 if how.best == "high" else 1.0, how.span)
    most = None if how.span is None else 2 * how.span
    side = -1.0 if measured.difference.first < 0 else 1.0
    both = _worsening(measured, side, most), _worsening(measured.mirrored, -side, most)
    unknown = [each for each in both if not each.known]
    return unknown[0] if unknown else max(both, key=lambda each: each.high)


def _worsening(measured: _Measured, sign: float, most: float | None) -> Worsening:
    changes = measured.changes
    if changes is None:
        return worsening(measured.difference, sign, most)
    found = worsening(measured.difference, sign, most, *changes)
    known = changes.change.dropna()
    if measured.how.logarithm and len(known) and not known.any():
        return replace(found, low=0.0, high=0.0)  # likelihoods move with any change of a model: this one has none
    return found


def _hidden(worse: Worsening, unread: Unread) -> float:
    """What answers that one run alone left unread may add, were they the worst; 0 where no worst is known."""
    return 0.0 if worse.most is None else worse.most * unread.one_sided


def _meaningless(pair: RunPair, figure: str, difference: Difference) -> Iterator[str]:
    if not difference.n or math.isnan(difference.estimate):
        yield "no answer to it was read in both runs"
        return
    for name, run in (("base", pair.base), ("candidate", pair.candidate)):
        for part in get_benchmark(pair.benchmark).constant(run.results.metrics):
            if part in figure:
                told = f" ({part})" if part else ""
                yield f"the {name}'s answers are constant{told}, so that its figure says nothing"
    if difference.smallest_p > LEVEL:
        yield f"only {difference.n_clusters} cluster{'s' * (difference.n_clusters != 1)}"


def _nothing_to_lose(how: Judged, difference: Difference, margin: float) -> Iterator[str]:
    """A model that can do nothing can't get worse at it, and shows nothing."""
    if how.of == "utility" and how.best == "high" and difference.first <= margin:
        yield f"the base has {difference.first:.4g}, so that no candidate could lose more than {margin:.4g}"


def _too_unread(unread: Unread, policy: Policy) -> Iterator[str]:
    if unread.one_sided > policy.max_unread:
        yield (
            f"{100 * unread.one_sided:.1f} % of prompts were left unread by one run alone, more than "
            f"{100 * policy.max_unread:.1f} %"
        )
    if unread.both > MOSTLY_UNREAD:
        yield f"{100 * unread.both:.1f} % of prompts were left unread by both runs"
