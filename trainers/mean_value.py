"""What a training does to a benchmark's value of answers on rows that are held out from it, and to other text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from transformers import PreTrainedModel

from evenhand.benchmarks import get_benchmark
from evenhand.flow.configuration import Asking
from evenhand.models.loading import Checkpoint
from evenhand.trainers.held_out import Row, as_it_is, predictions
from evenhand.trainers.neutral_text import neutral_perplexity
from evenhand.trainers.progress import Heard, unheard_steps
from evenhand.trainers.rewards import bias_value

VALUE, UNREAD, PERPLEXITY = "value, to be made small", "unread %", "perplexity of neutral text"


@dataclass(frozen=True)
class MeanValue:
    """Measures a model in training on these rows, asked as `evenhand run` asks them. The value is of answers read."""

    benchmark: str
    rows: Sequence[Row]
    how: Asking[Any]
    checkpoint: Checkpoint

    def __call__(self, model: PreTrainedModel, heard: Heard = unheard_steps) -> dict[str, float]:
        benchmark = get_benchmark(self.benchmark)
        asked = as_it_is(model, self.checkpoint)
        values = [bias_value(each) for each in predictions(benchmark, self.rows, self.how, asked, heard)]
        read = [value for value in values if value is not None]
        figures = {VALUE: fmean(read)} if read else {}
        unread = {UNREAD: 100 * (1 - len(read) / len(values))} if values else {}
        return {**figures, **unread, PERPLEXITY: neutral_perplexity(asked)}
