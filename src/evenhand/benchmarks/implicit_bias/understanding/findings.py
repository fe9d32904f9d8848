"""What an implicit_bias_understanding run found: Table 3 of the paper, measured, and stories with their answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import pandas as pd

from evenhand.benchmarks.implicit_bias.understanding.baselines import BESIDE, WITHOUT_SEEING, beside
from evenhand.benchmarks.implicit_bias.understanding.scoring import STORIES
from evenhand.benchmarks.position_sensitivity import order_table
from evenhand.flow.results import Results
from evenhand.report.findings import Example, Findings, Plot, whiskers
from evenhand.report.plots import grouped_bars
from evenhand.report.tables import Cell, Table, clusters_of, figure, n_with_clusters, named_clusters

DIGITS = 3
EXAMPLES = 8
NAMES = {"words": "words alone", "first_named": "gender of whoever is named first"}  # of baselines, in sentences
COLUMNS = ("accuracy", *BESIDE.values(), "answers “present”", "unread all wrong to all right", "n (scenarios)",
           "unread %")  # fmt: skip
Metrics = Mapping[str, Any]


def findings(predictions: pd.DataFrame, results: Results) -> Findings:
    metrics = results.metrics
    return Findings(
        sentences=(_sentence(results),),
        tables=(
            _table_3(results),
            *([order_table(metrics["order"], "stories")] if "order" in metrics else []),
            *([_by(metrics, "run")] if "run" in metrics["by"] else []),
        ),
        exploratory=(_by(metrics, "domain"),),
        plots=(_plot(metrics),),
        examples=tuple(_examples(predictions)),
        warnings=tuple(metrics["warnings"]),
    )


def _sentence(results: Results) -> str:
    metrics = results.metrics
    if not metrics["n_read"]:
        return f"{results.model_name}: no accuracy, for none of {metrics['n']:,} answers was read."
    of = {story: _figure(group, "accuracy") for story, group in metrics["by"]["story"].items()}
    kinds = ", ".join(f"{share} on {story} stories" for story, share in of.items())
    others = "".join(f", {name} {share}" for name, share in _baselines(metrics).items())
    return (
        f"{results.model_name} told biased from unbiased assignments with an accuracy of "
        f"{_figure(metrics, 'accuracy')} ({kinds}); random answers reach {figure(metrics['chance'], digits=DIGITS)}"
        f"{others}, 1 is best. {metrics['n_read']:,} of {metrics['n']:,} answers read "
        f"({100 * metrics['unread_rate']:.1f} percent unread), {named_clusters(metrics, 'scenario')}."
    )


def _baselines(metrics: Metrics) -> dict[str, str]:
    """Accuracies without seeing who does what, by name; a run of an older release has none."""
    found = metrics.get("baselines", {})
    return {name: figure(found[key], digits=DIGITS) for key, name in NAMES.items() if found.get(key) is not None}


def _table_3(results: Results) -> Table:
    """The paper's Table 3: measured, for either kind of story, and published figures below."""
    metrics, published = results.metrics, results.published
    rows = [_row("all stories", metrics)]
    rows += [_row(f" {story}", group) for story, group in metrics["by"]["story"].items()]
    empty = [""] * (len(COLUMNS) - 1)
    rows.append(tuple(map(Cell, (" random answers", figure(metrics["chance"], digits=DIGITS), *empty))))
    rows += [
        tuple(Cell(text, published=True) for text in (f" {model}, published", f"{accuracy:.4f}", *empty))
        for model, accuracy in published.get("figures", {}).items()
    ]
    note = f"{results.model_name}. Shares of read answers. Brackets: 95 % interval over scenarios. "
    note += WITHOUT_SEEING if _baselines(metrics) else ""
    note += f"Published: {published['source']}." if published else ""
    return Table("Accuracy on the presence of implicit bias", ("stories", *COLUMNS), tuple(rows), note)


def _row(name: str, of: Metrics) -> tuple[Cell, ...]:
    texts = (
        name,
        _figure(of, "accuracy"),
        *beside(of.get("baselines", {})),
        _figure(of, "answers_present"),
        f"{figure(of['worst_case'], digits=DIGITS)} to {figure(of['best_case'], digits=DIGITS)}",
        n_with_clusters(of),
        figure(100 * of["unread_rate"]),
    )
    return tuple(Cell(text) for text in texts)


def _by(metrics: Metrics, column: str) -> Table:
    rows = tuple(_row(value, group) for value, group in metrics["by"][column].items())
    note = "Exploratory: few scenarios in each." if column == "domain" else "The same stories, asked again."
    note += f" {WITHOUT_SEEING}" if _baselines(metrics) else ""
    return Table(f"By {column}", (column, *COLUMNS), rows, note)


def _plot(metrics: Metrics) -> Plot:
    bars = {
        domain.replace("_", " "): {"accuracy": (of["accuracy"], of["intervals"]["accuracy"])}
        for domain, of in sorted(metrics["by"]["domain"].items())
    }
    return Plot(
        "Accuracy by domain",
        partial(grouped_bars, bars, "accuracy", (metrics["chance"], "chance"), (0.0, 1.0)),
        f"n = {metrics['n_read']:,} read answers, {100 * metrics['unread_rate']:.1f} % unread; "
        f"{whiskers(bars, '95 % intervals over scenarios')}, {clusters_of(metrics)} scenarios in all."
        + "".join(f" {name.capitalize()}: {share}." for name, share in _baselines(metrics).items()),
    )


def _examples(predictions: pd.DataFrame) -> Iterator[Example]:
    """Stories spread over the rows."""
    n = min(EXAMPLES, len(predictions))
    for row in predictions.iloc[[i * len(predictions) // n for i in range(n)]].itertuples():
        yield Example(
            caption=f"{row.domain} · {STORIES[row.biased]} · {row.reason}",
            prompt=row.story,
            answer=row.text,
            reading="unread" if pd.isna(row.correct) else "right" if row.correct else "wrong",
        )


def _figure(of: Metrics, key: str) -> str:
    return figure(of[key], of["intervals"][key], DIGITS)
