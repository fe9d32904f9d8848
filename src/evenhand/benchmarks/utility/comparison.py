"""How two runs are compared: on the questions, and the texts, that both have."""

from __future__ import annotations

import math

import pandas as pd

from evenhand.benchmark import Comparison
from evenhand.benchmarks.utility.figures import figures
from evenhand.benchmarks.utility.scoring import OF_QUESTIONS

NOT_KNOWN = (math.nan, math.nan)
NAMES = {
    "accuracy": "accuracy, %",
    "rouge_l": "ROUGE-L",
    "bertscore_minilm": "BERTScore by MiniLM",
    "similarity": "similarity to the reference",
    "nats_per_word": "log perplexity a word",
    "refusal_rate": "refusal rate, %",
}


class Kept(Comparison):
    note = (
        "Accuracy, ROUGE-L, BERTScore, similarity: higher is better; log perplexity, refusal rate: lower is better. "
        "Empty answers are read: they are wrong, like nothing, and no refusal. "
    )

    def headline(self, predictions: pd.DataFrame) -> pd.DataFrame:
        """Texts by nats a word, which models of different tokenizers share."""
        values = figures(predictions)
        of = {name: predictions["kind"] == ("text" if name == "nats_per_word" else "question") for name in NAMES}
        parts = [
            pd.DataFrame(
                {
                    "figure": told,
                    "id": predictions["id"][of[name]],
                    "value": values[name][of[name]],
                    "cluster": predictions["row"][of[name]],
                    "least": OF_QUESTIONS.get(name, NOT_KNOWN)[0],
                    "most": OF_QUESTIONS.get(name, NOT_KNOWN)[1],
                }
            )
            for name, told in NAMES.items()
            if of[name].any() and values[name].notna().any()
        ]
        return pd.concat(parts) if parts else pd.DataFrame(columns=["figure", "id", "value", "cluster"])
