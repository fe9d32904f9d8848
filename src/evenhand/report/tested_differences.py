"""Differences that were tested as one family: what they say in a sentence, a table and a drawing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from evenhand.figure import Figure
from evenhand.report.differences import FigureKey
from evenhand.report.findings import Plot
from evenhand.report.plots import differences as draw_differences
from evenhand.report.tables import Cell, Table, count
from evenhand.statistics.clustered import Difference
from evenhand.statistics.resampling import LEVEL

MOST_DRAWN = 40  # figures in a drawing; the table has all
MOST_NAMED = 4  # figures in a note
UNCLEAR = "unclear"


@dataclass(frozen=True)
class FigureDifference:
    """A figure's difference of two runs, `B minus A`.

    Attributes:
        name: the figure of a group, as people read it, and the pair of runs where there are several.
        adjusted: its p-value over the family of tests.
    """

    name: str
    key: FigureKey
    figure: Figure
    difference: Difference
    adjusted: float = math.nan

    @property
    def verdict(self) -> str:
        """In a word or two: "higher", "tied", "not read"."""
        found = self.difference
        if not found.n:
            return "not read"
        if math.isnan(found.estimate):
            return "no data"
        if not found.known:
            return "no interval"
        if found.tied:
            return UNCLEAR if found.p_value < LEVEL else "tied"
        return UNCLEAR if not found.differs else "higher" if found.estimate > 0 else "lower"

    @property
    def p_value(self) -> float:
        """NaN where so few clusters can't reject anything: such a test would only dilute its family."""
        return math.nan if self.difference.smallest_p > LEVEL else self.difference.p_value


def state_differences(headline: Sequence[FigureDifference]) -> str:
    """Say which headline figures differ: after adjustment over the family, and by their own interval alone."""
    if not any(each.difference.n for each in headline):
        return "Nothing can be compared: no answer was read in both runs of a pair."
    kinds = {
        "Nothing to compare in both runs": ("not read", "no data"),
        "Too few clusters for an interval": ("no interval",),
        "Interval and p disagree whether it is 0": (UNCLEAR,),
    }
    unknown = {said: [each.name for each in headline if each.verdict in verdicts] for said, verdicts in kinds.items()}
    without = "".join(f" {said}: {'; '.join(names)}." for said, names in unknown.items() if names)
    differ = [each for each in headline if each.difference.differs]
    if not differ and sum(map(len, unknown.values())) == len(headline):
        return f"It is not known whether they differ.{without}"
    if not differ:
        return f"{without} Tied on every {'other ' if without else ''}headline figure.".lstrip()
    certain = "; ".join(each.name for each in differ if each.adjusted < LEVEL) or "none"
    return (
        f"Different at the {100 * LEVEL:.0f} % level over the headline figures (Holm): {certain}. Unadjusted: "
        f"{'; '.join(each.name for each in differ)}.{without}"
    )


def describe_family(adjustment: str, tested: Sequence[FigureDifference]) -> str:
    """State the size of the family of tests, and which differences it leaves out."""
    few: dict[str, list[str]] = {}
    for each in tested:
        found = each.difference
        if found.n and found.smallest_p > LEVEL:
            few.setdefault(f"{found.n_clusters}, p is {found.smallest_p:.4g} at least", []).append(each.name)
    n = sum(not math.isnan(each.p_value) for each in tested)
    named = []
    for clusters, names in few.items():
        more = f" and {len(names) - MOST_NAMED} more" if names[MOST_NAMED:] else ""
        named.append(f"{'; '.join(names[:MOST_NAMED])}{more} ({clusters})")
    left_out = f"It leaves out tests over too few clusters to reject anything: {'; '.join(named)}. " if named else ""
    return f"Adjusted p: {adjustment} over this family of {n}. {left_out}"


def difference_table(title: str, tested: Sequence[FigureDifference], one_pair: bool, family: str) -> Table:
    """Return a row for each difference. one_pair: whether all are of runs A and B.

    Corrected differences have a column of their own beside the plain ones; interval and p-values belong to these.
    """
    rows = []
    corrections = {each.difference.correction: None for each in tested} | {"": None}
    for each in tested:
        found, digits = each.difference, each.figure.digits
        first, second = (Cell(value, digits=digits) for value in (found.first, found.second))
        tested_one = Cell(found.estimate, found.low, found.high, digits)
        plain = Cell(found.plain, digits=digits) if found.correction else tested_one
        differences = (plain, *(tested_one if kind == found.correction else Cell("") for kind in corrections if kind))
        p_values = (Cell(p, digits=4, style="p") for p in (found.p_value, each.adjusted))
        counts = count(found.n), count(found.n_clusters)
        rows.append((Cell(each.name), first, second, *differences, Cell(each.verdict), *p_values, *counts))
    named = ("A", "B", "B minus A") if one_pair else ("base", "run", "difference")
    note = (
        "Brackets: paired 95 % confidence intervals, on pairs that both runs answered readably. Tied: the interval "
        f"contains 0, and p is {LEVEL:g} or more; {UNCLEAR}: the two disagree. {family}"
    )
    return Table(
        title,
        ("figure", *named, *filter(None, corrections), "found", "p", "adjusted p", "n pairs", "clusters"),
        tuple(rows),
        note,
    )


def difference_plots(tested: Sequence[FigureDifference]) -> Iterator[Plot]:
    """Draw differences, those of one unit and span on one axis; those without a number are left out."""
    by_scale: dict[tuple[str, float | None], list[FigureDifference]] = {}
    for each in tested:
        if math.isfinite(each.difference.estimate):
            by_scale.setdefault((each.figure.unit, each.figure.span), []).append(each)
    for of_scale in by_scale.values():
        drawn = [
            (", ".join(filter(None, (each.name, each.difference.correction))), each.difference)
            for each in of_scale[:MOST_DRAWN]
        ]
        values = {name: (found.estimate, (found.low, found.high), found.differs) for name, found in drawn}
        title = "Headline differences"
        if len(by_scale) > 1:
            title += f": {drawn[0][0]}" + (f" and {len(of_scale) - 1} more" if len(of_scale) > 1 else "")
        note = "Lines: 95 % intervals, paired. Filled: different (unadjusted); hollow: tied or unclear."
        if len(of_scale) > MOST_DRAWN:
            note += f" The first {MOST_DRAWN} of {len(of_scale)}; the table has all."
        yield Plot(title, partial(draw_differences, values, "difference, in the figure's own unit"), note)
