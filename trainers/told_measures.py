"""What tuning on told assignments does to answers about stories that are held out from it, and to other text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

import pandas as pd
from transformers import PreTrainedModel

from evenhand.benchmarks import get_benchmark
from evenhand.flow.draw import draw
from evenhand.models.loading import Checkpoint
from evenhand.models.protocol import Model, replies
from evenhand.models.transformers_model import TransformersModel
from evenhand.trainers.neutral_text import neutral_perplexity
from evenhand.trainers.told_assignments import Row

DESIGN = ("domain", "biased")

ACCURACY, PRESENT = "right in one word %", "said to be biased %"
LOSS, PERPLEXITY = "loss of their reasons", "perplexity of neutral text"


def evenly_drawn(rows: Sequence[Row], n: int, seed: int) -> list[Row]:
    """n stories or fewer, domains and both kinds in their proportions."""
    design = pd.DataFrame([{name: row[name] for name in DESIGN} for row in rows], columns=list(DESIGN))
    return [rows[place] for place in draw(design, min(n, len(rows)), seed)] if rows else []


@dataclass(frozen=True)
class HeldOut:
    """Measures a model in training on these stories, asked as `evenhand run implicit_bias_understanding` asks them.

    The loss is of the reasons' tokens, in nats, each reason the mean of its own: by it the paper chose the epochs.
    """

    rows: Sequence[Row]
    layout: str
    checkpoint: Checkpoint

    def __call__(self, model: PreTrainedModel) -> dict[str, float]:
        # A model of its own each time: what it keeps of prompts is of the weights that it had.
        asked = TransformersModel(lambda: model, self.checkpoint.tokenizer, "in training", self.checkpoint.context)
        told = {**self._words(asked), LOSS: self._loss(asked)} if self.rows else {}
        return {**told, PERPLEXITY: neutral_perplexity(asked)}

    def _words(self, model: Model) -> dict[str, float]:
        """Of the answers that were read."""
        benchmark = get_benchmark("implicit_bias_understanding")
        how = benchmark.asking(protocol="choose", layout=self.layout)
        asked = [benchmark.ask(row, how) for row in self.rows]
        answered = iter(replies(model, [request for requests in asked for request in requests]))
        read: list[dict[str, Any]] = []
        for row, requests in zip(self.rows, asked):
            read += benchmark.read(row, [next(answered) for _ in requests], how)
        read = [each for each in read if each["correct"] is not None]
        if not read:
            return {}
        said = [each["answer"] == "present" for each in read]
        return {ACCURACY: 100 * fmean(each["correct"] for each in read), PRESENT: 100 * fmean(said)}

    def _loss(self, model: Model) -> float:
        benchmark = get_benchmark("implicit_bias_understanding")
        how = benchmark.asking(protocol="generate", asks="reason", layout=self.layout)
        targets = [target for row in self.rows for target in benchmark.targets(row, how)]
        scored = replies(model, [replace(each.request, choices=(each.ideal,)) for each in targets])
        return -fmean(fmean(reply.choice_log_probs[0]) for reply in scored)
