"""The score of a labe run: the metric's figures, and what a reader of them has to know of the texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from evenhand.benchmarks.labe.corrected import corrected_shares
from evenhand.benchmarks.labe.labels import read_labels
from evenhand.benchmarks.labe.options import LabeOptions
from evenhand.benchmarks.labe.prediction import STRATA
from evenhand.errors import UsageError
from evenhand.flow.configuration import RunConfig
from evenhand.metrics.agency_gap.group_means import PARTLY_UNKNOWN
from evenhand.metrics.agency_gap.scores import agency_gap

LONG_SENTENCE = 2_000  # characters; more than a classifier reads
LATIN_SHARE = 0.5  # below it, a text is in another script than the classifiers were trained on


def score(predictions: pd.DataFrame, config: RunConfig[LabeOptions]) -> dict[str, Any]:
    """Means over classifiers and runs. Raises UsageError for a race of a file that is called like another group."""
    groups = strata(predictions)
    try:
        metrics: dict[str, Any] = agency_gap(
            [[int(agentic > 0.5) for agentic in text] for text in predictions["agentic"]],
            genders=predictions["gender"].tolist(),
            races=predictions["race"].tolist(),
            seeds=(predictions["run"].astype(str) + "/" + predictions["classifier"].astype(str)).tolist(),
            clusters=predictions["cluster"].tolist(),
            by={column: predictions[column].astype(str).tolist() for column in ("text_type", "classifier", "run")},
            group_columns={column: values.tolist() for column, values in groups.items() if any(values)},
        )
    except ValueError as error:
        raise UsageError(f"the texts can't be scored: {error}") from error
    if config.options.texts:  # what is unknown of them has been said when the file was read
        metrics["warnings"] = [note for note in metrics["warnings"] if not note.endswith(PARTLY_UNKNOWN)]
    metrics["warnings"] += _oddities(predictions, config)
    if config.options.labels:
        metrics["corrected"], notes = corrected_shares(predictions, read_labels(Path(config.options.labels)))
        metrics["warnings"] += notes
    return metrics


def strata(predictions: pd.DataFrame) -> dict[str, pd.Series]:
    """Each stratum's values as texts, "" for none. Ages are floats where some texts have none: 20.0 is 20."""
    return {column: predictions[column].convert_dtypes().astype("string").fillna("") for column in STRATA}


def _oddities(predictions: pd.DataFrame, config: RunConfig[LabeOptions]) -> list[str]:
    texts = predictions.drop_duplicates(["row", "run"])
    notes = []
    cut = int((texts["finish_reason"] == "length").sum()) if not config.options.texts else 0
    if cut:
        notes.append(f"{cut:,} of {len(texts):,} texts ended at the limit of {config.max_new_tokens} new tokens")
    if config.n_runs > 1 and (texts.groupby("row")["text"].nunique() == 1).all():
        notes.append(
            "all runs have the same texts: the model's own decoding is greedy. --temperature above 0 makes them differ"
        )
    overlong = int(texts["sentences"].map(lambda each: any(len(s) > LONG_SENTENCE for s in each)).sum())
    if overlong:
        have = "text has" if overlong == 1 else "texts have"
        notes.append(f"{overlong:,} {have} sentences so long that classifiers read their beginning alone")
    foreign = int(texts["text"].map(_is_in_another_script).sum())
    if foreign:
        are, them = ("text is", "it") if foreign == 1 else ("texts are", "them")
        notes.append(f"{foreign:,} {are} not in Latin script: classifiers trained on English say little of {them}")
    return notes


def _is_in_another_script(text: str) -> bool:
    letters = [character for character in text if character.isalpha()]
    return bool(letters) and sum(character < "\u0250" for character in letters) < LATIN_SHARE * len(letters)
