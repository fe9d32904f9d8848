"""What a bbq run found: whether answers follow stereotypes, and what they get right, in either kind of context."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import pandas as pd

from evenhand.benchmarks.bbq.names import CONTEXTS, POLARITIES, category_in_words
from evenhand.flow.results import Results
from evenhand.report.findings import Example, Findings, Plot, whiskers
from evenhand.report.plots import grouped_bars
from evenhand.report.tables import Cell, Table, figure, n_with_clusters, named_clusters

BIAS_COLUMNS = (*(f"bias, {name}" for name in CONTEXTS.values()), "cost of nonalignment", "n (templates)", "unread %")
ACCURACY_COLUMNS = (
    *(f"accuracy, {name}" for name in CONTEXTS.values()),
    *(f"unknown, {name}" for name in CONTEXTS.values()),
)
EXAMPLES_A_CATEGORY = 2
Metrics = Mapping[str, Any]


def findings(predictions: pd.DataFrame, results: Results) -> Findings:
    metrics = results.metrics
    leaning = _leaning(metrics) if "probability_difference" in metrics else ""
    order = [_order_table(metrics["order"])] if "order" in metrics else []
    return Findings(
        sentences=tuple(filter(None, (_sentence(results), leaning))),
        tables=(_bias_table(results), _accuracy_table(results), *order),
        exploratory=(_by_polarity(metrics),),
        plots=(_plot(metrics),),
        examples=tuple(_examples(predictions)),
        warnings=tuple(metrics["warnings"]),
    )


def _sentence(results: Results) -> str:
    metrics = results.metrics
    if not metrics["n_read"]:
        return f"{results.model_name}: no score, for none of {metrics['n']:,} answers was read."
    shown = "; ".join(
        f"in {name} contexts its bias score is {_of(metrics, 'bias_score', condition)} (-100 to 100, 0 is best), its "
        f"accuracy {_of(metrics, 'accuracy', condition)} percent"
        for condition, name in CONTEXTS.items()
    )
    return (
        f"{results.model_name}: {shown}. {metrics['n_read']:,} of {metrics['n']:,} answers were read, "
        f"{100 * metrics['unread_rate']:.1f} percent unread, of {named_clusters(metrics, 'template')}; random "
        f"answers have an accuracy of {metrics['chance']:.0f} and bias scores near 0."
    )


def _leaning(metrics: Metrics) -> str:
    shown = ", ".join(
        f"{figure(of['estimate'], of['interval'])} in {CONTEXTS[name]} contexts"
        for name, of in metrics["probability_difference"].items()
    )
    return f"Probability of the biased answer minus that of the other group's, in points: {shown}."


def _bias_table(results: Results) -> Table:
    note = (
        f"{results.model_name}. Bias scores, -100 to 100, as in BBQ's section 5: in disambiguated contexts of the "
        "answers that name a group, in ambiguous ones times the share that is wrong. Cost of nonalignment: accuracy in "
        "disambiguated contexts that is lost where the right answer goes against the stereotype, in points. Brackets: "
        "95 % interval, Student's t over templates."
    )
    return Table("Bias", ("category", *BIAS_COLUMNS), _rows(results.metrics, _bias_row), note)


def _accuracy_table(results: Results) -> Table:
    note = (
        f"Percent of read answers; random answers are right in {results.metrics['chance']:.1f}. Unknown is right in "
        "ambiguous contexts, and never in disambiguated ones."
    )
    return Table("Accuracy", ("category", *ACCURACY_COLUMNS), _rows(results.metrics, _accuracy_row), note)


def _rows(
    metrics: Metrics, row: Callable[[str, Metrics], tuple[Cell, ...]], column: str = "category"
) -> tuple[tuple[Cell, ...], ...]:
    groups = {POLARITIES.get(name) or category_in_words(name): of for name, of in metrics["by"][column].items()}
    return (row("all", metrics), *(row(name, of) for name, of in groups.items()))


def _bias_row(name: str, of: Metrics) -> tuple[Cell, ...]:
    texts = (
        name,
        *(_of(of, "bias_score", condition) for condition in CONTEXTS),
        _of(of, "alignment", "cost"),
        n_with_clusters(of),
        figure(100 * of["unread_rate"]),
    )
    return tuple(Cell(text) for text in texts)


def _accuracy_row(name: str, of: Metrics) -> tuple[Cell, ...]:
    figures = (_of(of, key, condition) for key in ("accuracy", "unknown_rate") for condition in CONTEXTS)
    return tuple(Cell(text) for text in (name, *figures))


def _by_polarity(metrics: Metrics) -> Table:
    note = "Exploratory. A model that prefers one group whatever is asked has scores of opposite signs here."
    rows = _rows(metrics, _bias_row, "question_polarity")
    return Table("By polarity of the question", ("polarity", *BIAS_COLUMNS), rows, note)


def _order_table(order: Metrics) -> Table:
    rows = tuple(
        (Cell(name), Cell(figure(100 * share, [_percent(end) for end in order["intervals"][name]])))
        for name, share in order["shares"].items()
        if share is not None
    )
    sensitivity = order["position_sensitivity"]
    note = (
        "Over all three rotations, of which the other figures are averages; 33.3 each where the order decides nothing. "
        f"Position sensitivity, the largest distance from that: {figure(_percent(sensitivity))} points. The rotation "
        f"changes {figure(_percent(order['changed']))} % of the answers. n = {order['n']:,}."
    )
    return Table("Order of the answers", ("listed", "% of answers"), rows, note)


def _plot(metrics: Metrics) -> Plot:
    bars = {
        category_in_words(name): {
            context: (group["bias_score"][condition], group["intervals"]["bias_score"][condition])
            for condition, context in CONTEXTS.items()
        }
        for name, group in metrics["by"]["category"].items()
    }
    told = whiskers(bars, "95 % intervals over each category's templates")
    return Plot(
        "Bias scores by category",
        partial(grouped_bars, bars, "bias score", (0.0, "no bias"), (-100, 100)),
        f"n = {metrics['n_read']:,} read answers, {100 * metrics['unread_rate']:.1f} % unread; "
        f"{told}. Above 0: with the stereotype.",
    )


def _examples(predictions: pd.DataFrame) -> Iterator[Example]:
    """A few of each category, spread over its rows."""
    for category, some in predictions.groupby("category", sort=False):
        n = min(EXAMPLES_A_CATEGORY, len(some))
        for row in some.iloc[[(2 * i + 1) * len(some) // (2 * n) for i in range(n)]].itertuples():
            unread = pd.isna(row.answer)
            follows = "" if pd.isna(row.biased) else ", with the stereotype" if row.biased else ", against it"
            yield Example(
                caption=f"{category_in_words(str(category))} · {CONTEXTS[str(row.context_condition)]} context · "
                f"{POLARITIES.get(str(row.question_polarity), row.question_polarity)}",
                prompt=f"{row.question}\n{row.options}",
                answer=row.text,
                reading="unread" if unread else f"{row.role}: {'right' if row.right else 'wrong'}{follows}",
            )


def _of(of: Metrics, key: str, name: str) -> str:
    return figure(of[key][name], of["intervals"][key][name])


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share
