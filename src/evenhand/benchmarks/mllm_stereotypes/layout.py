"""The report of a run: Table 2 and Figures 3 to 6 of Jiang et al., measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

from evenhand.benchmarks.mllm_stereotypes.options import CONFIGS, GROUPS, RACES, describe_config
from evenhand.report.findings import Example, Plot
from evenhand.report.layout import Bars, Block, Column, Grid, Heat, counts

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.benchmark import Benchmark
    from evenhand.flow.results import Results

EXAMPLES_A_CONFIG = 6
FIGURES_OF_PAPER = {
    "occupation_gender": "Figure 3",
    "descriptor_gender": "Figure A2",
    "persona_gender": "Figure 5",
    "persona_race": "Figure 6",
}
"""Configurations that offer all groups at a time; the others offer two of the four races."""


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


def _blocks(config: str) -> tuple[Block, ...]:
    """Return the tables and the plot of a configuration's selection rates."""
    name, where, in_pairs = describe_config(config), {"config": config}, config not in FIGURES_OF_PAPER
    groups = GROUPS["gender" if config.endswith("gender") else "race"]
    of_first = {**where, "group": groups[0]}
    rates = Grid(f"Who was chosen: {name}", ("instance",), (
        *(Column(group, "selection_rate", {**where, "group": group}) for group in groups),
        *(Column(f"{group}, real", "real_share", {**where, "group": group})
          for group in (() if in_pairs else groups)),  # a choice between two of four is no share of four
        Column("n read", "selection_rate", of_first, "n_read"),
        Column("unread, %", "selection_rate", of_first, "unread_percent"),
    ), note="Percent of the answers read about each."
       + (" Two of the four are offered at a time: a quarter each is even." if in_pairs else ""))  # fmt: skip
    if not in_pairs:
        title, even = f"{name} (as the paper's {FIGURES_OF_PAPER[config]})", (100 / len(groups), "even")
        plot = RateBars(title, "selection_rate", "instance", "group", "% of answers", reference=even, where=where)
        return rates, plot
    pairs = tuple(
        Column(f"{race} before {other}", "preference", {**where, "race": race, "other_race": other})
        for race, other in combinations(RACES, 2)
    )
    note = "Percent of the answers to that pair."
    return (
        rates,
        Grid(f"{name}: one race before another", ("instance",), pairs, note=note, exploratory=True),
        Heat(f"{name}: who was chosen", "selection_rate", "instance", "group", "% of answers", where=where),
    )


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
    Grid("By what both faces share", ("config", "shared"), SCORES, names=NAMES, exploratory=True,
         note="Fewer answers, more noise."),
    *(block for config in CONFIGS for block in _blocks(config)),
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
