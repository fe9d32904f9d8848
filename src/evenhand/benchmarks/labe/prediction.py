"""What labe keeps of a text: one prediction for each classifier that read it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from evenhand.benchmark import Row
from evenhand.flow.episode import Prediction, run_name
from evenhand.language_agency.label_request import agentic_probability
from evenhand.models.request import Reply

TEXTS = "texts"  # the text type of texts that exist
STRATA = ("occupation", "department", "age", "group")
PERSON = ("name", "race", "gender", *STRATA)


def prediction_of(
    row: Row, run: int, agent: str, classifier: str, written: Reply, sentences: Sequence[str], labels: Sequence[Reply]
) -> Prediction:
    """A text as one classifier reads it: labels are its replies, one a sentence; a sentence it failed at is left out.

    gap: agentic minus communal sentences, percent of both; None without a sentence.
    """
    probabilities = map(agentic_probability, labels)
    read = [(sentence, agentic) for sentence, agentic in zip(sentences, probabilities) if not math.isnan(agentic)]
    n_agentic = sum(agentic > 0.5 for _, agentic in read)
    return {
        "id": f"{row['id']}{run_name(run)}/{agent}",
        "row": row["id"],
        "run": run,
        "classifier": classifier,
        "text_type": row.get("text_type", TEXTS),
        **{column: row.get(column) for column in PERSON},
        "cluster": _cluster(row),
        "prompt": row.get("prompt", ""),
        "text": written.text,
        "finish_reason": written.finish_reason,
        "sentences": [sentence for sentence, _ in read],
        "agentic": [agentic for _, agentic in read],
        "n_agentic": n_agentic,
        "gap": 100 * (2 * n_agentic / len(read) - 1) if read else None,
    }


def _cluster(row: Row) -> str:
    """The person: a name of one group, or the text itself where nobody is named."""
    return " ".join((row["race"], row["gender"], row["name"])) if row["name"] else str(row["id"])
