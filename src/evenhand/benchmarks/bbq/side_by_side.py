"""Runs beside one another as in Table 6 of Raj et al. 2024: accuracies by category, and who wins, ties and loses."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from evenhand.benchmarks.bbq.findings import CONTEXTS
from evenhand.report.findings import Panel, Run
from evenhand.report.tables import Cell, Table, figure
from evenhand.statistics.clustered import smallest_p
from evenhand.statistics.families import holm
from evenhand.statistics.resampling import FEWEST_CLUSTERS, ROUNDING, FloatArray, IntArray, ratio, resampled

N_RESAMPLES = 9999  # at least
DRAWS_A_TEST = 100  # of a family: the smallest p is 2 / draws, and Holm's method wants one below 0.05 / tests
LEVEL = 0.05
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

    rows = tuple((Cell(name), *(cell(run, name) for run in runs)) for name in (ALL, *_categories(runs)))
    note = (
        "Percent of read answers; random answers have 33.3. Brackets: 95 % interval of each run by itself, Student's t "
    )
    note += "over templates."
    title = f"Accuracy by category, {KINDS[kind]}" + (" (as Table 6 of Raj et al. 2024)" if kind == "ambig" else "")
    return Table(title, ("category", *(f"{run.letter}: {run.results.model_name}" for run in runs)), rows, note)


@dataclass(frozen=True)
class _Test:
    """Accuracy of one run minus that of another, of one category, on the rows that both answered readably."""

    difference: float
    p_value: float


def _wins(runs: Sequence[Run]) -> Table:
    """How often each run is better than each run before it, by category."""
    pairs, categories = list(combinations(runs, 2)), _categories(runs)
    n_resamples = max(N_RESAMPLES, DRAWS_A_TEST * len(pairs) * len(categories))
    tests = {
        (i, kind, category): _test(one, other, kind, category, n_resamples)
        for i, (one, other) in enumerate(pairs)
        for kind in KINDS
        for category in categories
    }
    sizes: dict[str, int] = {}
    adjusted: dict[tuple[int, str, str], float] = {}
    for kind in KINDS:
        family = [key for key in tests if key[1] == kind]
        sizes[kind] = sum(not math.isnan(tests[key].p_value) for key in family)
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
        "Of the categories. A win or a loss: the accuracies differ at the 5 % level, by a paired, studentized "
        f"bootstrap over templates ({n_resamples:,} draws) of the rows that both answered readably, adjusted by Holm's "
        f"method over all pairs and categories of a column ({family_sizes} tests). A tie is no evidence that nothing "
        "differs. Few templates can only tie: p is at least 1/2 for each but the first, so that two runs and eleven "
        "categories need nine."
    )
    columns = ("runs", *(f"wins, ties, losses: {name}" for name in KINDS.values()))
    return Table("Wins, ties and losses by category", columns, rows, note)


def _counted(
    pair: int,
    kind: str,
    tests: Mapping[tuple[int, str, str], _Test],
    adjusted: Mapping[tuple[int, str, str], float],
) -> str:
    """Wins, ties and losses of the second run of a pair: "3, 8, 0", say."""
    keys = [key for key in tests if key[:2] == (pair, kind)]
    sure = [tests[key].difference for key in keys if adjusted[key] < LEVEL]
    wins, losses = (sum(sign * difference > 0 for difference in sure) for sign in (1, -1))
    return f"{wins}, {len(keys) - wins - losses}, {losses}"


def _test(one: Run, other: Run, kind: str, category: str, n_resamples: int) -> _Test:
    sides = []
    for run in (one, other):
        some = _of_kind(run.predictions, kind)
        some = some[(some["category"] == category) & some["right"].notna()]
        sides.append(some[["id", "right", "template"]])
    both = sides[0].merge(sides[1], on="id", suffixes=("_one", "_other"))
    if not len(both):
        return _Test(math.nan, math.nan)
    gained = both["right_other"].astype(float) - both["right_one"].astype(float)
    return _Test(float(gained.mean()), p_value_of_gain(gained, both["template_one"], n_resamples))


def p_value_of_gain(gained: pd.Series, templates: pd.Series, n_resamples: int) -> float:
    """Two-sided, of a mean gain of 0, by the bootstrap over templates: how often a draw's mean departs from that of all
    by as many of its own errors as that departs from 0 (studentized; percentiles reject 7.8 % of ten templates).

    No smaller than so few templates allow; NaN below three; 1 where nothing differs.
    """
    sums = gained.groupby(templates.to_numpy()).agg(["sum", "count"]).to_numpy(dtype=float)
    n = len(sums)
    if n < FEWEST_CLUSTERS:
        return math.nan
    if not sums[:, 0].any():
        return 1.0

    def mean_and_error(drawn: IntArray) -> FloatArray:
        some = sums[drawn]
        total = some.sum(axis=1)
        mean = ratio(total[:, 0], total[:, 1])
        squares = ((some[..., 0] - mean[:, None] * some[..., 1]) ** 2).sum(axis=1)
        return np.stack([mean, np.sqrt(squares) / total[:, 1]], axis=-1)

    [(gain, error)] = mean_and_error(np.arange(n)[None])
    draws, _ = resampled(mean_and_error, [np.arange(n)], n_resamples, values=sums.size)
    # Of templates that are all alike every draw has the mean of all, which is no departure.
    away = np.abs(draws[:, 0] - gain)
    beyond = (away * error >= np.abs(gain) * draws[:, 1]) & (away > ROUNDING)
    return max(smallest_p(n), float(1 + beyond.sum()) / (1 + len(draws)))
