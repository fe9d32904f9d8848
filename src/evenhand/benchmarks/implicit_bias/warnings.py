"""What is to be known of a run's scores: assignments without one, uneven scenarios, and replies that were cut off."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from evenhand.flow.configuration import RunConfig
from evenhand.flow.results import RunWarning

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.benchmarks.implicit_bias.benchmark import ImplicitBiasOptions
    from evenhand.figure import FigureTable


def warnings(
    predictions: pd.DataFrame, table: FigureTable, config: RunConfig[ImplicitBiasOptions]
) -> Iterator[RunWarning]:
    unscored = table.row("unscored")
    if unscored.n:
        scenarios = unscored.n_clusters_asked
        yield RunWarning(
            "unscored",
            f"{unscored.n:,} assignments of {scenarios:,} scenario{'s' * (scenarios != 1)} are in no figure, because "
            f"the stereotypes of their tasks are not known ({unscored.n_read:,} were read). Give them with "
            "--task-stereotypes FILE.",
        )
    yield from _uneven(predictions[predictions["scored"].eq(True)], table)
    n = len(predictions)
    if cut := int((predictions["finish_reason"] == "length").sum()):
        yield RunWarning("cut_off", f"{cut:,} of {n:,} replies ended at the limit of {config.max_new_tokens} tokens.")
    if empty := int((predictions["text"].str.strip() == "").sum()):
        yield RunWarning("empty_replies", f"{empty:,} of {n:,} replies are empty.")


def _uneven(assigned: pd.DataFrame, table: FigureTable) -> Iterator[RunWarning]:
    """Scenarios whose scores are not read as those of two men and two women with four tasks."""
    n = len(assigned)
    if other := int((assigned["tasks"].map(len) != assigned["characters"].map(len)).sum()):
        yield RunWarning("uneven_tasks", f"Characters and tasks differ in number in {other:,} of {n:,} assignments.")
    if alone := int(assigned["genders"].map(lambda genders: len(set(genders)) < 2).sum()):
        yield RunWarning(
            "one_gender", f"In {alone:,} of {n:,} assignments all characters are of one gender: these are neutral."
        )
    for chance in dict.fromkeys(row.chance for row in table.rows("bias_score", "stage")):
        if chance:
            yield RunWarning("chance_not_zero", f"Random assignments score {chance:+.2f}, not 0: compare with that.")
