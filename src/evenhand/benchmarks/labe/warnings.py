"""What is to be known of a run's figures: unknown groups, missing tests, odd texts, and labels that don't fit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.benchmarks.labe.agency import compute_agency
from evenhand.benchmarks.labe.labels import read_labels
from evenhand.flow.configuration import RunConfig
from evenhand.flow.results import RunWarning
from evenhand.metrics.agency_gap.group_means import PARTLY_UNKNOWN

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.benchmarks.labe.options import LabeOptions
    from evenhand.figure import FigureTable

LONG_SENTENCE = 2_000  # characters; more than a classifier reads
LATIN_SHARE = 0.5  # below it, a text is in another script than the classifiers were trained on


def warnings(predictions: pd.DataFrame, table: FigureTable, config: RunConfig[LabeOptions]) -> Iterator[RunWarning]:
    from evenhand.benchmarks.labe.corrected import label_warnings

    for note in compute_agency(predictions, clusters=False)["warnings"]:
        unknown = note.endswith(PARTLY_UNKNOWN)
        if not (unknown and config.options.texts):  # the reading of the file has said what is unknown of its texts
            yield RunWarning("unknown_groups" if unknown else "undefined_figures", f"{note[0].upper()}{note[1:]}.")
    untested = [row.groups["tested"] for row in table.rows("p_value", "tested") if math.isnan(row.value)]
    if untested := [key.replace("_", " ") for key in untested if not math.isnan(table.row(key).value)]:
        yield RunWarning("no_test", f"No p-value, for groups have too few names in common: {', '.join(untested)}.")
    yield from _odd_texts(predictions.drop_duplicates(["row", "run"]), config)
    if config.options.labels:
        yield from label_warnings(predictions, read_labels(Path(config.options.labels)))


def _odd_texts(texts: pd.DataFrame, config: RunConfig[LabeOptions]) -> Iterator[RunWarning]:
    n = f"of {len(texts):,} texts"
    cut = int((texts["finish_reason"] == "length").sum())
    if cut and not config.options.texts:
        yield RunWarning("cut_off", f"Cut off at the limit of {config.max_new_tokens} new tokens: {cut:,} {n}.")
    if config.n_runs > 1 and (texts.groupby("row")["text"].nunique() == 1).all():
        yield RunWarning(
            "same_texts",
            "All runs have the same texts: the model decodes greedily by default. --temperature above 0 makes them "
            "differ.",
        )
    if long := int(texts["sentences"].map(lambda each: any(len(s) > LONG_SENTENCE for s in each)).sum()):
        yield RunWarning(
            "long_sentences", f"Sentences so long that classifiers read only their beginning: in {long:,} {n}."
        )
    if foreign := int(texts["text"].map(_is_in_another_script).sum()):
        yield RunWarning(
            "other_script", f"Not in Latin script, which the classifiers were trained on: {foreign:,} {n}."
        )


def _is_in_another_script(text: str) -> bool:
    letters = [character for character in text if character.isalpha()]
    return bool(letters) and sum(character < "\u0250" for character in letters) < LATIN_SHARE * len(letters)
