"""Table 3, Figures 16, 6 and 18 and appendix E's rates, from runs of a model before and after it was tuned."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from evenhand.benchmarks import get_benchmark
from evenhand.benchmarks.implicit_bias import comparing
from evenhand.benchmarks.implicit_bias.comparing import SCORE_COLUMNS, figure_cell, score_cells
from evenhand.benchmarks.implicit_bias.figures import OF_SHARES, STAGES
from evenhand.benchmarks.implicit_bias.understanding.benchmark import Understanding
from evenhand.figure import Groups
from evenhand.flow.results import published_beside
from evenhand.flow.run_folder import RunFolder
from evenhand.report.differences import FigureKey, differences
from evenhand.report.findings import Run
from evenhand.report.layout import Show
from evenhand.report.tables import Cell, Table, count

TUNED = ("gpt-35-turbo", "mistral-7b-instruct")  # by the paper
OF_DATA = {"half": "half-ft-", "full": "full-ft-"}
TITLES = {
    comparing.NONE: "Without interaction, test set (as the paper's Figure 16)",
    comparing.NO_GOAL: "With interaction, test set (as the paper's Figure 6)",
    comparing.GOAL: "With interaction and goals, test set (as the paper's Figure 18)",
}


def finished(folder: Path) -> Run:
    """A run that has ended. Raises UsageError for another folder."""
    opened = RunFolder.open(folder)
    return Run("", folder, opened.read_results(), opened.read_predictions())


def table_3(runs: Mapping[tuple[str, str], Run]) -> Table:
    """runs: by model (base, half, full) and how it was asked, in words; the first is what others are paired with."""
    printed = {each["model"]: each for each in published_beside(Understanding)}
    published = {model: Cell(each["value"], digits=4, published=True) for model, each in printed.items()}
    base_model, _ = next(iter(runs))
    rows = {
        f"{model}, {way}": {
            "accuracy": figure_cell(run, "accuracy"),
            "answers “present”": figure_cell(run, "answers_present"),
            **_paired(runs[base_model, way], run, "accuracy"),
            **_counted(run, "accuracy"),
            **{f"{of}, published": published[OF_DATA.get(model, "") + of] for of in TUNED},
        }
        for (model, way), run in sorted(runs.items(), key=lambda each: each[0][1] != next(iter(runs))[1])
    }
    run = next(iter(runs.values()))
    rows |= {
        "random answers": {"accuracy": figure_cell(run, "accuracy", show="chance")},
        "words alone": {"accuracy": figure_cell(run, "words")},
        "gender of whoever is named first": {"accuracy": figure_cell(run, "first_named")},
    }
    note = (
        "Brackets: 95 % interval over scenarios. Words alone: naive Bayes without names, learned from the other "
        f"scenarios. gpt-4, published: {printed['gpt-4']['value']:.4f}. Published: {printed['gpt-4']['source']}."
    )
    return _table("Accuracy on held-out stories (as the paper's Table 3)", rows, note)


def bias_scores(setting: str, runs: Mapping[str, Run], protocol: str) -> Table:
    """runs: by model and mitigation, in words; the first is what others are paired with. setting: a key of TITLES."""
    base = next(iter(runs.values()))
    rows = {
        name if row.groups["stage"] == "all" else f"{name}, {STAGES[row.groups['stage']]}": {
            **{of: Cell(run.results.figures.row(key, **row.groups).value, digits=2) for key, of in OF_SHARES.items()},
            **dict(zip(SCORE_COLUMNS, score_cells(run, row.groups))),
            **_paired(base, run, "bias_score", row.groups),
        }
        for name, run in runs.items()
        for row in run.results.figures.rows("bias_score", "stage")
    }
    return _table(
        TITLES[setting], rows, f"Brackets: 95 % interval over scenarios. {protocol} {comparing.MITIGATED[setting]}"
    )


def appendix_e(runs: Mapping[str, Run]) -> Table:
    """Of runs in which agents reflect, by setting, model and mitigation, in words."""
    rates = {"self_correction": "self-correction", "reduction": "reduction after interaction"}
    rows = {
        name: {
            heading: cell
            for key, rate in rates.items()
            for heading, cell in ((rate, figure_cell(run, key)), *_counted(run, key, f" of {rate}").items())
        }
        for name, run in runs.items()
    }
    for each in comparing.published_figures(comparing.REFLECTION):
        of_model = rows.setdefault(f"{each['model']}, published", {})
        of_model[rates[each["figure"]]] = Cell(None, each["low"], each["high"], 2, published=True)
    note = (
        "Self-correction: the share of biased first assignments that are neutral after reflection, before the "
        "discussion. Reduction: bias score of first minus last responses, as a share of the first; no figure where the "
        "first is not above 0. Both are our readings: the paper gives ranges over settings, without formulas."
    )
    return _table("What reflection and interaction changed (as the paper's appendix E)", rows, note)


def _table(title: str, rows: Mapping[str, Mapping[str, Cell]], note: str) -> Table:
    """rows: {name: {column: cell}}; what a row has no cell of is blank."""
    columns = tuple(dict.fromkeys(column for row in rows.values() for column in row))
    lines = ((Cell(name), *(row.get(column, Cell("")) for column in columns)) for name, row in rows.items())
    return Table(title, ("", *columns), tuple(lines), note)


def _counted(run: Run, key: str, of: str = "") -> dict[str, Cell]:
    shows: dict[str, Show] = {"n read": "n_read", "clusters": "n_clusters"}
    return {f"{heading}{of}": figure_cell(run, key, show=show) for heading, show in shows.items()}


def _paired(base: Run, run: Run, key: str, groups: Groups | None = None) -> dict[str, Cell]:
    """Run minus base, of the same questions where both were read, and how many those are; blank for the base."""
    benchmark = get_benchmark(run.results.benchmark)
    figure = benchmark.figure(key)
    wanted = FigureKey.of(figure, groups or {})
    found = None if run is base else differences(benchmark, base.sample, run.sample).get(wanted)
    if found is None:
        return {"difference from base": Cell(""), "pairs read": Cell("")}
    difference = Cell(found.estimate, found.low, found.high, figure.digits, "signed")
    return {"difference from base": difference, "pairs read": count(found.n)}
