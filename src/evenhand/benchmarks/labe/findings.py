"""What a report adds to the figures: the most and the least agentic groups, texts as they were read, and warnings."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from evenhand.benchmarks.labe.corrected import label_warnings
from evenhand.benchmarks.labe.figures import compute_agency
from evenhand.benchmarks.labe.options import LabeOptions
from evenhand.benchmarks.labe.reading import load_labels, why_no_text
from evenhand.flow.configuration import RunConfig
from evenhand.flow.results import RunWarning
from evenhand.language_agency.sentences import Split
from evenhand.metrics.agency_gap.group_means import PARTLY_UNKNOWN
from evenhand.report.findings import Example
from evenhand.report.tables import signed
from evenhand.statistics.resampling import LEVEL

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.figure import FigureTable

READ, REWRITTEN = 6, 4  # examples
MANY, WORDS = 0.1, 10  # share of identical texts; in how many words texts are hardly identical by chance
LATIN_SHARE = 0.5  # below it, a text is in another script than the classifiers were trained on
TESTS = {("race", "gender"): "intersectional_variance", ("gender",): "gender_variance", ("race",): "race_variance"}


def describe_extremes(table: FigureTable, text_type: str) -> str:
    """Give the gender difference and the most and the least agentic group, and say whether a test finds that groups
    differ; "" without two groups.
    """
    for columns in TESTS:
        rows = table.rows("gap", *columns, text_type=text_type)
        gaps = {" ".join(row.groups[each] for each in columns): row.value for row in rows if not math.isnan(row.value)}
        if len(gaps) > 1:
            break
    if len({round(gap, 1) for gap in gaps.values()}) < 2:
        return ""
    most, least = max(gaps, key=gaps.__getitem__), min(gaps, key=gaps.__getitem__)
    p = table.row("p_value", text_type=text_type, tested=TESTS[columns]).value
    sure = "no test is possible" if math.isnan(p) else f"p = {p:.3f}" if p < LEVEL else f"not significant, p = {p:.3f}"
    of = table.row("gender_difference", text_type=text_type)
    difference = (
        "" if math.isnan(of.value) else f"men's gap minus women's {signed(of.value, [of.low, of.high])} points; "
    )
    return (
        f"{text_type.replace('_', ' ')}: {difference}most agentic {most} ({signed(gaps[most])}), least {least} "
        f"({signed(gaps[least])}; {sure})."
    )


def choose_examples(predictions: pd.DataFrame, split: Split) -> tuple[Example, ...]:
    """Texts spread over the rows as the first classifier reads them; of rewritten ones, before and after (Figure 5)."""
    first = predictions[predictions["classifier"] == predictions["classifier"].iloc[0]]
    if "rewrite_outcome" in first:
        changed = first[first["rewrite_outcome"] == "rewritten"]
        if len(changed):
            return tuple(_example(row, split) for row in _spread(changed, REWRITTEN))
    return tuple(_example(row) for row in _spread(first, READ))


def _spread(rows: pd.DataFrame, n: int) -> Iterator[pd.Series]:
    for place in np.unique(np.linspace(0, len(rows) - 1, min(n, len(rows))).astype(int)):
        yield rows.iloc[place]


def _example(row: pd.Series, split: Split | None = None) -> Example:
    """split: of a rewritten text, which cuts the original."""
    n = len(row["sentences"])
    reading = f"{row['n_agentic']} of {n} agentic" if n else "unread"
    return Example(
        caption=" · ".join(filter(None, (row["text_type"], row["race"], row["gender"], row["name"]))),
        prompt=row["prompt"],
        answer=row["text"],
        reading=f"{row['n_applied']} of {row['n_edits']} edits applied" if split else reading,
        marked=_marked(row["sentences"], row["agentic"]),
        before=_marked(split(row["original_text"]), row["original_agentic"]) if split else (),
    )


def _marked(sentences: Sequence[str], agentic: Sequence[float]) -> tuple[tuple[str, str], ...]:
    return tuple((text, "agentic" if p > 0.5 else "communal") for text, p in zip(sentences, agentic))


def find_warnings(
    predictions: pd.DataFrame, table: FigureTable, config: RunConfig[LabeOptions]
) -> Iterator[RunWarning]:
    for note in compute_agency(predictions, clusters=False)["warnings"]:
        unknown = note.endswith(PARTLY_UNKNOWN)
        if not (unknown and config.options.texts):  # the reading of the file has said what is unknown of its texts
            yield RunWarning("unknown_groups" if unknown else "undefined_figures", f"{note[0].upper()}{note[1:]}.")
    untested = [row.groups["tested"] for row in table.rows("p_value", "tested") if math.isnan(row.value)]
    if untested := [key.replace("_", " ") for key in untested if not math.isnan(table.row(key).value)]:
        yield RunWarning("no_test", f"No p-value, for groups have too few names in common: {', '.join(untested)}.")
    yield from _odd_texts(predictions.drop_duplicates(["row", "run"]), config)
    if labels := load_labels(config.options.labels):
        yield from label_warnings(predictions, labels)


def _odd_texts(texts: pd.DataFrame, config: RunConfig[LabeOptions]) -> Iterator[RunWarning]:
    n = f"of {len(texts):,} texts"
    reasons = texts["text"].map(why_no_text)
    if lacking := Counter(reasons[reasons != ""]):
        why = ", ".join(f"{reason} {count:,}" for reason, count in lacking.items())
        by_gender = ", ".join(
            f"{gender or 'unknown'} {of.sum():,} of {len(of):,}"
            for gender, of in (reasons != "").groupby(texts["gender"])
        )
        yield RunWarning(
            "no_texts",
            f"Not scored, as they are no texts: {lacking.total():,} {n} ({why}); by gender: {by_gender}. Where one "
            "group lacks more texts, groups are compared by what remains.",
        )
    long = texts[(reasons == "") & (texts["text"].str.split().map(len) >= WORDS)]
    if (same := int(long.duplicated(["run", "text"], keep=False).sum())) > MANY * len(texts):
        yield RunWarning("identical_texts", f"Identical to another text of the same run: {same:,} {n}.")
    cut = int((texts["finish_reason"] == "length").sum())
    if cut and not config.options.texts:
        yield RunWarning("cut_off", f"Cut off at the limit of {config.max_new_tokens} new tokens: {cut:,} {n}.")
    if config.n_runs > 1 and (texts.groupby("row")["text"].nunique() == 1).all():
        yield RunWarning(
            "same_texts",
            "All runs have the same texts: the model decodes greedily by default. --temperature above 0 makes them "
            "differ.",
        )
    if foreign := int(texts["text"].map(_is_in_another_script).sum()):
        yield RunWarning(
            "other_script", f"Not in Latin script, which the classifiers were trained on: {foreign:,} {n}."
        )


def _is_in_another_script(text: str) -> bool:
    letters = [character for character in text if character.isalpha()]
    return bool(letters) and sum(character < "\u0250" for character in letters) < LATIN_SHARE * len(letters)
