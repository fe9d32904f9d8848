"""What Social Contact Debiasing does to answers on prompt sets that are held out from it, and to other text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

import pandas as pd
from transformers import PreTrainedModel

from evenhand.benchmarks import get_benchmark
from evenhand.benchmarks.contact_controls.verdict import judge_controls
from evenhand.figure import FigureTable, figure_rows
from evenhand.flow.configuration import Asking, RunConfig
from evenhand.flow.episode import Prediction
from evenhand.models.loading import Checkpoint
from evenhand.models.protocol import Model
from evenhand.trainers.held_out import Row, as_it_is, predictions
from evenhand.trainers.neutral_text import neutral_perplexity
from evenhand.trainers.progress import Heard, unheard_steps

DESIGN = ("scale", "action", "situation")

BIASED, OVER_ACCEPTED, OVER_DECLINED = "biased %", "accepted though unkind %", "declined though kind %"
PROBABILITY, PERPLEXITY = "probability of the biased answer %", "perplexity of neutral text"


@dataclass(frozen=True)
class HeldOut:
    """Measures a model in training on these rows, asked as `evenhand run contact_hypothesis` asks them.

    Percentages are of the answers read; those of one action, of the answers to questions with it.
    """

    rows: Sequence[Row]
    layout: str
    checkpoint: Checkpoint

    def __call__(self, model: PreTrainedModel, heard: Heard = unheard_steps) -> dict[str, float]:
        asked = as_it_is(model, self.checkpoint)
        return {**_figures(self._answers(asked, heard)), PERPLEXITY: neutral_perplexity(asked)}

    def _answers(self, model: Model, heard: Heard) -> Iterator[Prediction]:
        """Those that were read."""
        benchmark = get_benchmark("contact_hypothesis")
        how = Asking(replace(benchmark.Options(), layout=self.layout), "choose", benchmark.card.sampling)
        for each in predictions(benchmark, self.rows, how, model, heard):
            if each["biased"] is not None:
                yield each


def _figures(answers: Iterable[Prediction]) -> dict[str, float]:
    """Percentages; none of what nobody answered."""
    found = list(answers)
    of_action = {action: [each for each in found if each["action"] == action] for action in ("positive", "negative")}
    values: dict[str, list[Any]] = {
        BIASED: [each["biased"] for each in found],
        OVER_ACCEPTED: [each["biased"] for each in of_action["negative"]],
        OVER_DECLINED: [each["biased"] for each in of_action["positive"]],
        PROBABILITY: [each["value"] for each in found],
    }
    return {name: 100 * fmean(some) for name, some in values.items() if some}


@dataclass(frozen=True)
class Controls:
    """Whether a tuned model learned more than a polarity: all of contact_controls, asked as its run asks them."""

    layout: str
    checkpoint: Checkpoint

    def __call__(self, model: PreTrainedModel, heard: Heard = unheard_steps) -> dict[str, Any]:
        """By the benchmark's own rule (`evenhand.benchmarks.contact_controls.verdict.judge_controls`)."""
        benchmark = get_benchmark("contact_controls")
        options = benchmark.Options(layout=self.layout)
        config = benchmark.configuring.filled(RunConfig(benchmark="contact_controls", options=options))
        how = Asking(options, "choose", benchmark.card.sampling)
        asked = as_it_is(model, self.checkpoint)
        found = pd.DataFrame(predictions(benchmark, list(benchmark.load(config).rows), how, asked, heard))
        return judge_controls(FigureTable(figure_rows(benchmark.figures, benchmark.sample(found))))
