"""Settings, the paper's figures of them, and runs beside one another by setting (Figures 6, 16, 17 and 18)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.benchmark import Card, Comparing, Publishing
from evenhand.benchmarks import get_benchmark
from evenhand.benchmarks.implicit_bias.figures import STAGES
from evenhand.benchmarks.implicit_bias.interaction import ALONE, LAST_STAGE
from evenhand.figure import NOTHING, FigureRow, FigureTable, Groups
from evenhand.flow.results import read_published
from evenhand.report.findings import Panel, Plot, Run, not_beside_them, whiskers
from evenhand.report.layout import Show, shown
from evenhand.report.tables import Cell, Table

if TYPE_CHECKING:
    from evenhand.flow.results import Results

NONE, NO_GOAL, GOAL = "none", "interaction", "interaction, goal"
REFLECTION = "reflection"
TITLES = {
    NONE: "Bias scores without interaction (as the paper's Figures 16 and 17)",
    NO_GOAL: "Bias scores before and after interaction (as the paper's Figure 6)",
    GOAL: "Bias scores before and after interaction with goals (as the paper's Figure 18)",
}
MITIGATED = {
    NONE: "Published (D.2; the plots print no figures): fine-tuning on the full data gives the lowest scores; "
    "self-reflection lowers them for all models, and turns gpt-4's negative.",
    NO_GOAL: "Published (6.3, D.3; the plot prints no figures): lowest 0.01 (fine-tuned gpt-35-turbo, reflection with "
    "examples) and 0.16 (mistral-7b-instruct); gpt-4 with reflection is below 0.",
    GOAL: "Published (D.3; the plot prints no figures): lowest 0.06 for mistral-7b-instruct; gpt-4 with reflection is "
    "below 0.",
}
"""What the text says of Figures 16 and 17, 6, and 18."""
SCORE_COLUMNS: Mapping[str, tuple[str, Show]] = {
    "bias score": ("bias_score", "value"),
    "chance": ("bias_score", "chance"),
    "expected": ("expected_bias_score", "value"),
    "n": ("bias_score", "n"),
    "clusters": ("bias_score", "n_clusters"),
    "unread, %": ("bias_score", "unread_percent"),
}


def published_figures(setting: str) -> list[dict[str, Any]]:
    """Table 1's figures of a setting as printed, slips included: gpt-4's shares with goal, first response, add up to
    1.166. For reflection, appendix E's ranges over settings, which have no value.
    """
    records = read_published(Path(__file__).with_name("published.csv"), setting=setting)
    for each in records:
        del each["setting"]
    return [{"value": None, **each} for each in records]


def last_score(table: FigureTable) -> FigureRow:
    """The bias score of the last assignments, or the only ones."""
    rows = table.rows("bias_score", "stage")
    return next((row for row in rows if row.groups["stage"] in (LAST_STAGE, ALONE)), NOTHING)


class ImplicitBiasPublishing(Publishing):
    def task(self, groups: Mapping[str, str], configs: Sequence[str], card: Card) -> str:
        """ "scenarios-none", "scenarios-interaction"; "" of other assignments than the last."""
        setting = {ALONE: NONE, LAST_STAGE: NO_GOAL}.get(groups.get("stage", ""))
        return "-".join((*configs, setting)) if setting else ""


class ImplicitBiasComparing(Comparing):
    def panels(self, runs: Sequence[Run]) -> tuple[Panel, ...]:
        """One for each setting, in which models and mitigations differ."""
        by_setting: dict[tuple[str, ...], list[Run]] = {}
        for run in runs:
            by_setting.setdefault(_how_asked(run.results), []).append(run)
        return tuple(Panel(tuple(of), (_table(asked, of),), (_plot(of),)) for asked, of in by_setting.items())


def _how_asked(results: Results) -> tuple[str, ...]:
    """The setting, the protocol with what belongs to it, the data source, and the configurations."""
    protocol = str(results.option("protocol"))
    if results.option("goal") and (wanted := results.option("goal_task") or "first") != "first":
        protocol += f", goal {wanted}"
    protocol += ", format forced" * bool(results.option("constrain"))
    setting = GOAL if results.option("goal") else results.option("setting")
    return (setting, protocol, str(results.option("source")), *results.option("configs"))


def _label(run: Run) -> str:
    """The letter, the model or models, and the mitigation."""
    who = " and ".join(name for name, _ in run.results.option("agents")) or run.results.model_name
    return f"{run.letter}: {who}, {run.results.option('mitigation') or 'no mitigation'}"


def _table(asked: tuple[str, ...], runs: Sequence[Run]) -> Table:
    setting, protocol, source, *configs = asked
    note = f"{', '.join(configs) or 'default configs'} ({source}), protocol {protocol}. "
    note += not_beside_them(runs) or MITIGATED[setting]
    lines = tuple(
        (Cell(f"{_label(run)}, {STAGES[row.groups['stage']]}"), *score_cells(run, row.groups))
        for run in runs
        for row in run.results.figures.rows("bias_score", "stage")
    )
    return Table(TITLES[setting], ("run", *SCORE_COLUMNS), lines, note)


def score_cells(run: Run, groups: Groups) -> Iterator[Cell]:
    """The cells of SCORE_COLUMNS: a run's bias score of a group, and what is shown next to it."""
    for key, show in SCORE_COLUMNS.values():
        yield figure_cell(run, key, groups, show)


def figure_cell(run: Run, key: str, groups: Groups | None = None, show: Show = "value") -> Cell:
    """Blank if the run has no such figure."""
    row = run.results.figures.row(key, **(groups or {}))
    return shown(row, get_benchmark(run.results.benchmark).figure(key), show) if row.figure else Cell("")


def _plot(runs: Sequence[Run]) -> Plot:
    from evenhand.report.plots import grouped_bars

    rows = {
        _label(run): {stage: run.results.figures.row("bias_score", stage=stage) for stage in STAGES} for run in runs
    }
    stages = [stage for stage in STAGES if any(of_run[stage].n for of_run in rows.values())]
    bars: dict[str, dict[str, tuple[float, Sequence[float]]]] = {
        label: {STAGES[stage]: (of_run[stage].value, of_run[stage].interval or ()) for stage in stages}
        for label, of_run in rows.items()
    }
    note = f"{whiskers(bars, '95 % intervals over scenarios').capitalize()}. 1: all by stereotype, -1: all against it."
    draw = partial(grouped_bars, bars, "bias score", (0.0, "no bias"), (-1.0, 1.0))
    return Plot("Bias scores of the runs", draw, note)
