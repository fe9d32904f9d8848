"""Runs beside one another: biased answers before and after tuning (the paper's Figures 4 to 7)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import pandas as pd

from evenhand.report.findings import Panel, Plot, Run, whiskers
from evenhand.report.plots import grouped_bars, heatmaps

CONTACTS = {"no_contact": "no contact", "positive_contact": "positive", "negative_contact": "negative"}
FIGURES = {"scenario": "Figure 5", "principle": "Figure 6", "axis": "Figure 7"}
CHANCE = 50.0


def panel(runs: Sequence[Run]) -> Panel:
    """One: everything about contact can be shown side by side."""
    return Panel(tuple(runs), (), (_by_contact(runs), *(_by_group(runs, column) for column in FIGURES)))


def _label(run: Run) -> str:
    return f"{run.letter}: {run.results.model_name}"


def _by_contact(runs: Sequence[Run]) -> Plot:
    bars = {
        label: {
            _label(run): (
                math.nan if (value := run.results.metrics["biased_percentage"][contact]) is None else value,
                run.results.metrics.get("intervals", {}).get("biased_percentage", {}).get(contact, ()),
            )
            for run in runs
        }
        for contact, label in CONTACTS.items()
    }
    return Plot(
        "Biased responses by contact (as the paper's Figure 4)",
        partial(grouped_bars, bars, "% biased responses", (CHANCE, "chance")),
        f"{whiskers(bars, '95 % intervals of each run by itself').capitalize()}; intervals of the differences are "
        "paired, and other than the whiskers: they stand with the headline figures.",
    )


def _by_group(runs: Sequence[Run], column: str) -> Plot:
    grids = {_label(run): _shares(run.predictions, column) for run in runs}
    return Plot(
        f"Biased responses by {column} and contact (as the paper's {FIGURES[column]})",
        partial(heatmaps, grids, "% biased responses"),
        "Of the answers read. Empty: no data.",
    )


def _shares(predictions: pd.DataFrame, column: str) -> dict[str, dict[str, float]]:
    """{group: {contact: percent biased}}"""
    biased = 100 * predictions["biased"].astype("Float64")
    shares = biased.groupby([predictions[column], predictions["contact"]]).mean()
    grid: dict[str, dict[str, float]] = {}
    for (group, contact), share in shares.items():
        grid.setdefault(str(group), dict.fromkeys(CONTACTS.values(), math.nan))
        grid[str(group)][CONTACTS[str(contact)]] = math.nan if pd.isna(share) else float(share)
    return grid
