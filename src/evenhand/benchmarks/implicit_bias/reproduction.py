"""Table 3, Figures 16, 6 and 18 and appendix E's rates, from runs of a model before and after it was tuned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from evenhand.benchmarks import get_benchmark
from evenhand.benchmarks.implicit_bias.comparing import GOAL, MITIGATED, NO_GOAL, NONE, REFLECTION, published_figures
from evenhand.benchmarks.implicit_bias.figures import OF_SHARES, STAGES
from evenhand.benchmarks.implicit_bias.understanding.benchmark import Understanding
from evenhand.figure import Groups
from evenhand.flow.run_folder import RunFolder
from evenhand.published import published_beside
from evenhand.report.differences import FigureKey, differences
from evenhand.report.findings import Run
from evenhand.report.layout import Show, shown
from evenhand.report.tables import Cell, Table

TUNED = ("gpt-35-turbo", "mistral-7b-instruct")  # by the paper
OF_DATA = {"half": "half-ft-", "full": "full-ft-"}
NOT_PRINTED = "drawn, not printed"
# What the text says of Figures 6 and 18 (sections 6.3 and D.3): the lowest score of each tuned model.
LOWEST = {
    (NO_GOAL, "fine-tuned, self-reflection with examples"): "0.01 (gpt-35-turbo); mistral's lowest of all: 0.16",
    (GOAL, "fine-tuned, self-reflection with examples"): "gpt-35-turbo's lowest; mistral's lowest of all: 0.06",
}
TITLES = {
    NONE: "Without interaction, test set (as the paper's Figure 16)",
    NO_GOAL: "With interaction, test set (as the paper's Figure 6)",
    GOAL: "With interaction and goals, test set (as the paper's Figure 18)",
}
NO_CELL = Cell("")
COUNTED = ("pairs read", "n read", "n", "clusters")


def finished(folder: Path) -> Run:
    """A run that has ended. Raises UsageError for another folder."""
    opened = RunFolder.open(folder)
    return Run("", folder, opened.read_results(), opened.read_predictions())


def table_3(runs: Mapping[tuple[str, str], Run]) -> Table:
    """runs: by model (base, half, full) and how it was asked, in words; the first is what others are paired with."""
    printed = {each["model"]: each for each in published_beside(Understanding)}
    base_model, _ = next(iter(runs))
    rows: list[tuple[Cell, ...]] = []
    for way in dict.fromkeys(way for _, way in runs):
        for model, run in ((model, run) for (model, asked), run in runs.items() if asked == way):
            of_tuned = (printed[OF_DATA.get(model, "") + of]["value"] for of in TUNED)
            rows.append(
                (
                    Cell(f"{model}, {way}"),
                    _cell(run, "accuracy"),
                    _cell(run, "answers_present"),
                    *_paired(runs[base_model, way], run, "accuracy"),
                    *_counts(run, "accuracy"),
                    *(Cell(value, digits=4, published=True) for value in of_tuned),
                )
            )
    any_run = next(iter(runs.values()))
    beside = {
        "random answers": _cell(any_run, "accuracy", show="chance"),
        "words alone": _cell(any_run, "words"),
        "gender of whoever is named first": _cell(any_run, "first_named"),
    }
    columns = (
        "",
        "accuracy",
        "answers “present”",
        "difference from base",
        *COUNTED,
        *(f"{of}, published" for of in TUNED),
    )
    rows += [(Cell(name), cell, *[NO_CELL] * (len(columns) - 2)) for name, cell in beside.items()]
    note = (
        "Brackets: 95 % interval over scenarios. Words alone: naive Bayes without names, learned from the other "
        f"scenarios. gpt-4, published: {printed['gpt-4']['value']:.4f}. Published: {printed['gpt-4']['source']}."
    )
    return Table("Accuracy on held-out stories (as the paper's Table 3)", columns, tuple(rows), note)


def bias_scores(setting: str, runs: Mapping[str, Run], protocol: str) -> Table:
    """runs: by model and mitigation, in words; the first is what others are paired with. setting: a key of TITLES."""
    base = next(iter(runs.values()))
    rows = []
    for name, run in runs.items():
        for row in run.results.figures.rows("bias_score", "stage"):
            stage, groups = row.groups["stage"], row.groups
            rows.append(
                (
                    Cell(name if stage == "all" else f"{name}, {STAGES[stage]}"),
                    *(Cell(run.results.figures.row(key, **groups).value, digits=2) for key in OF_SHARES),
                    _cell(run, "bias_score", groups),
                    _cell(run, "bias_score", groups, "chance"),
                    _cell(run, "expected_bias_score", groups),
                    *_paired(base, run, "bias_score", groups),
                    *_counts(run, "bias_score", groups),
                    Cell(LOWEST.get((setting, name), NOT_PRINTED) if stage in ("all", "last") else NOT_PRINTED),
                )
            )
    columns = (
        "",
        *OF_SHARES.values(),
        "bias score",
        "chance",
        "expected",
        "difference from base",
        *COUNTED,
        "published",
    )
    note = f"Brackets: 95 % interval over scenarios. {protocol} {MITIGATED[setting]}"
    return Table(TITLES[setting], columns, tuple(rows), note)


def appendix_e(runs: Mapping[str, Run]) -> Table:
    """Of runs in which agents reflect, by setting, model and mitigation, in words."""
    rates = ("self_correction", "reduction")
    rows = [
        (Cell(name), *(cell for key in rates for cell in (_cell(run, key), *_counts(run, key)[::2])))
        for name, run in runs.items()
    ]
    ranges = {(each["model"], each["figure"]): (each["low"], each["high"]) for each in published_figures(REFLECTION)}
    for model in dict.fromkeys(model for model, _ in ranges):
        ends = (ranges.get((model, key), (None, None)) for key in rates)
        cells = (Cell(None, *each, digits=2, published=True, missing="") for each in ends)
        rows.append((Cell(f"{model}, published"), *(cell for each in cells for cell in (each, NO_CELL, NO_CELL))))
    note = (
        "Self-correction: the share of biased first assignments that are neutral after reflection, before anybody "
        "discusses. Reduction: bias score of first minus last responses, as a share of the first; no figure where the "
        "first is not above 0. Both are our readings: the paper gives ranges over settings, without formulas."
    )
    counted = ("n read", "clusters")
    columns = ("", "self-correction", *counted, "reduction after interaction", *counted)
    return Table("What reflection and interaction changed (as the paper's appendix E)", columns, tuple(rows), note)


def _cell(run: Run, key: str, groups: Groups | None = None, show: Show = "value") -> Cell:
    row = run.results.figures.row(key, **(groups or {}))
    of = get_benchmark(run.results.benchmark).figure(key)
    return shown(row, of, show) if row.figure else NO_CELL


def _counts(run: Run, key: str, groups: Groups | None = None) -> tuple[Cell, ...]:
    """Answers read, all answers, and clusters."""
    shows: tuple[Show, ...] = ("n_read", "n", "n_clusters")
    return tuple(_cell(run, key, groups, show) for show in shows)


def _paired(base: Run, run: Run, key: str, groups: Groups | None = None) -> Iterator[Cell]:
    """Run minus base, of the same questions where both were read, and how many those are; blank for the base."""
    benchmark = get_benchmark(run.results.benchmark)
    figure = benchmark.figure(key)
    wanted = FigureKey.of(figure, groups or {})
    found = None if run is base else differences(benchmark, base.sample, run.sample).get(wanted)
    if found is None:
        yield from (NO_CELL, NO_CELL)
    else:
        yield Cell(found.estimate, found.low, found.high, figure.digits, "signed")
        yield Cell(found.n, style="count")
