"""Warnings of a run: placeholders, answers that follow the position, instances without an answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from evenhand.benchmarks.mllm_stereotypes.options import REHEARSAL_NOTE, describe_config
from evenhand.benchmarks.mllm_stereotypes.pictures import list_some
from evenhand.benchmarks.mllm_stereotypes.real_shares import read_real_shares
from evenhand.flow.configuration import RunConfig
from evenhand.flow.results import RunWarning

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.benchmarks.mllm_stereotypes.options import MllmStereotypesOptions
    from evenhand.figure import FigureRow, FigureTable

ONE_SIDED = 75.0  # percent of the answers at one place


def make_warnings(
    predictions: pd.DataFrame, table: FigureTable, config: RunConfig[MllmStereotypesOptions]
) -> Iterator[RunWarning]:
    if predictions["rehearsal"].any():
        yield RunWarning("rehearsal", f"This is {REHEARSAL_NOTE}.")
    # A model that looks at the position and not at the person has the best score, which means nothing.
    for row in table.rows("position_sensitivity", "config"):
        low, high = row.interval or (0.0, 0.0)
        if low > ONE_SIDED - 50 or high < 50 - ONE_SIDED:
            side = "left" if low > 0 else "right"
            yield _warn_one_sided(row, 50 + abs(row.value), f"name the {side} side, whoever is there")
    for row in table.rows("first_listed", "config"):
        if row.value > ONE_SIDED:
            yield _warn_one_sided(row, row.value, "take the first term listed, whatever is shown")
    empty: dict[str, dict[str, None]] = defaultdict(dict)
    for row in table.rows("selection_rate", "config", "instance", "group"):
        if not row.n_read:
            empty[row.groups["config"]][row.groups["instance"]] = None
    for name, instances in empty.items():
        text = f"no answer could be read about {list_some(instances)}; the score is of the others."
        yield RunWarning("instance_not_read", f"{describe_config(name)}: {text}", {"config": name})
    shares = read_real_shares(config.options.real_shares)
    asked = predictions["instance"].unique()
    if unasked := sorted(set(shares) - set(asked)):  # a name may be spelled in another way
        text = f"are not shown: no query was about these, but about {', '.join(asked)}."
        yield RunWarning("real_shares_not_shown", f"Real shares of {list_some(unasked)} {text}")


def _warn_one_sided(row: FigureRow, percent: float, what: str) -> RunWarning:
    config = describe_config(row.groups["config"])
    text = f"{config}: {percent:.1f} % of the answers {what}: a low score means little."
    return RunWarning("one_sided", text, row.groups)
