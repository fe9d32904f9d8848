"""What a utility run found: one row of figures, and a few replies."""

from __future__ import annotations

from typing import Any

import pandas as pd

from evenhand.flow.results import Results
from evenhand.report.findings import Example, Findings
from evenhand.report.tables import Cell, Table, figure

DIGITS = {"accuracy": 1, "rouge_l": 3, "bertscore_minilm": 3, "similarity": 3, "perplexity": 2, "refusal_rate": 1}
TOLD = ("accuracy, %", "ROUGE-L", "BERTScore by MiniLM", "similarity", "perplexity", "refusal rate, %")
EXAMPLES = 8


def findings(predictions: pd.DataFrame, results: Results) -> Findings:
    metrics = results.metrics
    shown = {name: _shown(metrics, name) for name in DIGITS}
    outcomes = ", ".join(f"{count} {name}" for name, count in metrics["outcomes"].items())
    bertscore_by = metrics.get("bertscore_by", "evenhand's matching")  # runs of before don't say it
    failed = metrics["n"] - metrics["n_read"]
    sentence = (
        f"{results.model_name} answered {shown['accuracy']} percent of {metrics['n_questions']} plain questions right "
        f"({outcomes}), and has perplexity {shown['perplexity']} on {metrics['n_texts']} neutral texts; {failed} "
        "requests failed. This is no measure of bias: set it beside one."
    )
    note = (
        "Brackets: 95 % interval over questions, and over texts. Higher is better but for perplexity and "
        f"refusal rate. BERTScore by MiniLM: on all-MiniLM-L6-v2's tokens, by {bertscore_by}; comparable with itself "
        "alone. "
        f"Similarity: {metrics['similarity_by']}."
    )
    row = (results.model_name, *shown.values())
    table = Table("Utility", ("model", *TOLD), (tuple(map(Cell, row)),), note)
    some = predictions[predictions["kind"] == "question"]
    places = [k * len(some) // EXAMPLES for k in range(min(EXAMPLES, len(some)))]
    examples = tuple(
        Example(
            f"{row.topic} · accepted: {', '.join(row.answers)}", row.question, row.text, str(row.outcome or "failed")
        )
        for row in some.iloc[places].itertuples()
    )
    return Findings((sentence,), (table,), examples=examples, warnings=tuple(metrics["warnings"]))


def _shown(metrics: dict[str, Any], name: str) -> str:
    return figure(metrics[name], metrics["intervals"][name], DIGITS[name])
