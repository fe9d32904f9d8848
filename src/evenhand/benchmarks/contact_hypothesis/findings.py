"""What a contact_hypothesis run found: Table 3 and Figure 3 of the paper, measured."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from evenhand.benchmarks.contact_hypothesis.questions import forced
from evenhand.benchmarks.contact_hypothesis.uneven_actions import MEANS, actions, is_uneven
from evenhand.benchmarks.position_sensitivity import order_table
from evenhand.flow.results import Results
from evenhand.report.findings import Example, Findings, Plot, whiskers
from evenhand.report.plots import grouped_bars, heatmap
from evenhand.report.tables import Cell, Table, figure, n_with_clusters, named_clusters, signed

CONTACTS = {"no_contact": "no contact", "positive_contact": "positive contact", "negative_contact": "negative contact"}
EFFECTS = {"positive_contact": "effect of positive", "negative_contact": "effect of negative"}
GRADED = "mean probability of the biased option, %"
CHANCE = 50.0  # of random answers, and of one constant answer, when positive and negative actions are balanced
COUNTS = ("n (clusters)", "positive : negative", "unread %")
SETS_A_SCALE = 3
_DATA = (
    "The situations are ours and the descriptors are HolisticBias v1.1's 775 phrases; the paper had its own situations "
    "and 600 phrases."
)
Metrics = Mapping[str, Any]


def findings(predictions: pd.DataFrame, results: Results) -> Findings:
    metrics = results.metrics
    return Findings(
        sentences=(*_constant_answers(results), _sentence(results), *forced(results)),
        tables=(
            _table_3(results),
            _effects(metrics),
            *([order_table(metrics["order"], "scale")] if "order" in metrics else []),
        ),
        exploratory=tuple(_by(metrics, column) for column in ("axis", "scenario", "principle", "action")),
        plots=_plots(metrics, predictions),
        examples=tuple(_examples(predictions)),
        warnings=tuple(metrics["warnings"]),
    )


def _sentence(results: Results) -> str:
    """The run in a sentence: the biased share, its interval, n, unread answers, chance."""
    metrics = results.metrics
    overall = figure(metrics["biased_percentage"]["overall"], _interval(metrics, "biased_percentage", "overall"))
    effects = ", ".join(
        f"{CONTACTS[name]} {signed(value, _interval(metrics, 'contact_effect', name))}"
        for name, value in metrics["contact_effect"].items()
        if value is not None
    )
    situations = named_clusters(metrics, "situation")
    if not metrics["n_read"]:
        return f"{results.model_name}: no score, for none of {metrics['n']:,} answers was read ({situations})."
    return (
        f"{results.model_name} gave a biased response to {overall} percent of {metrics['n_read']:,} prompts read "
        f"({metrics['n']:,} asked, {100 * metrics['unread_rate']:.1f} percent unread, "
        f"{situations}); random answers give {CHANCE:.0f}, 0 is best."
        + (f" Against no contact, in points: {effects}." if effects else "")
    )


def _constant_answers(results: Results) -> list[str]:
    """Before the score itself, which mostly says nothing then."""
    scales = [scale for scale, constant in results.metrics["constant_answer"].items() if constant]
    if not scales:
        return []
    named = ", ".join(scales)
    return [
        f"{results.model_name}'s answers are constant for {named}: that score says nothing about any group of people."
    ]


def _table_3(results: Results) -> Table:
    """The paper's Table 3: measured by scale, of answers read and, where some are unread, of all asked, as the paper
    counts; published figures below where the run is as in the paper.
    """
    metrics, published = results.metrics, results.published
    rows = []
    for scale, group in metrics["by"]["scale"].items():
        rows.append((Cell(scale), *_percentages(group), *_counts(group)))
        if group["n_read"] < group["n"] and "biased_percentage_of_all" in group:  # younger than the first records
            of_all = _percentages(group, "biased_percentage_of_all")
            rows.append((Cell(f" {scale}, of all asked"), *of_all, *(Cell("") for _ in COUNTS)))
        for model, scales in published.get("figures", {}).items():
            texts = (f" {model}, published", *(f"{scales[scale][contact]:.2f}" for contact in CONTACTS))
            rows.append(tuple(Cell(text, published=True) for text in (*texts, *("" for _ in COUNTS))))
    note = f"{results.model_name}. Brackets: 95 % interval; situations and descriptors would be drawn anew. "
    note += "Random answers: 50, and constant ones where actions are balanced."
    note += _uneven(metrics["by"]["scale"])
    if metrics["n_read"] < metrics["n"]:
        note += " Of all asked: unread answers are in the denominator, as in the paper."
    if published:
        note += f" Published: {published['source']}; asked in the same layout. {_DATA}"
    return Table("Percentage of biased responses", ("scale", *CONTACTS.values(), *COUNTS), tuple(rows), note)


def _effects(metrics: Metrics) -> Table:
    """What contact changes, and how sure the model was."""
    rows = tuple(
        (
            Cell(scale),
            *(
                Cell(figure(group["contact_effect"][name], _interval(group, "contact_effect", name)))
                for name in EFFECTS
            ),
            Cell(_graded(group)),
            Cell(f"{figure(group['best_case']['overall'])} to {figure(group['worst_case']['overall'])}"),
            Cell("yes" if group["constant_answer"].get(scale) else "no"),
        )
        for scale, group in metrics["by"]["scale"].items()
    )
    columns = ("scale", *EFFECTS.values(), GRADED, "unread all unbiased to all biased", "constant answer")
    note = "Effects: points above no contact, over prompt sets with both answers read. Brackets: 95 % interval."
    return Table("Effect of contact", columns, rows, note)


def _by(metrics: Metrics, column: str) -> Table:
    rows = tuple(
        (Cell(value), *_percentages(group), Cell(_graded(group)), *_counts(group))
        for value, group in metrics["by"][column].items()
    )
    columns = (column, *CONTACTS.values(), GRADED, *COUNTS)
    note = "Exploratory: many groups, few prompts in each."
    note += "" if column == "action" else _uneven(metrics["by"][column])
    return Table(f"By {column}", columns, rows, note)


def _percentages(group: Metrics, key: str = "biased_percentage") -> list[Cell]:
    return [Cell(figure(group[key][contact], _interval(group, key, contact))) for contact in CONTACTS]


def _graded(group: Metrics) -> str:
    graded = group.get("biased_probability", {}).get("overall")
    return figure(graded, _interval(group, "biased_probability", "overall"))


def _counts(group: Metrics) -> list[Cell]:
    texts = (n_with_clusters(group), actions(group), figure(100 * group["unread_rate"]))
    return [Cell(text) for text in texts]


def _uneven(groups: Mapping[str, Metrics]) -> str:
    return f" Where positive : negative actions are uneven, {MEANS}." if any(map(is_uneven, groups.values())) else ""


def _plots(metrics: Metrics, predictions: pd.DataFrame) -> tuple[Plot, ...]:
    bars = {
        scale: {
            label: (group["biased_percentage"][contact], _interval(group, "biased_percentage", contact))
            for contact, label in CONTACTS.items()
        }
        for scale, group in metrics["by"]["scale"].items()
    }
    scale = next(iter(metrics["by"]["scale"]))
    alone = predictions[(predictions["scale"] == scale) & (predictions["contact"] == "no_contact")]
    return (
        Plot(
            "Biased responses by contact",
            partial(grouped_bars, bars, "% biased responses", (CHANCE, "chance")),
            f"n = {metrics['n_read']:,} read answers; {whiskers(bars, '95 % intervals')}; "
            f"{named_clusters(metrics, 'situation')}; {100 * metrics['unread_rate']:.1f} % unread.",
        ),
        _by_dimension(f"no contact, {scale} (cells of the paper's Figure 3)", alone),
        _by_dimension("all contacts and scales", predictions),
    )


def _by_dimension(of: str, predictions: pd.DataFrame) -> Plot:
    """Dimensions by scenarios; unread answers left out."""
    cells = predictions["biased"].astype("Float64").groupby([predictions["axis"], predictions["scenario"]])
    grid: dict[str, dict[str, float]] = {}
    for (axis, scenario), share in cells.mean().items():
        grid.setdefault(str(axis), {})[str(scenario)] = math.nan if pd.isna(share) else 100 * float(share)
    n = cells.count()
    return Plot(
        f"Biased responses by dimension and scenario: {of}",
        partial(heatmap, grid, "% biased responses"),
        f"{n.min():,} to {n.max():,} read answers a cell. Empty: no data.",
    )


def _examples(predictions: pd.DataFrame) -> list[Example]:
    """A few whole prompt sets of each scale, spread over its rows."""
    return [
        Example(
            caption=f"{row.scale} · {row.scenario} · {row.principle} · {row.action} action · {CONTACTS[row.contact]}",
            prompt=row.question,
            answer=row.text,
            reading="unread" if pd.isna(row.biased) else "biased" if row.biased else "unbiased",
        )
        for _, scale in predictions.groupby("scale", sort=False)
        for name in _spread(scale["row"].unique(), SETS_A_SCALE)
        for row in scale[scale["row"] == name].itertuples()
    ]


def _spread(values: Sequence[str], n: int) -> list[str]:
    """At most n of the values, evenly spaced."""
    return [values[i * len(values) // n] for i in range(n)] if len(values) > n else list(values)


def _interval(group: Metrics, key: str, name: str) -> list[float | None]:
    ends: list[float | None] = group.get("intervals", {}).get(key, {}).get(name, [])
    return ends
