"""What a labe run found: LABE's Tables 1 and 16 to 27 and Figure 3, measured."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from evenhand.benchmarks.labe import rewrites
from evenhand.benchmarks.labe.published import differs
from evenhand.flow.configuration import RunConfig
from evenhand.flow.results import Results
from evenhand.language_agency.splitters import SPLITTERS
from evenhand.report.findings import Example, Findings, Plot, whiskers
from evenhand.report.plots import grouped_bars
from evenhand.report.tables import Cell, Table, clusters_of, figure, named_clusters, signed
from evenhand.statistics.resampling import LEVEL

VARIANCES = {
    "gender_variance": "gender",
    "race_variance": "race",
    "intersectional_variance": "intersectional",
    "overall": "overall",
}
EXAMPLES = 6
RIGHT = {"sensitivity": "n_agentic", "specificity": "n_other"}
PLOTTED = 12  # races; a file may have hundreds
Metrics = Mapping[str, Any]


def findings(predictions: pd.DataFrame, results: Results) -> Findings:
    metrics = results.metrics
    unit = "name" if (predictions["name"].fillna("") != "").any() else "text"
    rewritten = rewrites.rewritten(predictions)
    config = RunConfig.from_json(results.config)
    edits = [rewrites.table(predictions, config)] if rewritten else []
    return Findings(
        sentences=tuple(_sentence(name, of, results) for name, of in metrics["by"]["text_type"].items()),
        tables=(
            _table_1(results, unit),
            *edits,
            _differences(results),
            _groups(results),
            *_corrected(results),
            _classifiers(results),
        ),
        exploratory=tuple(_strata(results)),
        plots=_plots(results, unit),
        examples=tuple((rewrites.examples(predictions, config) if rewritten else []) or _examples(predictions)),
        warnings=tuple(metrics["warnings"]),
    )


def _sentence(text_type: str, metrics: Metrics, results: Results) -> str:
    """A text type in a sentence: the overall variance, its interval and chance, the gender difference, the extremes."""
    what = text_type.replace("_", " ")
    key = "overall" if _known(metrics["overall"]) else "gender_variance"
    if not _known(metrics[key]):
        read, n = _n_texts(metrics["n_read"], results), _texts(metrics["n"], results)
        return f"{results.model_name}, {what}: no score, for which it takes two groups; {read:,} of {n} read."
    variance = figure(metrics[key], _interval(metrics, key))
    difference = figure(metrics["gender_difference"], _interval(metrics, "gender_difference"))
    return (
        f"{results.model_name}, {what}: {VARIANCES[key]} variance of the agentic-communal gap {variance}, where "
        f"a model that treats all groups alike would score about {figure(metrics['chance'][key])} on these texts and "
        f"0 is best; men's gap minus women's {difference} points. {_texts(metrics['n_read'], results)} read "
        f"({100 * metrics['unread_rate']:.1f} percent unread).{_extremes(metrics)}"
    )


def _extremes(metrics: Metrics) -> str:
    """Which group is the most agentic and which the least, and whether a test says that groups differ at all."""
    known = {name: of["gap"] for name, of in metrics["groups"].items() if _known(of["gap"])}
    races = metrics["gender_difference_by_race"]
    both = {name: gap for name, gap in known.items() if " " in name and name not in races}
    groups = both or known
    if len({round(gap, 1) for gap in groups.values()}) < 2:
        return ""
    most, least = max(groups, key=groups.__getitem__), min(groups, key=groups.__getitem__)
    key = "intersectional_variance" if both else "race_variance" if set(known) <= set(races) else "gender_variance"
    p = metrics["p_values"].get(key)
    sure = "chance may do that: no test is possible"
    if _known(p):
        sure = f"groups differ (p {p:.3f})" if p < LEVEL else f"chance may do that (p {p:.3f})"
    return f" Most agentic: {most} ({signed(groups[most])}), least: {least} ({signed(groups[least])}); {sure}."


def _table_1(results: Results, unit: str) -> Table:
    """unit: "name" or "text", which is drawn anew."""
    people, unit = ("people's names" if unit == "name" else "texts, for nobody is named"), f"{unit}s"
    metrics, published = results.metrics, results.published
    rows = []
    for text_type, of in metrics["by"]["text_type"].items():
        figures = (Cell(figure(of[key], _interval(of, key))) for key in VARIANCES)
        n = f"{_n_texts(of['n'], results):,} ({clusters_of(of)})"
        rows.append((Cell(text_type), *figures, Cell(n), _percent(of["unread_rate"])))
        rows.append((Cell(" chance"), *(Cell(figure(of["chance"][key])) for key in VARIANCES), Cell(""), Cell("")))
        rows.append(
            (Cell(" p"), *(Cell(figure(of["p_values"][key], digits=3)) for key in VARIANCES), Cell(""), Cell(""))
        )
        for model, printed in published.get("variances", {}).items():
            texts = (f" {model}, published", *(f"{printed[text_type][key]:.2f}" for key in VARIANCES), "", "")
            rows.append(tuple(Cell(text, published=True) for text in texts))
    note = (
        f"{results.model_name}. Squared points; 0 is best. Brackets: 95 % interval, bootstrap over {people}. "
        f"Chance: mean over permutations of the groups over {unit}; p: the share of them in which groups differ at "
        "least as much, measured in their noise, or that of draws in which noise alone differs, if larger. "
        f"Sentences are cut by {SPLITTERS[RunConfig.from_json(results.config).options.splitter]}. "
    )
    note += _published(results) or f"Not beside the paper's figures: {_why_not(results)}."
    return Table(
        "Variance of the agentic-communal gap between groups",
        ("text type", *VARIANCES.values(), "n (clusters)", "unread %"),
        tuple(rows),
        note,
    )


def _published(results: Results) -> str:
    """What the published rows are of; empty where there are none."""
    return f"Published: {results.published['source']}." if results.published else ""


def _why_not(results: Results) -> str:
    """By what it was run, and for what was known of its rows and its mitigation then."""
    helpers = {each["name"]: each["trained"] for each in results.helpers}
    return "; ".join(dict.fromkeys((*differs(RunConfig.from_json(results.config), helpers), *results.differs)))


def _differences(results: Results) -> Table:
    rows = []
    for text_type, of in results.metrics["by"]["text_type"].items():
        races = {race: value for race, value in of["gender_difference_by_race"].items() if _known(value)}
        by_race = ", ".join(f"{race} {signed(value)}" for race, value in races.items())
        male, female = (figure(of["groups"].get(gender, {}).get("gap")) for gender in ("male", "female"))
        difference = figure(of["gender_difference"], _interval(of, "gender_difference"))
        p = figure(of["p_values"].get("gender_difference"), digits=3)
        rows.append(tuple(Cell(text) for text in (text_type, male, female, difference, p, by_race)))
        for model, printed in results.published.get("differences", {}).items():
            if text_type in printed:
                texts = (f" {model}, published", "", "", f"{printed[text_type]:.2f}", "", "")
                rows.append(tuple(Cell(text, published=True) for text in texts))
    columns = ("text type", "male gap", "female gap", "male − female", "p", "by race")
    note = f"Gaps in points, of −100 (communal) to 100 (agentic). {_published(results)}"
    return Table("Gender difference", columns, tuple(rows), note.strip())


def _groups(results: Results) -> Table:
    published = results.published.get("gaps", {})
    rows = tuple(
        (
            Cell(f"{text_type}: {name}"),
            Cell(figure(group["agentic"])),
            Cell(figure(group["communal"])),
            Cell(figure(group["gap"], of["intervals"].get("groups", {}).get(name, {}).get("gap"))),
            Cell(f"{_n_texts(group['n'], results):,}"),
            *(_published_gap(printed.get(text_type, {}).get(name)) for printed in published.values()),
        )
        for text_type, of in results.metrics["by"]["text_type"].items()
        for name, group in of["groups"].items()
    )
    columns = ("group", "agentic sentences, %", "communal, %", "gap", "texts read")
    note = (
        f"Means over texts of each text's shares. Brackets: 95 % interval. {_published(results) if published else ''}"
    )
    return Table("Groups", (*columns, *(f"{model}, published gap" for model in published)), rows, note.strip())


def _corrected(results: Results) -> tuple[Table, ...]:
    """Agentic shares as people would have labelled them, where they labelled some; none where that can't be said."""
    rows, errors = [], []
    for classifier, of in results.metrics.get("corrected", {}).items():
        known = [
            (f"{kind}: {name}" + (f", {classifier}" if len(results.helpers) > 1 else ""), group)
            for kind, groups in of["text_type"].items()
            for name, group in groups.items()
            if _known(group["corrected"])
        ]
        for name, group in known:
            figures = (figure(group["agentic"]), figure(group["corrected"], group["interval"]))
            rows.append(tuple(map(Cell, (name, *figures))))
        if known:
            larger = 1 / (of["sensitivity"] + of["specificity"] - 1)
            right = [f"{figure(100 * of[rate])} % of {of[n]}" for rate, n in RIGHT.items()]
            errors.append(
                f"{classifier} is right on {right[0]} sentences that people call agentic and on {right[1]} others, so "
                f"that groups differ {larger:.2f} times as much as it sees. "
            )
    note = "".join(errors) + (
        "Corrected: as people would have labelled all sentences, if the classifier errs alike whoever a text is about "
        "(Rogan and Gladen; Lee et al. 2025; 95 % interval of profile likelihood, of names and of labels)."
    )
    columns = ("group", "agentic sentences, %", "corrected, %")
    return (Table("Agentic sentences, corrected by people's labels", columns, tuple(rows), note),) if rows else ()


def _published_gap(gap: float | None) -> Cell:
    return Cell("" if gap is None else f"{gap:.2f}", published=True)


def _classifiers(results: Results) -> Table:
    """The score depends on the classifier: what each was trained on, how good it is, and what it says."""
    rows = []
    for helper in results.helpers:
        of = results.metrics["by"]["classifier"][helper["name"]]
        trained = helper["trained"]
        judged = trained.get("judged", {})
        split = "test" if "test" in judged else next(iter(judged), "")
        accuracy = (
            f"{figure(judged[split]['accuracy'], judged[split]['intervals']['accuracy'])} ({split})" if split else ""
        )
        rows.append(
            (
                Cell(helper["name"]),
                Cell(trained.get("data", "unknown")),
                Cell(accuracy or "unknown"),
                *(Cell(figure(of[key])) for key in VARIANCES),
                Cell(figure(of["gender_difference"])),
            )
        )
    return Table(
        "Classifiers",
        ("classifier", "trained on", "accuracy there, %", *VARIANCES.values(), "male − female"),
        tuple(rows),
        "The figures above are means over classifiers and runs. Another classifier shifts all levels: compare runs of "
        "the same one.",
    )


def _strata(results: Results) -> list[Table]:
    """As the paper's Tables 17 and 18: men and women within each occupation, department, age or group."""
    tables = []
    printed = {name.casefold(): each for name, each in results.published.get("strata", {}).items()}
    for text_type, of in results.metrics["by"]["text_type"].items():
        for column, values in of.get("groups_of", {}).items():
            rows = tuple(
                (
                    Cell(value),
                    Cell(figure(group["agentic"])),
                    Cell(figure(group["communal"])),
                    Cell(figure(group["gap"])),
                    Cell(figure(group["gender_difference"])),
                    *([_published_gap(printed.get(value.casefold()))] if printed else []),
                    Cell(f"{_n_texts(group['n'], results):,}"),
                )
                for value, group in values.items()
                if value
            )
            if len(rows) > 1:
                note = f"Variance between them: {figure(of['variances'][column])}. Exploratory: few texts in each."
                note += f" {_published(results)}" if printed else ""
                beside = ("male − female, published",) if printed else ()
                columns = (column, "agentic, %", "communal, %", "gap", "male − female", *beside, "texts read")
                tables.append(Table(f"{text_type} by {column}", columns, rows, note))
    return tables


def _plots(results: Results, unit: str) -> tuple[Plot, ...]:
    plots = []
    for text_type, of in results.metrics["by"]["text_type"].items():
        bars: dict[str, dict[str, tuple[float, list[float | None]]]] = {}
        n_texts: Counter[str] = Counter()
        for name, group in of["groups"].items():
            race, _, gender = name.rpartition(" ")
            if gender in ("male", "female") and _known(group["gap"]):
                interval = of["intervals"].get("groups", {}).get(name, {}).get("gap", [])
                race = race.replace("$", r"\$")  # two dollars would make a formula of it
                bars.setdefault(race or "all", {})[gender] = (group["gap"], interval)
                if race:
                    n_texts[race] += group["n"]
        shown = {"all", *(race for race, _ in n_texts.most_common(PLOTTED))}
        bars = {race: genders for race, genders in bars.items() if race in shown}
        told = whiskers(bars, f"95 % intervals over {named_clusters(of, unit)}")
        note = f"{_texts(of['n_read'], results)} read; {told}."
        if len(n_texts) > PLOTTED:
            note += f" Of {len(n_texts)} races the {PLOTTED} with most texts are drawn."
        if bars:
            plots.append(
                Plot(
                    f"Agentic-communal gap, {text_type.replace('_', ' ')} (as the paper's Figure 3)",
                    partial(grouped_bars, bars, "gap, points", (0.0, "balance"), (-100.0, 100.0)),
                    note,
                )
            )
    return tuple(plots)


def _examples(predictions: pd.DataFrame) -> list[Example]:
    """Texts spread over the rows, as the first classifier reads them."""
    first = predictions[predictions["classifier"] == predictions["classifier"].iloc[0]]
    places = np.unique(np.linspace(0, len(first) - 1, min(EXAMPLES, len(first))).astype(int))
    examples = []
    for row in first.iloc[places].itertuples():
        labels = ["agentic" if agentic > 0.5 else "communal" for agentic in row.agentic]
        person = " · ".join(part for part in (row.text_type, row.race, row.gender, row.name) if part)
        reading = f"{row.n_agentic} of {len(labels)} agentic" if labels else "unread"
        examples.append(Example(person, row.prompt, row.text, reading, tuple(zip(row.sentences, labels))))
    return examples


def _n_texts(readings: int, results: Results) -> int:
    """How many texts were read that often: once by each classifier."""
    return int(readings // len(results.metrics["by"]["classifier"]))


def _texts(readings: int, results: Results) -> str:
    n = _n_texts(readings, results)
    return "1 text" if n == 1 else f"{n:,} texts"


def _percent(share: float) -> Cell:
    return Cell(figure(100 * share))


def _interval(metrics: Metrics, key: str) -> list[float | None]:
    ends: list[float | None] = metrics.get("intervals", {}).get(key) or []
    return ends


def _known(value: float | None) -> bool:
    return value is not None and not math.isnan(value)
