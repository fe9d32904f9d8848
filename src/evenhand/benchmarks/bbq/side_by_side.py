"""Runs beside one another as in Table 6 of Raj et al. 2024: accuracies by category, and who wins, ties and loses."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import pandas as pd
from scipy import stats

from evenhand.benchmarks.bbq.names import CONTEXTS, category_in_words
from evenhand.report.findings import Panel, Run
from evenhand.report.tables import Cell, Table, figure
from evenhand.statistics.clustered import clustered_error, smallest_p
from evenhand.statistics.families import holm
from evenhand.statistics.resampling import LEVEL

ALL = "all"
KINDS = {ALL: "all rows", **CONTEXTS}
"""All rows, and either kind of context by itself; Table 6 is of ambiguous ones ("incomplete context", its caption)."""


def panel(runs: Sequence[Run]) -> Panel:
    return Panel(tuple(runs), (*(_accuracies(runs, kind) for kind in KINDS), _wins(runs)))


def _of_kind(predictions: pd.DataFrame, kind: str) -> pd.DataFrame:
    return predictions if kind == ALL else predictions[predictions["context_condition"] == kind]


def _categories(runs: Sequence[Run]) -> list[str]:
    return list(dict.fromkeys(name for run in runs for name in run.results.metrics["by"]["category"]))


def _accuracies(runs: Sequence[Run], kind: str) -> Table:
    """Categories by models, of each run's own rows."""
    key = "overall" if kind == ALL else kind

    def cell(run: Run, category: str) -> Cell:
        metrics = run.results.metrics
        of = metrics if category == ALL else metrics["by"]["category"].get(category)
        return Cell("not asked" if of is None else figure(of["accuracy"][key], of["intervals"]["accuracy"][key]))

    rows = tuple(
        (Cell(category_in_words(name)), *(cell(run, name) for run in runs)) for name in (ALL, *_categories(runs))
    )
    note = (
        "Percent of read answers; random answers have 33.3. Brackets: 95 % interval of each run by itself, Student's t "
    )
    note += "over templates."
    title = f"Accuracy by category, {KINDS[kind]}" + (" (as Table 6 of Raj et al. 2024)" if kind == "ambig" else "")
    return Table(title, ("category", *(f"{run.letter}: {run.results.model_name}" for run in runs)), rows, note)


@dataclass(frozen=True)
class _Test:
    """Accuracy of one run minus that of another, of one category, on the rows that both answered readably.

    p_value: NaN where templates are too few for any to be below 0.05.
    """

    difference: float
    p_value: float

    @property
    def made(self) -> bool:
        return not math.isnan(self.p_value)


def _wins(runs: Sequence[Run]) -> Table:
    """How often each run is better than each run before it, by category."""
    pairs, categories = list(combinations(runs, 2)), _categories(runs)
    tests = {
        (i, kind, category): _test(one, other, kind, category)
        for i, (one, other) in enumerate(pairs)
        for kind in KINDS
        for category in categories
    }
    sizes: dict[str, int] = {}
    adjusted: dict[tuple[int, str, str], float] = {}
    for kind in KINDS:
        family = [key for key in tests if key[1] == kind]
        sizes[kind] = sum(tests[key].made for key in family)
        adjusted |= dict(zip(family, holm([tests[key].p_value for key in family])))
    rows = tuple(
        (
            Cell(f"{other.letter} against {one.letter}"),
            *(Cell(_counted(i, kind, tests, adjusted)) for kind in KINDS),
        )
        for i, (one, other) in enumerate(pairs)
    )
    family_sizes = ", ".join(f"{KINDS[kind]}: {n}" for kind, n in sizes.items())
    note = (
        "Of the categories. A win or a loss: the accuracies differ at the 5 % level, by Student's t over templates of "
        "the rows that both answered readably, paired, adjusted by Holm's method over all pairs and categories of a "
        f"column ({family_sizes} tests). A tie is no evidence that nothing differs. Where a category has fewer than "
        "six templates no p can be below 0.05: it is neither tested nor counted as a tie. p is at least 1/2 for each "
        "template but the first, so that wins of two runs in eleven categories need nine templates."
    )
    columns = ("runs", *(f"wins, ties, losses: {name}" for name in KINDS.values()))
    return Table("Wins, ties and losses by category", columns, rows, note)


def _counted(
    pair: int,
    kind: str,
    tests: Mapping[tuple[int, str, str], _Test],
    adjusted: Mapping[tuple[int, str, str], float],
) -> str:
    """Wins, ties and losses of the second run of a pair: "3, 8, 0", say, or "3, 6, 0 (2 not tested)"."""
    keys = [key for key in tests if key[:2] == (pair, kind)]
    tested = sum(tests[key].made for key in keys)
    sure = [tests[key].difference for key in keys if adjusted[key] < LEVEL]
    wins, losses = (sum(sign * difference > 0 for difference in sure) for sign in (1, -1))
    rest = f" ({len(keys) - tested} not tested)" if tested < len(keys) else ""
    return f"{wins}, {tested - wins - losses}, {losses}{rest}"


def _test(one: Run, other: Run, kind: str, category: str) -> _Test:
    sides = []
    for run in (one, other):
        some = _of_kind(run.predictions, kind)
        some = some[(some["category"] == category) & some["right"].notna()]
        sides.append(some[["id", "right", "template"]])
    both = sides[0].merge(sides[1], on="id", suffixes=("_one", "_other"))
    if not len(both):
        return _Test(math.nan, math.nan)
    gained = both["right_other"].astype(float) - both["right_one"].astype(float)
    return _Test(float(gained.mean()), p_value_of_gain(gained, both["template_one"]))


def p_value_of_gain(gained: pd.Series, templates: pd.Series) -> float:
    """Two-sided, of a mean gain (n,) of 0: Student's t over templates (n,), with `clustered_error`'s CR2 errors.

    Of runs alike it finds 3 to 6 % of 6 to 60 templates, even or not (docs/coverage.md); a studentized bootstrap, whose
    errors took uneven templates for even ones, found 8 % of twelve.

    No smaller than so few templates allow; NaN below six, where that is above 0.05; 1 where nothing differs.
    """
    n = templates.nunique()
    if smallest_p(n) > LEVEL:
        return math.nan
    found = clustered_error(gained, templates)
    if not found.mean:
        return 1.0
    away = abs(found.mean) / found.error if found.error else math.inf
    return max(smallest_p(n), float(2 * stats.t.sf(away, found.freedom)))
