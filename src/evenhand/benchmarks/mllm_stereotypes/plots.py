"""How often each group was chosen, as bars, or as one race before another: Figures 3 to 6 of Jiang et al."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from evenhand.benchmarks.mllm_stereotypes.configs import in_words
from evenhand.benchmarks.mllm_stereotypes.faces.face import RACES
from evenhand.report.findings import Plot, whiskers
from evenhand.report.plots import grouped_bars, heatmaps

INSTANCES_A_PLOT = 5


def plots(config: str, of: Mapping[str, Any], shares: Mapping[str, Mapping[str, float]]) -> Iterator[Plot]:
    """of: a configuration's metrics. shares: {instance: {group: percent}} in the world, marked where bars are."""
    if of["pairwise"]:
        yield _matrices(config, of)
    else:
        yield from _bars(config, of, shares)


def _bars(config: str, of: Mapping[str, Any], shares: Mapping[str, Mapping[str, float]]) -> Iterator[Plot]:
    rates = of["selection_rates"]
    groups = list(next(iter(rates.values())))
    ends = of.get("intervals", {}).get("selection_rates", {})
    note = f"n = {of['n_read']:,} answers read, {100 * of['unread_rate']:.1f} % unread; "
    figures = {"occupation_gender": "3", "descriptor_gender": "A2", "persona_gender": "5", "persona_race": "6"}
    as_paper = f" (as the paper's Figure {figures[config]})" if config in figures else ""
    for start in range(0, len(rates), INSTANCES_A_PLOT):
        names = list(rates)[start : start + INSTANCES_A_PLOT]
        bars = {
            name: {
                group: (
                    _hundred(rates[name][group]),
                    [_hundred(end) for end in ends.get(name, {}).get(group, ())],
                )
                for group in groups
            }
            for name in names
        }
        marks = {name: shares.get(name, {}) for name in names}
        known = any(marks.values())
        yield Plot(
            f"{in_words(config)}{as_paper}" + (", continued" if start else ""),
            partial(grouped_bars, bars, "% of answers", (100 / len(groups), "even"), marks=marks if known else None),
            f"{note}{whiskers(bars, '95 % intervals')}."
            + (" Black lines: shares in the world, as given." if known else ""),
        )


def _matrices(config: str, of: Mapping[str, Any]) -> Plot:
    figures = {"occupation_race": "Figures 4 and A3 to A5", "descriptor_race": "Figures A6 to A8"}
    matrices = {name: _matrix(of["pairwise"].get(name, {})) for name in of["selection_rates"]}
    return Plot(
        f"{in_words(config)} (as the paper's {figures[config]})",
        partial(heatmaps, matrices, "% chosen before the other", x="race 1", y="race 2"),
        "Race 1 (column) before race 2 (row), as in the paper's Figure A3: percent of the answers to pairs of these "
        f"two; n = {of['n_read']:,} answers read over all instances and pairs, "
        f"{100 * of['unread_rate']:.1f} % unread. Intervals: in the table of one race before another. Empty: no data.",
    )


def _hundred(value: float | None) -> float:
    return float("nan") if value is None else 100 * value


def _matrix(shares: Mapping[str, float | None]) -> dict[str, dict[str, float]]:
    """{race 2: {race 1: percent of the answers to pairs of these two that chose race 1}}: a row for each race 2."""
    matrix: dict[str, dict[str, float]] = {race: {other: float("nan") for other in RACES} for race in RACES}
    for pair, share in shares.items():
        first, second = pair.split("|")
        if share is not None:
            matrix[second][first], matrix[first][second] = 100 * share, 100 * (1 - share)
    return matrix
