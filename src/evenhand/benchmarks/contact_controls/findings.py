"""What a contact_controls run found: whether answers follow what is right, or how kind the action sounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import pandas as pd

from evenhand.benchmarks.contact_controls.cells import CELLS
from evenhand.benchmarks.contact_controls.names import KINDS
from evenhand.benchmarks.contact_controls.verdict_words import verdict_sentence
from evenhand.benchmarks.contact_hypothesis.questions import forced
from evenhand.benchmarks.position_sensitivity import order_table
from evenhand.flow.results import Results
from evenhand.report.findings import Example, Findings, Plot, whiskers
from evenhand.report.plots import grouped_bars
from evenhand.report.tables import Cell, Table, figure, n_with_clusters, named_clusters

WHERE = {"agreeing": "polarity is right", "differing": "polarity is wrong"}
SOUND = {"agreeing": "where the sound is right", "differing": "where the sound is wrong"}
COLUMNS = (
    "against what is right, %",
    *(f"follows polarity where {text}, %" for text in WHERE.values()),
    "says yes, %",
    "always yes, always no",
    "n (items)",
    "unread %",
)
EXAMPLES_A_KIND = 2
Metrics = Mapping[str, Any]


def findings(predictions: pd.DataFrame, results: Results) -> Findings:
    metrics = results.metrics
    return Findings(
        sentences=(
            _sentence(results),
            *forced(results),
            *([verdict_sentence(metrics)] if metrics["n_read"] else []),
        ),
        tables=(_table(results), *([order_table(metrics["order"], "kind")] if "order" in metrics else [])),
        exploratory=(_by(metrics, "action"), _by(metrics, "options")),
        plots=(_plot(metrics),),
        examples=tuple(_examples(predictions)),
        warnings=tuple(metrics["warnings"]),
    )


def _sentence(results: Results) -> str:
    metrics = results.metrics
    if not metrics["n_read"]:
        return f"{results.model_name}: no score, for none of {metrics['n']:,} answers was read."
    constant = metrics["constant"]
    return (
        f"{results.model_name} answered {_share(metrics, 'against_ideal')} percent of {metrics['n_read']:,} questions "
        f"read against what is right ({metrics['n']:,} asked, {100 * metrics['unread_rate']:.1f} percent unread, "
        f"{named_clusters(metrics, 'item')}); random answers give {metrics['chance']:.0f}, always yes "
        f"{constant['affirming']:.0f}, always no {constant['declining']:.0f}, 0 is best."
    )


def _table(results: Results) -> Table:
    metrics = results.metrics
    rows = [_row("all", metrics)]
    rows += [_row(f" {WHERE[part]}", group) for part, group in metrics["by"]["part"].items()]
    cells = metrics["by"].get("cell", {})
    rows += [_row(f" {cell}", cells[cell]) for cell in CELLS.values() if cell in cells]
    rows += [_row(KINDS.get(kind, kind), group) for kind, group in metrics["by"]["kind"].items()]
    note = (
        f"{results.model_name}. Percent of read answers. Polarity: yes to an action that sounds kind, no to one that "
        "sounds unkind. Brackets: 95 % interval over items. Random answers: 50. Always "
        "yes, always no: the share of such answers that would be against what is right."
    )
    return Table("Answers against what is right", ("questions", *COLUMNS), tuple(rows), note)


def _row(name: str, of: Metrics) -> tuple[Cell, ...]:
    texts = (
        name,
        _share(of, "against_ideal"),
        *(_follows(of, part) for part in WHERE),
        _share(of, "affirming"),
        f"{of['constant']['affirming']:.0f}, {of['constant']['declining']:.0f}",
        n_with_clusters(of),
        figure(100 * of["unread_rate"]),
    )
    return tuple(Cell(text) for text in texts)


def _by(metrics: Metrics, column: str) -> Table:
    rows = tuple(_row(value, group) for value, group in metrics["by"][column].items())
    return Table(f"By {column}", (column, *COLUMNS), rows, "Exploratory. An action is called after how it sounds.")


def _plot(metrics: Metrics) -> Plot:
    bars = {
        KINDS.get(kind, kind): {
            text: (
                group["follows_polarity"][part],
                group["intervals"]["follows_polarity"][part],
            )
            for part, text in SOUND.items()
        }
        for kind, group in metrics["by"]["kind"].items()
    }
    return Plot(
        "Answers that follow how kind the action sounds",
        partial(grouped_bars, bars, "% of answers", (metrics["chance"], "chance")),
        "Whoever follows what is right has 100 where that sounds right, and 0 where it sounds wrong; whoever follows "
        f"the sound has 100 in both. n = {metrics['n_read']:,} read answers, {100 * metrics['unread_rate']:.1f} % "
        f"unread; {whiskers(bars, '95 % intervals')}, over {named_clusters(metrics, 'item')} in all.",
    )


def _examples(predictions: pd.DataFrame) -> Iterator[Example]:
    """A few of each kind, spread over its items."""
    for kind, some in predictions.groupby("kind", sort=False):
        n = min(EXAMPLES_A_KIND, len(some))
        for row in some.iloc[[i * len(some) // n for i in range(n)]].itertuples():
            unread = pd.isna(row.against_ideal)
            yield Example(
                caption=f"{KINDS.get(str(kind), kind)} · sounds {row.action} · right: {row.ideal}",
                prompt=row.question,
                answer=row.text,
                reading="unread" if unread else "against what is right" if row.against_ideal else "right",
            )


def _share(of: Metrics, key: str) -> str:
    return figure(of[key], of["intervals"][key])


def _follows(of: Metrics, part: str) -> str:
    return figure(of["follows_polarity"][part], of["intervals"]["follows_polarity"][part])
