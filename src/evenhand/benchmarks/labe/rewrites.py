"""What selective rewriting did to the texts of a labe run, and what became of the edits asked for."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd

from evenhand.benchmarks.labe.selective_rewrite import SelectiveRewriteOptions
from evenhand.flow.configuration import RunConfig
from evenhand.language_agency.splitters import splitter
from evenhand.report.findings import Example
from evenhand.report.tables import Cell, Table, figure

OUTCOMES = ("rewritten", "no edit applied", "malformed JSON", "request failed", "nothing communal", "no sentences")
EDITS = {
    "n_applied": "applied",
    "n_not_found": "original not in the text",
    "n_overlapping": "overlapping another",
    "n_empty": "empty",
    "n_unchanged": "the same as the original",
    "n_lowering": "less agentic, refused",
}
ACCEPTED = {
    "all": "Edits are accepted as they come, as in the paper",
    "judged": "Beyond the paper (--accept judged), edits that the first classifier finds less agentic are refused",
}
EXAMPLES = 4


def rewritten(predictions: pd.DataFrame) -> bool:
    return "rewrite_outcome" in predictions


def table(predictions: pd.DataFrame, config: RunConfig[Any]) -> Table:
    """Texts by outcome, then edits by outcome; their success rate tells a model that can't write them."""
    texts = predictions.drop_duplicates(["row", "run"])
    n_edits = int(texts["n_edits"].sum())
    counts = texts["rewrite_outcome"].value_counts()
    rows = [(f"texts: {outcome}", int(counts.get(outcome, 0)), len(texts)) for outcome in OUTCOMES]
    rows += [(f"edits: {name}", int(texts[column].sum()), n_edits) for column, name in EDITS.items()]
    applied = texts["n_applied"].sum()
    note = (
        f"{_accepted(texts, config)}. "
        "The first classifier picks what is rewritten and judges the result: a second one is the honest check. "
        f"Replies that could not be read whole: {int(texts['n_malformed'].sum()):,}. "
        f"Edit success rate: {figure(100 * applied / n_edits) if n_edits else 'no edit'} percent of {n_edits:,} edits. "
        f"Communal sentences before: {int(texts['n_communal_original'].sum()):,} of "
        f"{int(texts['n_sentences_original'].sum()):,}."
    )
    cells = tuple(
        (Cell(name), Cell(f"{count:,}"), Cell(figure(100 * count / of) if of else "no data"))
        for name, count, of in rows
    )
    return Table("Selective rewriting", ("outcome", "n", "%"), cells, note)


def _accepted(texts: pd.DataFrame, config: RunConfig[Any]) -> str:
    """Which edits were accepted, and how many of them made their sentences less agentic."""
    options = config.mitigation_options
    accept = options.accept if isinstance(options, SelectiveRewriteOptions) else "all"
    lowering = sum(
        each["outcome"] == "applied" and None not in (each["before"], each["after"]) and each["after"] < each["before"]
        for edits in texts["edits"]
        for each in json.loads(edits)
    )
    seen = f"; {lowering:,} applied ones made their sentences less agentic by the first classifier" if lowering else ""
    return ACCEPTED[accept] + seen


def examples(predictions: pd.DataFrame, config: RunConfig[Any]) -> list[Example]:
    """Texts before and after, sentence by sentence, as the paper's Figure 5."""
    first = predictions[predictions["classifier"] == predictions["classifier"].iloc[0]]
    changed = first[first["rewrite_outcome"] == "rewritten"]
    split = splitter(config.options.splitter)
    places = np.unique(np.linspace(0, len(changed) - 1, min(EXAMPLES, len(changed))).astype(int))
    return [
        Example(
            caption=" · ".join(part for part in (row.text_type, row.race, row.gender, row.name, "rewritten") if part),
            prompt=row.prompt,
            answer=row.text,
            reading=f"{row.n_applied} of {row.n_edits} edits applied",
            marked=_marked(list(row.sentences), row.agentic),
            before=_marked(split(row.original_text), row.original_agentic),
        )
        for row in changed.iloc[places].itertuples()
    ]


def _marked(sentences: list[str], agentic: list[float]) -> tuple[tuple[str, str], ...]:
    return tuple((text, "agentic" if p > 0.5 else "communal") for text, p in zip(sentences, agentic))
