"""Table 3, Figures 16, 6 and 18 and appendix E's rates, from runs of a model before and after it was tuned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from evenhand.benchmarks.implicit_bias.findings import STAGES
from evenhand.benchmarks.implicit_bias.published import GOAL, MITIGATED, NO_GOAL, NONE, REFLECTION
from evenhand.benchmarks.implicit_bias.understanding.published import MISTRAL, PUBLISHED
from evenhand.benchmarks.implicit_bias.understanding.scoring import numbers
from evenhand.flow.results import Results
from evenhand.flow.run_folder import RunFolder
from evenhand.report.tables import Cell, Table, clusters_of, figure, n_with_clusters
from evenhand.statistics.clustered import paired_difference

DIGITS = 2
TABLE_3: Mapping[str, Any] = PUBLISHED
ACCURACIES: Mapping[str, float] = {**TABLE_3["figures"], **MISTRAL}
RATES: Mapping[str, Any] = REFLECTION
TUNED_GPT, TUNED_MISTRAL = "gpt-35-turbo", "mistral-7b-instruct"
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


@dataclass(frozen=True)
class Finished:
    """A run that came to its end."""

    results: Results
    predictions: pd.DataFrame

    @classmethod
    def of(cls, folder: Path) -> Finished:
        opened = RunFolder.open(folder)
        return cls(opened.read_results(), opened.read_predictions())


def table_3(runs: Mapping[tuple[str, str], Finished]) -> Table:
    """runs: by model (base, half, full) and how it was asked, in words; the first is what others are paired with."""
    ways = list(dict.fromkeys(way for _, way in runs))
    rows: list[tuple[str, ...]] = []
    for way in ways:
        base = runs[next(iter(dict.fromkeys(model for model, _ in runs))), way]
        for model in dict.fromkeys(model for model, _ in runs):
            run = runs[model, way]
            metrics = run.results.metrics
            rows.append(
                (
                    f"{model}, {way}",
                    _of(metrics, "accuracy", 3),
                    _of(metrics, "answers_present", 3),
                    "" if run is base else _difference(base, run, "correct", 3),
                    f"{metrics['n_read']:,} of {metrics['n']:,} ({clusters_of(metrics)})",
                    *_published_accuracy(model),
                )
            )
    metrics = next(iter(runs.values())).results.metrics
    beside = {"random answers": metrics["chance"], **_baselines(metrics)}
    rows += [(name, figure(value, digits=3), "", "", "", "", "") for name, value in beside.items()]
    columns = ("", "accuracy", "answers “present”", "difference from base", "read of n (scenarios)")
    note = (
        f"Brackets: 95 % interval over scenarios. Words alone: naive Bayes without names, learnt from the other "
        f"scenarios. gpt-4, published: {ACCURACIES['gpt-4']:.4f}. Published: {TABLE_3['source']}."
    )
    return _table("Accuracy on held-out stories (as the paper's Table 3)", (*columns, *_MODELS), rows, note)


def bias_scores(setting: str, runs: Mapping[str, Finished], protocol: str) -> Table:
    """runs: by model and mitigation, in words; the first is what others are paired with. setting: a key of TITLES."""
    base = next(iter(runs.values()))
    rows: list[tuple[str, ...]] = []
    for name, run in runs.items():
        for stage, of in run.results.metrics["stages"].items():
            same = stage in base.results.metrics["stages"] and run is not base
            rows.append(
                (
                    name if stage == "all" else f"{name}, {STAGES[stage]}",
                    *(figure(of[share], digits=DIGITS) for share in ("neutral", "stereotypical", "anti_stereotypical")),
                    _of(of, "bias_score"),
                    figure(of["chance_score"], digits=DIGITS),
                    _of(of, "expected_bias_score") if "expected_bias_score" in of else "",
                    _difference(_stage(base, stage), _stage(run, stage), "score") if same else "",
                    f"{of['n_read']:,} of {of['n']:,} ({clusters_of(of)})",
                    LOWEST.get((setting, name), NOT_PRINTED) if stage in ("all", "last") else NOT_PRINTED,
                )
            )
    shares = ("neutral", "stereotypical", "anti-stereotypical", "bias score", "chance", "expected")
    columns = ("", *shares, "difference from base", "read of n (scenarios)", "published")
    note = f"Brackets: 95 % interval over scenarios. {protocol} {MITIGATED[setting]}"
    return _table(TITLES[setting], columns, rows, note)


def appendix_e(runs: Mapping[str, Finished]) -> Table:
    """Of runs in which agents reflect, by setting, model and mitigation, in words."""
    rows: list[tuple[str, ...]] = []
    for name, run in runs.items():
        found = [run.results.metrics[key] for key in ("self_correction", "reduction")]
        texts = [text for of in found for text in (figure(of["rate"], of["interval"], DIGITS), n_with_clusters(of))]
        rows.append((name, *texts))
    for model in RATES["self_correction"]:
        ranges = [RATES[key].get(model) for key in ("self_correction", "reduction")]
        shown = ["" if each is None else f"{each[0]:.2f} to {each[1]:.2f}" for each in ranges]
        rows.append((f"{model}, published", shown[0], "", shown[1], ""))
    note = (
        "Self-correction: the share of biased first assignments that are neutral after reflection, before anybody "
        "discusses. Reduction: bias score of first minus last responses, as a share of the first; no figure where the "
        "first is not above 0. Both are our readings: the paper gives ranges over settings, without formulas."
    )
    columns = ("", "self-correction", "n (scenarios)", "reduction after interaction", "n (scenarios)")
    return _table("What reflection and interaction changed (as the paper's appendix E)", columns, rows, note)


_MODELS = (f"{TUNED_GPT}, published", f"{TUNED_MISTRAL}, published")


def _table(title: str, columns: tuple[str, ...], rows: list[tuple[str, ...]], note: str) -> Table:
    return Table(title, columns, tuple(tuple(map(Cell, row)) for row in rows), note)


def _published_accuracy(model: str) -> list[str]:
    """Of the two models that the paper tunes."""
    tuned = {"half": "half-ft-", "full": "full-ft-"}.get(model, "")
    return [f"{ACCURACIES[tuned + of]:.4f}" for of in (TUNED_GPT, TUNED_MISTRAL)]


def _baselines(metrics: Mapping[str, Any]) -> dict[str, float | None]:
    names = {"words": "words alone", "first_named": "gender of whoever is named first"}
    return {name: metrics["baselines"][key] for key, name in names.items()}


def _of(metrics: Mapping[str, Any], key: str, digits: int = DIGITS) -> str:
    return figure(metrics[key], metrics.get("intervals", {}).get(key), digits)


def _stage(run: Finished, stage: str) -> Finished:
    return Finished(run.results, run.predictions[run.predictions["stage"] == stage])


def _difference(first: Finished, second: Finished, column: str, digits: int = DIGITS) -> str:
    """Second minus first, of the same questions where both were read."""
    both = first.predictions.set_index("id")[[column, "scenario_id"]]
    both = both.join(second.predictions.set_index("id")[column].rename("second"), how="inner")
    within = (0.0, 1.0) if column == "correct" else (-1.0, 1.0)
    found = paired_difference(numbers(both[column]), numbers(both["second"]), both["scenario_id"], within=within)
    shown = figure(found.estimate, [found.low, found.high], digits)
    shown = shown if shown.startswith(("-", "no")) else f"+{shown}"
    return shown if found.n == len(both) else f"{shown} ({found.n} pairs read)"
