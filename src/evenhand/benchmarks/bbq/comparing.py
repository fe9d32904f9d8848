"""Runs side by side as in Table 6 of Raj et al. 2024: accuracies by category, and wins, ties and losses."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from evenhand.benchmark import Comparing
from evenhand.benchmarks.bbq.figures import CHANCE, CONTEXTS, NAMES
from evenhand.report.findings import Panel, Run
from evenhand.report.tables import Cell, Table, cell, count

if TYPE_CHECKING:
    import pandas as pd

RESAMPLES = 10_000
KINDS: Mapping[str, Mapping[str, str]] = {
    "all rows": {}, **{name: {"context_condition": context} for context, name in CONTEXTS.items()}
}  # fmt: skip
"""All rows, and either kind of context; Table 6 is of ambiguous ones ("incomplete context", its caption)."""


class BbqComparing(Comparing):
    note = "Accuracy: higher is better; bias scores: 0 is best. "

    def panels(self, runs: Sequence[Run]) -> tuple[Panel, ...]:
        return (Panel(tuple(runs), (*(_accuracy_table(runs, kind) for kind in KINDS), _wins_table(runs))),)


def _accuracy_table(runs: Sequence[Run], kind: str) -> Table:
    """Categories by models, of each run's own rows."""
    groups = {"all": {}, **{name: {"category": name} for name in _categories(runs)}}
    rows = tuple(
        (
            Cell(NAMES.get(name, name)),
            *(cell(run.results.figures.row("accuracy", **group, **KINDS[kind])) for run in runs),
        )
        for name, group in groups.items()
    )
    note = (
        f"Percent of read answers; random answers: {CHANCE:.1f}. Brackets: 95 % confidence intervals of each run, "
        "clustered by template."
    )
    title = f"Accuracy by category, {kind}" + (" (as Table 6 of Raj et al. 2024)" if kind == "ambiguous" else "")
    return Table(title, ("category", *(f"{run.letter}: {run.results.model_name}" for run in runs)), rows, note)


def _wins_table(runs: Sequence[Run]) -> Table:
    """How often each run is better than each run before it, by category."""
    from evenhand.statistics.families import holm
    from evenhand.statistics.resampling import LEVEL

    pairs, categories = list(combinations(runs, 2)), _categories(runs)
    rows = []
    for kind, of_kind in KINDS.items():
        tests = [[_test(*pair, {"category": category, **of_kind}) for category in categories] for pair in pairs]
        adjusted = iter(holm([p for of_pair in tests for _, p in of_pair]))
        for (first, second), of_pair in zip(pairs, tests):
            significant = [gain for (gain, _), p in zip(of_pair, adjusted) if p < LEVEL]
            wins, losses = (sum(sign * gain > 0 for gain in significant) for sign in (1, -1))
            untested = sum(math.isnan(p) for _, p in of_pair)
            counts = (wins, len(of_pair) - untested - wins - losses, losses, untested)
            whole = Cell(bootstrap_outcome(_gains(first, second, of_kind)["gained"]))
            rows.append((Cell(f"{second.letter} against {first.letter}"), Cell(kind), *map(count, counts), whole))
    note = (
        "Categories. A win or a loss: the accuracies differ at the 5 % level, by Student's t over templates of the "
        "rows that both runs answered readably, paired, adjusted by Holm's method over all pairs and categories of one "
        "kind of rows. A tie is no evidence that nothing differs. A category with fewer than six templates is not "
        "tested: no p can be below 0.05 there. p is at least 1/2 for each template but the first, so wins of two runs "
        "in eleven categories need nine templates. All, by bootstrap: as in the paper, all categories together, by the "
        "95 % interval over 10,000 resamples of questions; it takes questions of one template for independent ones, "
        "and finds more differences than there are."
    )
    columns = ("runs", "rows", "wins", "ties", "losses", "not tested", "all, by bootstrap")
    return Table("Wins, ties and losses by category", columns, tuple(rows), note)


def _categories(runs: Sequence[Run]) -> list[str]:
    return list(dict.fromkeys(name for run in runs for name in run.results.figures.values("accuracy", "category")))


def _test(first: Run, second: Run, groups: Mapping[str, str]) -> tuple[float, float]:
    """Return (accuracy of the second run minus that of the first, p), on the rows that both answered readably."""
    both = _gains(first, second, groups)
    return float(both["gained"].mean()), p_value_of_gain(both["gained"], both["template"])


def _gains(first: Run, second: Run, groups: Mapping[str, str]) -> pd.DataFrame:
    """Return `gained` (1: only the second run was right, -1: only the first) and `template` of rows that both read."""
    columns = ["right", "template"]
    before, after = (run.sample.where(groups).rows.set_index("id")[columns].dropna() for run in (first, second))
    both = before.join(after["right"].rename("right_after"), how="inner")
    return both.assign(gained=both["right_after"].astype(float) - both["right"].astype(float))


def bootstrap_outcome(gained: pd.Series) -> str:
    """Return "win", "tie" or "loss" of a second run by the paper's paired bootstrap over questions (n,)."""
    import numpy as np

    if not len(gained):
        return ""
    shares = [float((gained == change).mean()) for change in (-1, 0, 1)]
    lost, _, won = np.random.default_rng(0).multinomial(len(gained), shares, RESAMPLES).T
    low, high = np.percentile(won - lost, (2.5, 97.5))
    return "win" if low > 0 else "loss" if high < 0 else "tie"


def p_value_of_gain(gained: pd.Series, templates: pd.Series) -> float:
    """Test a mean gain (n,) of 0, two-sided: Student's t over templates (n,), with `clustered_error`'s CR2 errors.

    Of equal runs it finds 3 to 6 % of 6 to 60 templates, even or not (docs/coverage.md); a studentized bootstrap, whose
    errors took uneven templates for even ones, found 8 % of twelve.

    No smaller than so few templates allow; NaN below six, where that is above 0.05; 1 where nothing differs.
    """
    from scipy import special

    from evenhand.statistics.clustered import clustered_error, smallest_p
    from evenhand.statistics.resampling import LEVEL

    smallest = smallest_p(templates.nunique())
    if smallest > LEVEL:
        return math.nan
    found = clustered_error(gained, templates)
    if not found.mean:
        return 1.0
    away = abs(found.mean) / found.error if found.error else math.inf
    return max(smallest, float(2 * special.stdtr(found.freedom, -away)))
