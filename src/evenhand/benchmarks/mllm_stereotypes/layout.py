"""The report of a run: Table 2 and Figures 3 to 6 of Jiang et al., measured."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

from evenhand.benchmarks.mllm_stereotypes.options import CONFIGS, GROUPS, RACES, describe_config
from evenhand.figure import FigureRow
from evenhand.report.findings import Example, Plot
from evenhand.report.layout import Bars, Block, Column, Grid, counts
from evenhand.report.tables import Table

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.benchmark import Benchmark
    from evenhand.flow.results import Results

EXAMPLES_A_CONFIG = 6
OF_PAIRS = {"occupation_race": "Figures 4 and A3 to A5", "descriptor_race": "Figures A6 to A8"}
"""Configurations that offer two of the four races at a time, with the paper's figures of them."""
OF_ALL_GROUPS = {
    "occupation_gender": "Figure 3",
    "descriptor_gender": "Figure A2",
    "persona_gender": "Figure 5",
    "persona_race": "Figure 6",
}


@dataclass(frozen=True)
class RateGrid(Grid):
    """A grid without the columns that a run has nothing for."""

    def build(self, benchmark: Benchmark[Any], results: Results) -> Table | None:
        kept = [each for each in self.columns if results.figures.rows(each.figure, *self.rows, **each.where)]
        return Grid.build(replace(self, columns=tuple(kept)), benchmark, results)


@dataclass(frozen=True)
class RateBars(Bars):
    """Selection rates as bars, with a line across each at the group's share in the world."""

    def build(self, benchmark: Benchmark[Any], results: Results) -> Plot | None:
        plot = super().build(benchmark, results)
        marks: dict[str, dict[str, float]] = {}
        for row in results.figures.rows("real_share", self.groups, self.bars, **self.where):
            marks.setdefault(row.groups[self.groups], {})[row.groups[self.bars]] = row.value
        if plot is None or not marks:
            return plot
        return replace(plot, draw=partial(plot.draw, marks), note=f"{plot.note} Black lines: shares in the world.")  # type: ignore[call-arg]


@dataclass(frozen=True)
class RaceMatrices:
    """How often each race was chosen before each other one: a grid for each instance, race 1 on the x axis."""

    title: str
    config: str
    exploratory: bool = False

    def build(self, benchmark: Benchmark[Any], results: Results) -> Plot | None:
        rows = results.figures.rows("preference", "instance", "race", "other_race", config=self.config)
        if not rows:
            return None
        whole = results.figures.row("association_score", config=self.config)
        return Plot(
            self.title,
            partial(_draw_matrices, race_matrices(rows)),
            "Race 1 (column) before race 2 (row), as in the paper's Figure A3: percent of the answers to pairs of "
            f"these two; n = {whole.n_read:,} read answers, {whole.unread_percent:.1f} % unread. Empty: no data.",
        )


def race_matrices(rows: list[FigureRow]) -> dict[str, dict[str, dict[str, float]]]:
    """{instance: {race 2: {race 1: percent of the answers that chose race 1}}}"""
    matrices: dict[str, dict[str, dict[str, float]]] = {}
    for row in rows:
        instance, race, other = (row.groups[name] for name in ("instance", "race", "other_race"))
        matrix = matrices.setdefault(instance, {race: dict.fromkeys(RACES, math.nan) for race in RACES})
        matrix[other][race], matrix[race][other] = row.value, 100 - row.value
    return matrices


def _draw_matrices(matrices: dict[str, dict[str, dict[str, float]]]) -> str:
    from evenhand.report.plots import heatmaps

    return heatmaps(matrices, "% chosen before the other", x="race 1", y="race 2")


def _groups(config: str) -> tuple[str, ...]:
    return GROUPS["gender" if config.endswith("gender") else "race"]


def _rates(config: str) -> RateGrid:
    groups, where = _groups(config), {"config": config}
    of_one = {**where, "group": groups[0]}
    return RateGrid(f"Who was chosen: {describe_config(config)}", ("instance",), (
        *(Column(group, "selection_rate", {**where, "group": group}) for group in groups),
        *(Column(f"{group}, real", "real_share", {**where, "group": group})
          for group in (() if config in OF_PAIRS else groups)),  # a choice between two of four is no share of four
        Column("n read", "selection_rate", of_one, "n_read"),
        Column("unread, %", "selection_rate", of_one, "unread_percent"),
    ), note="Percent of the answers read about each."
       + (" Two of the four are offered at a time: a quarter each is even." if config in OF_PAIRS else ""))  # fmt: skip


def _preferences(config: str) -> RateGrid:
    columns = (
        Column(f"{race} before {other}", "preference", {"config": config, "race": race, "other_race": other})
        for race, other in combinations(RACES, 2)
    )
    title = f"{describe_config(config)}: one race before another"
    return RateGrid(title, ("instance",), tuple(columns), note="Percent of the answers to that pair.", exploratory=True)


def _bars(config: str) -> RateBars:
    title = f"{describe_config(config)} (as the paper's {OF_ALL_GROUPS[config]})"
    even = (100 / len(_groups(config)), "even")
    return RateBars(title, "selection_rate", "instance", "group", "% of answers", reference=even,
                    where={"config": config})  # fmt: skip


SCORES = (
    Column("association score", "association_score"),
    Column("unread left out", "association_score_answered"),
    Column("chance", "association_score", show="chance"),
    *counts("association_score"),
)
NAMES = {config: describe_config(config) for config in CONFIGS}

LAYOUT: tuple[Block, ...] = (
    Grid("Association bias scores", ("config",), SCORES, names=NAMES, published=True,
         note="0: groups are chosen equally often. Chance: of random answers that depend on faces as much as the given "
         "ones. Published scores are of other faces and pictures."),
    Grid("Consensus", ("config",), (
        Column("all agree, %", "agreed"), Column("disagree, %", "disagreed"), Column("unread, %", "unread_by_one"),
        Column("n", "agreed", show="n"),
    ), names=NAMES, overall=True,
         note="Unread: by one run or more; what has no consensus counts as unread. Agreement alone makes preferences "
         "stronger: two independent runs that each choose a group 60 % of the time agree on it in 36 of 52 "
         "agreements, 69 %."),
    Grid("Bounds and places", ("config",), (
        Column("least", "best_case"), Column("greatest", "worst_case"), Column("most lopsided", "maximum_score"),
        Column("position sensitivity", "position_sensitivity", signed=True),
        Column("first term listed, %", "first_listed"),
    ), names=NAMES,
         note="Least and greatest: the score over all that unread answers could have been. Most lopsided: of answers "
         "to the same queries. Position sensitivity: share of answers that name the left side, minus one half, in "
         "points."),
    *map(_rates, CONFIGS),
    Grid("By what both faces share", ("config", "shared"), SCORES, names=NAMES, exploratory=True,
         note="Fewer answers, more noise."),
    *map(_preferences, OF_PAIRS),
    *(RaceMatrices(f"{describe_config(config)} (as the paper's {OF_PAIRS[config]})", config) if config in OF_PAIRS
      else _bars(config) for config in CONFIGS),
)  # fmt: skip


def choose_examples(predictions: pd.DataFrame) -> Iterator[Example]:
    """Choose a few of each configuration, each of another instance, with pictures."""
    import numpy as np
    import pandas as pd

    unread = "no consensus" if "consensus" in predictions else "unread"
    for _, of in predictions.groupby("config", sort=False):
        # Even steps would hit one instance again and again: each pair's prompts come in the same order.
        shuffled = of.iloc[np.random.default_rng(0).permutation(len(of))]
        by_turns = shuffled.iloc[np.argsort(shuffled.groupby("instance").cumcount(), kind="stable")]
        for row in by_turns.head(EXAMPLES_A_CONFIG).sort_index().itertuples():
            shared = "" if pd.isna(row.shared) else f" · both {row.shared}, {row.age}"
            yield Example(
                caption=f"{row.scenario} · {row.instance} · {', '.join(row.candidates)}{shared}",
                prompt=row.prompt,
                answer=row.text,
                reading=unread if pd.isna(row.chosen) else str(row.chosen),
                picture=row.row,
            )
