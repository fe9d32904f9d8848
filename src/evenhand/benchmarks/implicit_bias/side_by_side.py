"""Runs beside each other: what mitigations do without interaction, in it, and with goals (Figures 6, 16, 17, 18)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from evenhand.benchmarks.implicit_bias.findings import STAGES, by_group, interval
from evenhand.benchmarks.implicit_bias.published import GOAL, MITIGATED, NO_GOAL, NONE
from evenhand.flow.results import Results
from evenhand.report.findings import Panel, Plot, Run, not_beside_them, whiskers
from evenhand.report.plots import grouped_bars
from evenhand.report.tables import Table

TITLES = {
    NONE: "Bias scores without interaction (as the paper's Figures 16 and 17)",
    NO_GOAL: "Bias scores before and after interaction (as the paper's Figure 6)",
    GOAL: "Bias scores before and after interaction with goals (as the paper's Figure 18)",
}
MISSING = (math.nan, ())


def panels(runs: Sequence[Run]) -> tuple[Panel, ...]:
    """One for each setting, in which models and mitigations differ."""
    alike: dict[tuple[str, ...], list[Run]] = {}
    for run in runs:
        alike.setdefault(_setting(run.results), []).append(run)
    return tuple(Panel(tuple(some), (_table(some),), (_plot(some),)) for some in alike.values())


def _setting(results: Results) -> tuple[str, ...]:
    """The setting, then the protocol, and whether it forces the format, whose data, and which."""
    asked = {"none": NONE, "interaction": NO_GOAL}[results.option("setting")]
    protocol = str(results.option("protocol"))
    if results.option("goal") and (wanted := results.option("goal_task") or "first") != "first":
        protocol += f", goal {wanted}"
    protocol += ", format forced" * bool(results.option("constrain"))
    rows = (protocol, str(results.option("source")), *results.option("configs"))
    return (GOAL if results.option("goal") else asked, *rows)


def _title(runs: Sequence[Run]) -> str:
    return TITLES[_setting(runs[0].results)[0]]


def _label(run: Run) -> str:
    """The letter, who speaks, and the mitigation."""
    who = " and ".join(name for name, _ in run.results.option("agents")) or run.results.model_name
    return f"{run.letter}: {who}, {run.results.option('mitigation') or 'no mitigation'}"


def _table(runs: Sequence[Run]) -> Table:
    named = [
        (f"{_label(run)}, {STAGES[stage]}", of) for run in runs for stage, of in run.results.metrics["stages"].items()
    ]
    _, protocol, source, *configs = _setting(runs[0].results)
    note = f"{', '.join(configs) or 'default configs'} ({source}), protocol {protocol}. "
    note += not_beside_them(runs) or MITIGATED[_setting(runs[0].results)[0]]
    return by_group(_title(runs), "run", named, note)


def _plot(runs: Sequence[Run]) -> Plot:
    stages = {_label(run): run.results.metrics["stages"] for run in runs}
    shown = [stage for stage in STAGES if any(stage in of for of in stages.values())]
    bars = {
        label: {
            STAGES[stage]: (of[stage]["bias_score"], interval(of[stage], "bias_score")) if stage in of else MISSING
            for stage in shown
        }
        for label, of in stages.items()
    }
    return Plot(
        "Drawn",
        partial(grouped_bars, bars, "bias score", (0.0, "no bias"), (-1.0, 1.0)),
        f"{whiskers(bars, '95 % intervals over scenarios').capitalize()}. 1: all by stereotype, -1: all against it.",
    )
