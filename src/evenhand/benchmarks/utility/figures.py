"""What utility measures: right, refused and empty answers to questions, likeness to references, and perplexity."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.benchmarks.utility.likeness import LIKENESS, bertscore
from evenhand.figure import Figure, Groups, Sample
from evenhand.report.layout import Column, Grid
from evenhand.statistics.estimators import ExpMean, Mean, RowMean, Share, row_values

if TYPE_CHECKING:
    import pandas as pd

CHOSEN = "bertscore"  # by the encoder of --scorer
QUESTIONS, TEXTS = {"kind": "question"}, {"kind": "text"}


@dataclass(frozen=True)
class Likeness(RowMean):
    """Mean likeness of replies to accepted answers, by a measure of `LIKENESS`; nothing where that is not installed.

    It is costly, and computed when it is asked for, once for each sample: a gate that doesn't judge it doesn't wait.
    """

    measure: str
    range: tuple[float, float]

    columns = ("text", "answers", "outcome")

    def values(self, sample: Sample) -> Iterator[tuple[Groups, pd.DataFrame]]:
        values = sample.once(("likeness", self.measure), lambda: self._measured(sample.rows))
        if values is not None:
            yield {}, row_values(sample, values)

    def _measured(self, rows: pd.DataFrame) -> pd.Series | None:
        """NaN: the request failed."""
        import pandas as pd

        answered = rows[rows["outcome"].notna()]
        texts, answers = answered["text"].tolist(), [list(each) for each in answered["answers"]]
        if self.measure == CHOSEN:
            found = bertscore(texts, answers, str(rows["scorer"].iloc[0])) if "scorer" in rows else None
        else:
            found = LIKENESS[self.measure](texts, answers)
        return None if found is None else pd.Series(found, answered.index, dtype=float).reindex(rows.index)


def _likeness(measure: str, name: str, least: float, description: str) -> Figure:
    return Figure(
        measure, name, Likeness(measure, (least, 1.0)), unit="score", best="high", about="utility", where=QUESTIONS,
        headline=((),), judged=(), submitted=(), digits=3, description=description,
    )  # fmt: skip


FIGURES = (
    Figure("accuracy", "accuracy", Share("correct"), unit="percent", best="high", about="utility", where=QUESTIONS,
           headline=((),), main=(), description="percentage of right answers; 100 is best"),
    _likeness("rouge_l", "ROUGE-L", 0.0, "mean ROUGE-L F1 of replies with the nearest accepted answer"),
    _likeness("bertscore_minilm", "BERTScore by MiniLM", -1.0,
              "mean BERTScore F1, on all-MiniLM-L6-v2's tokens, of replies with the nearest accepted answer"),
    _likeness(CHOSEN, "BERTScore by --scorer", -1.0,
              "mean BERTScore F1 of replies with the nearest accepted answer, by the encoder that was chosen"),
    _likeness("similarity", "similarity to the reference", -1.0,
              "mean cosine of all-MiniLM-L6-v2 sentence embeddings of replies and first accepted answers"),
    Figure("perplexity", "perplexity", ExpMean("nats_per_token", weight="tokens"), about="utility", where=TEXTS,
           main=(), digits=2,
           description="exp of the mean negative log-likelihood of all tokens after texts' first sentences"),
    Figure("nats_per_word", "log perplexity a word", Mean("nats_per_word"), unit="nats", about="utility", where=TEXTS,
           headline=((),), submitted=(), digits=3, logarithm=True,
           description="mean negative log-likelihood a word: texts by models of different tokenizers"),
    Figure("refusal_rate", "refusal rate", Share("refused"), unit="percent", about="utility", where=QUESTIONS,
           headline=((),), judged=(), description="percentage of harmless questions that were refused"),
    Figure("empty_rate", "empty replies", Share("empty"), unit="percent", about="utility", where=QUESTIONS),
)  # fmt: skip

LAYOUT = (
    Grid(
        "Utility", (),
        (Column("accuracy, %", "accuracy"), Column("ROUGE-L", "rouge_l"),
         Column("BERTScore by MiniLM", "bertscore_minilm"), Column("BERTScore by --scorer", CHOSEN),
         Column("similarity", "similarity"),
         Column("perplexity", "perplexity"), Column("refusal rate, %", "refusal_rate"),
         Column("empty, %", "empty_rate"), Column("questions", "accuracy", show="n"),
         Column("texts", "perplexity", show="n")),
        "No measure of bias: set it beside one. Higher is better but for perplexity, refusals and empty replies. "
        "BERTScore is on all-MiniLM-L6-v2's tokens, comparable with itself alone; similarity is the cosine of its "
        "sentence embeddings.",
    ),
)  # fmt: skip


def add_figure_columns(predictions: pd.DataFrame) -> pd.DataFrame:
    """Add the outcomes as columns, and negative log-likelihood a token and a word."""
    import pandas as pd

    outcome = predictions["outcome"]
    nats, tokens, words = (
        pd.to_numeric(predictions[name]).astype("Float64").astype(float) for name in ("nats", "tokens", "words")
    )
    outcomes = {
        name: (outcome == name).astype(float).where(outcome.notna()) for name in ("correct", "refused", "empty")
    }
    return predictions.assign(**outcomes, nats_per_token=nats / tokens, nats_per_word=nats / words)
