"""What tuning on told assignments does to answers about stories that are held out from it, and to other text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from transformers import PreTrainedModel

from evenhand.benchmarks import get_benchmark
from evenhand.models.loading import Checkpoint
from evenhand.models.protocol import Model, replies
from evenhand.trainers.held_out import as_it_is, predictions
from evenhand.trainers.neutral_text import neutral_perplexity
from evenhand.trainers.progress import Heard, unheard_steps
from evenhand.trainers.told_assignments import Row

DESIGN = ("domain", "biased")

ACCURACY, PRESENT = "right in one word %", "said to be biased %"
LOSS, PERPLEXITY = "loss of their reasons", "perplexity of neutral text"


@dataclass(frozen=True)
class HeldOut:
    """Measures a model in training on these stories, asked as `evenhand run implicit_bias_understanding` asks them.

    The loss is of the reasons' tokens, in nats, each reason the mean of its own: by it the paper chose the epochs.
    """

    rows: Sequence[Row]
    layout: str
    checkpoint: Checkpoint

    def __call__(self, model: PreTrainedModel, heard: Heard = unheard_steps) -> dict[str, float]:
        asked = as_it_is(model, self.checkpoint)
        told: dict[str, float] = {}
        if self.rows:
            told = self._words(asked, lambda done, rows: heard(done, 2 * rows))
            told[LOSS] = self._loss(asked, lambda done, rows: heard(rows + done, 2 * rows))
        return {**told, PERPLEXITY: neutral_perplexity(asked)}

    def _words(self, model: Model, heard: Heard) -> dict[str, float]:
        """Of the answers that were read."""
        benchmark = get_benchmark("implicit_bias_understanding")
        how = benchmark.asking(protocol="choose", layout=self.layout)
        read = [each for each in predictions(benchmark, self.rows, how, model, heard) if each["correct"] is not None]
        if not read:
            return {}
        said = [each["answer"] == "present" for each in read]
        return {ACCURACY: 100 * fmean(each["correct"] for each in read), PRESENT: 100 * fmean(said)}

    def _loss(self, model: Model, heard: Heard) -> float:
        benchmark = get_benchmark("implicit_bias_understanding")
        how = benchmark.asking(protocol="generate", asks="reason", layout=self.layout)
        targets = [target for row in self.rows for target in benchmark.targets(row, how)]
        scored = replies(model, [replace(each.request, choices=(each.ideal,)) for each in targets])
        losses = []
        for reply in scored:
            losses.append(-fmean(reply.choice_log_probs[0]))
            heard(len(losses) * len(self.rows) // len(targets), len(self.rows))
        return fmean(losses)
