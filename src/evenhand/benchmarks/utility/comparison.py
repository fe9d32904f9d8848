"""How two runs are compared: on the questions, and the texts, that both have."""

from __future__ import annotations

import math
from collections.abc import Callable

import pandas as pd

from evenhand.benchmark import Comparison, Judged
from evenhand.benchmarks.utility.collected import QUESTIONS
from evenhand.benchmarks.utility.figures import LIKENESS, figures
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

JUDGED = {
    NAMES["accuracy"]: Judged("utility", "high", 100),
    NAMES["rouge_l"]: Judged("utility", "high", 1, by_default=False),
    NAMES["bertscore_minilm"]: Judged("utility", "high", 1, by_default=False),
    NAMES["similarity"]: Judged("utility", "high", 1, by_default=False),
    NAMES["nats_per_word"]: Judged("utility", "low", logarithm=True),
    NAMES["refusal_rate"]: Judged("utility", "low", 100, by_default=False),
}


class Kept(Comparison):
    note = (
        "Accuracy, ROUGE-L, BERTScore, similarity: higher is better; log perplexity, refusal rate: lower is better. "
        "Empty answers are read: they are wrong, like nothing, and no refusal. "
    )

    def judged(self, figure: str) -> Judged:
        """Accuracy and perplexity; others where they are asked for."""
        return JUDGED[figure]

    def answers_of(self, task: str, key: str) -> Callable[[str], bool] | None:
        name = NAMES.get(key)
        return None if task != QUESTIONS or name is None else lambda figure: figure == name

    def headline(self, predictions: pd.DataFrame) -> pd.DataFrame:
        """Texts by nats a word, which models of different tokenizers share."""
        return self.headline_of(predictions, lambda figure: True)

    def headline_of(self, predictions: pd.DataFrame, wanted: Callable[[str], bool]) -> pd.DataFrame:
        """Nothing that isn't wanted is encoded."""
        names = {name: told for name, told in NAMES.items() if wanted(told)}
        values = figures(predictions, without={*LIKENESS} - {*names})
        of = {name: predictions["kind"] == ("text" if name == "nats_per_word" else "question") for name in names}
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
            for name, told in names.items()
            if of[name].any() and values[name].notna().any()
        ]
        return pd.concat(parts) if parts else pd.DataFrame(columns=["figure", "id", "value", "cluster"])
