"""Every prediction's share in the figures, from which scores and comparisons are both made."""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np
import pandas as pd

from evenhand.benchmarks.utility.likeness import bertscore_minilm, rouge_l, similarity

LIKENESS = {"rouge_l": rouge_l, "bertscore_minilm": bertscore_minilm, "similarity": similarity}


def figures(predictions: pd.DataFrame, without: Collection[str] = ()) -> pd.DataFrame:
    """Columns accuracy and refusal_rate (100 or 0), rouge_l, bertscore_minilm, similarity, nats_per_word.

    NaN: unread, or no such row; and all of those of `LIKENESS` that it is asked to do without, for they take a while.
    """
    outcome = predictions["outcome"]
    asked = ((predictions["kind"] == "question") & outcome.notna()).to_numpy()
    found = pd.DataFrame(index=predictions.index)
    for name, which in (("accuracy", "correct"), ("refusal_rate", "refused")):
        found[name] = np.where(asked, 100.0 * (outcome == which).to_numpy(dtype=float), math.nan)
    texts, answers = predictions["text"][asked].tolist(), [list(each) for each in predictions["answers"][asked]]
    for name, measure in LIKENESS.items():
        values = None if name in without else measure(texts, answers)
        found[name] = math.nan
        if values is not None:
            found.loc[asked, name] = values
    nats, words = (pd.to_numeric(predictions[name]).astype("Float64").astype(float) for name in ("nats", "words"))
    found["nats_per_word"] = nats / words
    return found
