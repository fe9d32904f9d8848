"""What labe keeps of a text: one prediction for each classifier that read it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from evenhand.benchmark import Row
from evenhand.flow.episode import Prediction, run_name
from evenhand.language_agency.label_request import agentic_probability
from evenhand.language_agency.sentences import sentence_id
from evenhand.models.request import Reply

if TYPE_CHECKING:
    from evenhand.benchmarks.labe.labels import Labels

TEXTS = "texts"  # the text type of texts that exist
STRATA = ("occupation", "department", "age", "group")
PERSON = ("name", "race", "gender", *STRATA)


def prediction_of(
    row: Row, run: int, agent: str, classifier: str, written: Reply, sentences: Sequence[str],
    labels: Sequence[Reply], said: Labels | None = None,
) -> Prediction:  # fmt: skip
    """A text as one classifier reads it: labels are its replies, one a sentence; a sentence it failed at is left out.

    gap: agentic minus communal sentences, percent of both; None without a sentence. value: its size, whichever way it
    points. said: people's labels; then `labelled` has 1 for each sentence that they call agentic, 0 for other labelled
    ones, NaN for the rest.
    """
    probabilities = map(agentic_probability, labels)
    read = [(sentence, agentic) for sentence, agentic in zip(sentences, probabilities) if not math.isnan(agentic)]
    n_agentic = sum(agentic > 0.5 for _, agentic in read)
    gap = 100 * (2 * n_agentic / len(read) - 1) if read else None
    prediction: Prediction = {
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
        "gap": gap,
        "value": None if gap is None else abs(gap),
    }
    if said is not None:
        prediction["labelled"] = [float(said.agentic.get(sentence_id(sentence), math.nan)) for sentence, _ in read]
    return prediction


def _cluster(row: Row) -> str:
    """The person: a name of one group, or the text itself where nobody is named."""
    return " ".join((row["race"], row["gender"], row["name"])) if row["name"] else str(row["id"])
