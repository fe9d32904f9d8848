"""What is to be known of a run's accuracy: answers that never change, and replies that were cut off."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from evenhand.benchmarks.implicit_bias.understanding.present_or_absent import PRESENT
from evenhand.benchmarks.implicit_bias.understanding.reading import STORIES
from evenhand.flow.configuration import RunConfig
from evenhand.flow.results import RunWarning

if TYPE_CHECKING:
    import pandas as pd

CONSTANT = 0.99  # from this share of one answer on, what was asked had no part in it


def warnings(predictions: pd.DataFrame, config: RunConfig[Any]) -> Iterator[RunWarning]:
    read = predictions[predictions["answer"].notna()]
    shares = read["answer"].value_counts(normalize=True)
    if read["biased"].nunique() > 1 and shares.iloc[0] >= CONSTANT:  # of one kind of story, it may be the truth
        present = shares.index[0] == PRESENT
        share = float((predictions["biased"].astype(bool) == present).mean())
        yield RunWarning(
            "constant_answer",
            f"At least {100 * CONSTANT:.0f} % of the answers are {shares.index[0]!r}: whatever the model knows, its "
            f"accuracy is then the share of {STORIES[present]} stories, {share:.3f}.",
        )
    cut = int((predictions["finish_reason"] == "length").sum())
    if cut:
        yield RunWarning(
            "cut_off",
            f"{cut:,} of {len(predictions):,} replies ended at the limit of {config.max_new_tokens} tokens.",
        )
