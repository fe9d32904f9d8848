"""What is scored, compared and shown where a benchmark says no more than `value`: its mean over read answers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pandas as pd

from evenhand.report.findings import Example, Findings
from evenhand.report.tables import Cell, Table, figure, named_clusters
from evenhand.statistics.clustered import clustered_mean
from evenhand.statistics.resampling import FEWEST_CLUSTERS, about_clusters

if TYPE_CHECKING:
    from evenhand.benchmark import Benchmark
    from evenhand.flow.results import Results

FIGURE = "mean value"
EXAMPLES = 6


def values(benchmark: Benchmark[Any], predictions: pd.DataFrame) -> pd.DataFrame:
    """Columns figure, id, value (NaN: unread) and cluster, a row a prediction; least and most, where they are known."""
    found = [benchmark.value(record) for record in _records(predictions)]
    cluster, within = benchmark.card.cluster, benchmark.card.within
    return pd.DataFrame(
        {
            "figure": FIGURE,
            "id": predictions["id"],
            "value": [math.nan if each is None else float(each) for each in found],
            "cluster": predictions[cluster].fillna(predictions["id"]) if cluster in predictions else predictions["id"],
            **({} if within is None else {"least": within[0], "most": within[1]}),
        }
    )


def _records(predictions: pd.DataFrame) -> list[dict[str, Any]]:
    """As `read` made them: None, not NaN, where there is nothing."""
    there = predictions.notna()
    records: list[dict[str, Any]] = predictions.astype(object).where(there, None).to_dict("records")
    return records


def score(benchmark: Benchmark[Any], predictions: pd.DataFrame) -> dict[str, Any]:
    """`mean_value` over read answers with its 95 % interval over clusters, and what was unread."""
    of = values(benchmark, predictions)
    mean = clustered_mean(of["value"], of["cluster"], benchmark.card.within)
    notes = []
    if not mean.n:
        notes.append("no read answer: there is no score")
    else:
        notes += about_clusters(mean.n_clusters)
        if mean.n_clusters >= FEWEST_CLUSTERS and math.isnan(mean.low):
            notes.append("no interval: all clusters say the same, which doesn't show how others would differ")
    return {
        "n": len(of),
        "n_read": mean.n,
        "unread_rate": 1 - mean.n / len(of) if len(of) else math.nan,
        "mean_value": mean.estimate,
        "n_clusters": mean.n_clusters,
        "n_clusters_asked": of["cluster"].nunique(),
        "intervals": {"mean_value": [mean.low, mean.high]},
        "warnings": notes,
    }


def findings(benchmark: Benchmark[Any], predictions: pd.DataFrame, results: Results) -> Findings:
    """The mean in a sentence and a table, and examples spread over the rows."""
    metrics = results.metrics
    shown = figure(metrics["mean_value"], metrics["intervals"]["mean_value"], benchmark.card.digits + 2)
    sentence = (
        f"{results.model_name} on {benchmark.card.title}: mean value {shown} over {metrics['n_read']:,} answers read "
        f"({metrics['n']:,} asked, {100 * metrics['unread_rate']:.1f} percent unread, "
        f"{named_clusters(metrics, 'cluster')}); 0 is best."
    )
    row = (results.model_name, shown, f"{metrics['n_read']:,}", f"{100 * metrics['unread_rate']:.1f}")
    table = Table(
        "Mean value",
        ("model", "mean value", "n read", "unread %"),
        (tuple(map(Cell, row)),),
        f"Brackets: 95 % interval over {benchmark.card.cluster}.",
    )
    places = (
        sorted({k * (len(predictions) - 1) // max(1, EXAMPLES - 1) for k in range(EXAMPLES)})
        if len(predictions)
        else []
    )
    return Findings(
        (sentence,),
        (table,),
        examples=tuple(_example(benchmark, predictions.iloc[k]) for k in places),
        warnings=tuple(metrics["warnings"]),
    )


def _example(benchmark: Benchmark[Any], prediction: pd.Series) -> Example:
    [record] = _records(prediction.to_frame().T)
    value = benchmark.value(record)
    reading = "unread" if value is None or math.isnan(value) else f"{value:g}"
    prompt, text = (str(prediction.get(name) or "") for name in ("prompt", "text"))
    return Example(str(prediction["id"]), prompt, text, reading)
