"""What a report shows of labe: LABE's Tables 1 and 16 to 27 and Figure 3, measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from evenhand.benchmarks.labe.figures import VARIANCES
from evenhand.benchmarks.labe.published import DATA
from evenhand.benchmarks.labe.reading import PEOPLE, STRATA, TEXTS
from evenhand.report.findings import Plot
from evenhand.report.layout import Bars, Block, Column, Grid, counts, shown
from evenhand.report.plots import grouped_bars
from evenhand.report.tables import Cell, Table

if TYPE_CHECKING:
    from evenhand.benchmark import Benchmark
    from evenhand.flow.results import Results

GENDERS = ("male", "female")
MOST_SHOWN = 8  # groups in a plot, as in the paper's Figure 6


@dataclass(frozen=True)
class ClassifierTable:
    """The scores depend on the classifier: what each was trained on, how accurate it is, and what it says."""

    exploratory: bool = False

    def build(self, benchmark: Benchmark[Any], results: Results) -> Table:
        keys = (*VARIANCES, "gender_difference")
        rows = []
        for helper in results.helpers:
            trained = helper["trained"]
            split, of = accuracy_on_lac(trained)
            low, high = of["intervals"]["accuracy"]
            accuracy = Cell(of["accuracy"], low, high, missing="unknown")
            measured = [(results.figures.row(key, classifier=helper["name"]), benchmark.figure(key)) for key in keys]
            data = Cell(trained.get("data", "unknown"))
            rows.append((Cell(helper["name"]), data, accuracy, Cell(split), *(shown(*each) for each in measured)))
        return Table(
            "Classifiers",
            ("classifier", "trained on", "accuracy on LAC, %", "split", *VARIANCES.values(), "male − female"),
            tuple(rows),
            "Accuracy: on sentences of LAC, the paper's data, that the classifier was not trained on. The other tables "
            "have means over classifiers and runs. Another classifier shifts all levels: compare runs of the same one.",
        )


@dataclass(frozen=True)
class LargestDifferences:
    """The gaps of men and women in the groups of a file that differ most (the paper's Figure 6)."""

    exploratory: bool = False

    def build(self, benchmark: Benchmark[Any], results: Results) -> Plot | None:
        gaps = {
            group: {
                gender: results.figures.row("gap", text_type=TEXTS, group=group, gender=gender) for gender in GENDERS
            }
            for group in results.figures.values("stratum_gap", "group")
        }
        apart = {group: abs(of["male"].value - of["female"].value) for group, of in gaps.items()}
        largest = sorted((group for group in gaps if apart[group] >= 0), key=lambda group: -apart[group])[:MOST_SHOWN]
        if not largest:
            return None
        bars = {group: {gender: (gaps[group][gender].value, ()) for gender in GENDERS} for group in largest}
        return Plot(
            f"Agentic-communal gap of both genders, the {len(largest)} groups that differ most (the paper's Figure 6)",
            partial(grouped_bars, bars, "gap, points", (0.0, "balance"), (-100.0, 100.0)),
            f"{len(gaps)} groups in all. Those that differ most of many differ in part by chance.",
        )


def accuracy_on_lac(trained: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Return (split, its accuracy and interval) of LAC's sentences that a classifier did not learn from."""
    unknown = {"accuracy": None, "intervals": {"accuracy": (None, None)}}
    if measured := trained.get("lac"):
        return str(measured["split"]), measured
    judged = trained.get("judged", {}) if trained.get("data") == DATA else {}
    split = "test" if "test" in judged else next(iter(judged), "")
    return split, judged.get(split, unknown)


def _gap_grid(title: str, rows: tuple[str, ...]) -> Grid:
    shares = (Column("agentic sentences, %", "agentic"), Column("communal, %", "communal"))
    columns = (*shares, Column("gap", "gap"), Column("texts read", "gap", show="n_read"))
    return Grid(title, rows, columns, published=True, note="Means over texts of each text's shares.")


_TEXT_TYPE = ("text_type",)
_BY = {("gender",): "gender", ("race",): "race", ("race", "gender"): "race and gender"}
_CORRECTED = (
    Column("agentic sentences, %", "agentic_seen"),
    Column("corrected, %", "agentic_corrected"),
    Column("texts", "agentic_corrected", show="n"),
)
_CLASSIFIER_ERRS = (
    "Corrected: as people would have labelled all sentences, if the classifier errs equally whoever a text is about "
    "(Rogan and Gladen; Lee et al. 2025; 95 % interval of profile likelihood, of names and of labels)."
)

LAYOUT: tuple[Block, ...] = (
    Grid(
        "Variance of the agentic-communal gap between groups", _TEXT_TYPE,
        (*(Column(name, key) for key, name in VARIANCES.items()), *counts("overall")), published=True,
        note="Squared points; 0 is best. Intervals by bootstrap over names, or over texts where no one is named.",
    ),
    Grid(
        "Variances that chance gives, and tests", _TEXT_TYPE,
        (
            *(Column(f"{name}, chance", key, show="chance") for key, name in VARIANCES.items()),
            *(Column(f"{name}, p", "p_value", {"tested": key}) for key, name in VARIANCES.items()),
        ),
        note="Chance: mean over permutations of the groups over names. p: share of them in which groups differ at "
        "least as much, measured in their noise, or of draws in which noise alone differs, if larger.",
    ),
    Grid(
        "Gender difference", _TEXT_TYPE,
        (
            *(Column(f"{gender} gap", "gap", {"gender": gender}) for gender in GENDERS),
            Column("male − female", "gender_difference"),
            Column("p", "p_value", {"tested": "gender_difference"}),
        ),
        published=True, note="Gaps in points, from −100 (communal) to 100 (agentic).",
    ),
    Grid("Gender difference by race", ("text_type", "race"), (
        Column("male − female", "gender_difference"), Column("texts read", "gender_difference", show="n_read"),
    ), published=True),
    *(_gap_grid(f"Groups by {name}", (*_TEXT_TYPE, *columns)) for columns, name in _BY.items()),
    Grid("Outcomes of selective rewriting: texts", ("outcome",), (
        Column("% of texts", "rewritten_texts"), Column("texts", "rewritten_texts", show="n"),
    ), note="The first classifier picks what is rewritten and judges the result: a second one is the honest check."),
    Grid("Outcomes of selective rewriting: edits", ("outcome",), (
        Column("% of edits", "edits"), Column("edits", "edits", show="n"),
    ), note="Edits are applied as in the paper, or (--accept judged) unless the first classifier finds "
       "them less agentic."),
    Grid("Selective rewriting in numbers", ("counted",), (Column("number", "rewriting"),)),
    Grid("Errors of classifiers on people's labels", ("classifier",), (
        Column("sensitivity, %", "sensitivity"), Column("labels as agentic", "sensitivity", show="n"),
        Column("specificity, %", "specificity"), Column("other labels", "specificity", show="n"),
    )),
    *(Grid(f"Agentic sentences, corrected by people's labels{f', by {_BY[columns]}' if columns else ''}",
           ("classifier", *_TEXT_TYPE, *columns), _CORRECTED, note="" if columns else _CLASSIFIER_ERRS)
      for columns in ((), *PEOPLE)),
    ClassifierTable(),
    *(Grid(f"By {column}", (*_TEXT_TYPE, column), (
        Column("gap", "stratum_gap"), Column("male − female", "gender_difference"),
        Column("texts read", "stratum_gap", show="n_read"),
    ), published=True, exploratory=True, note="Exploratory: few texts in each.") for column in STRATA),
    Grid("By group and gender", (*_TEXT_TYPE, "group", "gender"), (
        Column("agentic sentences, %", "agentic"), Column("communal, %", "communal"), Column("gap", "gap"),
        Column("texts read", "gap", show="n_read"),
    ), published=True, exploratory=True, note="As the paper's Tables 17 and 18."),
    LargestDifferences(),
    Grid("Variance between strata", (*_TEXT_TYPE, "stratum"), (
        Column("variance", "stratum_variance"), Column("texts read", "stratum_variance", show="n_read"),
    ), exploratory=True),
    *(Bars(f"Agentic-communal gap by {name}, {text_type.replace('_', ' ')} (as the paper's Figure 3)", "gap", race,
           "gender", "gap, points", (-100.0, 100.0), (0.0, "balance"), where={"text_type": text_type})
      for text_type in ("biography", "professor_review", "reference_letter", TEXTS)
      for name, race in (("gender", ""), ("race and gender", "race"))),
)  # fmt: skip
