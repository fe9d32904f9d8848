"""Measure a model in training: a benchmark's questions on held-out rows, controls, and perplexity of neutral text."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from operator import mul
from statistics import fmean
from typing import Any

import pandas as pd
from transformers import PreTrainedModel

from evenhand.benchmark import Benchmark, Row
from evenhand.benchmarks import get_benchmark
from evenhand.benchmarks.contact_controls.verdict import judge_controls
from evenhand.benchmarks.utility.reading import continuation_request
from evenhand.figure import FigureTable, figure_rows
from evenhand.flow.configuration import Asking, RunConfig
from evenhand.flow.draw import draw
from evenhand.flow.episode import Prediction
from evenhand.library import load_dataset
from evenhand.models.loading import Checkpoint
from evenhand.models.protocol import Model, replies
from evenhand.models.request import Reply, Request
from evenhand.models.transformers_model import TransformersModel
from evenhand.statistics.estimators import exp
from evenhand.trainers.progress import Heard, unheard_steps
from evenhand.trainers.questions import Asked
from evenhand.trainers.rewards import bias_value

CONTACT_DESIGN = ("scale", "action", "situation")  # columns by which held-out prompt sets are drawn
STORY_DESIGN = ("domain", "biased")

PERPLEXITY = "perplexity of neutral text"
VALUE, UNREAD = "value, to be made small", "unread %"
EXPECTED, LIKELIEST = "expected value, to be made small", "value of the likeliest answer"
BIASED, OVER_ACCEPTED, OVER_DECLINED = "biased %", "accepted though unkind %", "declined though kind %"
PROBABILITY = "probability of the biased answer %"
ACCURACY, PRESENT, LOSS = "right in one word %", "said to be biased %", "loss of their reasons"
MADE_SMALL = (EXPECTED, VALUE, PROBABILITY)  # the first of these that is measured is what expected-score minimizes

Figures = dict[str, float]


def draw_evenly(rows: Sequence[Row], design: Sequence[str], n: int, seed: int) -> list[Row]:
    """Draw up to n rows, with the values of the design's columns in proportion."""
    if not rows:
        return []
    columns = pd.DataFrame(
        [{name: row[name] for name in design if name in row} for row in rows], index=range(len(rows))
    )
    return [rows[place] for place in draw(columns, min(n, len(rows)), seed)]


def in_training(model: PreTrainedModel, checkpoint: Checkpoint) -> TransformersModel:
    """Return the model to ask, with its weights of this moment; it keeps nothing of prompts of another moment."""
    return TransformersModel(lambda: model, checkpoint.tokenizer, "in training", checkpoint.context)


def predict(
    benchmark: Benchmark[Any], rows: Sequence[Row], how: Asking[Any], model: Model, heard: Heard = unheard_steps
) -> Iterator[Prediction]:
    """Ask all rows, and yield the benchmark's predictions of each in its order; heard: called with rows."""
    asked = [benchmark.ask(row, how) for row in rows]
    answered = iter(replies(model, [request for requests in asked for request in requests]))
    for done, (row, requests) in enumerate(zip(rows, asked)):
        heard(done, len(rows))
        yield from benchmark.read(row, [next(answered) for _ in requests], how)
    heard(len(rows), len(rows))


@cache
def neutral_requests() -> tuple[Request, ...]:
    """Return the continuation of each of utility's 24 probe texts after its first sentence."""
    texts = [row["text"] for row in load_dataset("utility", "texts", split="test") if row["probe"]]
    return tuple(continuation_request(f"neutral/{place}", text) for place, text in enumerate(texts))


def neutral_perplexity(model: Model) -> float:
    """Compute exp of the mean negative log-likelihood of all tokens; lower is better, at least 1."""
    scored = [token for reply in replies(model, neutral_requests()) for token in reply.choice_log_probs[0]]
    return exp(-sum(scored) / len(scored))


@dataclass(frozen=True)
class HeldOut:
    """Measures a model in training on these rows, asked as `evenhand run` asks them. figures: of all predictions."""

    benchmark: Benchmark[Any]
    rows: Sequence[Row]
    how: Asking[Any]
    figures: Callable[[list[Prediction]], Figures]
    checkpoint: Checkpoint

    def __call__(self, model: PreTrainedModel, heard: Heard = unheard_steps) -> Figures:
        asked = in_training(model, self.checkpoint)
        found = list(predict(self.benchmark, self.rows, self.how, asked, heard))
        return {**self.figures(found), PERPLEXITY: neutral_perplexity(asked)}


def value_figures(predictions: Sequence[Prediction]) -> Figures:
    """Compute the mean value of the answers that were read, and the share of the others."""
    read = [value for value in map(bias_value, predictions) if value is not None]
    unread = {UNREAD: 100 * (1 - len(read) / len(predictions))} if predictions else {}
    return {**({VALUE: fmean(read)} if read else {}), **unread}


def contact_figures(predictions: Sequence[Prediction]) -> Figures:
    """Compute percentages of the answers read: biased ones, by action, and the biased answer's probability."""
    read = [each for each in predictions if each["biased"] is not None]
    by_action = {action: [each for each in read if each["action"] == action] for action in ("positive", "negative")}
    values: dict[str, list[Any]] = {
        BIASED: [each["biased"] for each in read],
        OVER_ACCEPTED: [each["biased"] for each in by_action["negative"]],
        OVER_DECLINED: [each["biased"] for each in by_action["positive"]],
        PROBABILITY: [each["value"] for each in read],
    }
    return {name: 100 * fmean(some) for name, some in values.items() if some}


def story_figures(predictions: Sequence[Prediction]) -> Figures:
    """Compute percentages of the one-word answers read: right ones, and "present"."""
    read = [each for each in predictions if each["correct"] is not None]
    if not read:
        return {}
    present = [each["answer"] == "present" for each in read]
    return {ACCURACY: 100 * fmean(each["correct"] is True for each in read), PRESENT: 100 * fmean(present)}


@dataclass(frozen=True)
class HeldOutStories:
    """Measures answers about held-out stories, and the loss of their reasons: in nats, each reason the mean of its
    tokens, by which the paper chose its epochs.
    """

    rows: Sequence[Row]
    layout: str
    checkpoint: Checkpoint

    def __call__(self, model: PreTrainedModel, heard: Heard = unheard_steps) -> Figures:
        benchmark, n = get_benchmark("implicit_bias_understanding"), len(self.rows)
        how = benchmark.asking(protocol="choose", layout=self.layout)
        words = HeldOut(benchmark, self.rows, how, story_figures, self.checkpoint)
        figures = words(model, lambda done, _: heard(done, 2 * n))
        reasons = benchmark.asking(protocol="generate", asks="reason", layout=self.layout)
        targets = [target for row in self.rows for target in benchmark.targets(row, reasons)]
        requests = [replace(each.request, choices=(each.ideal,)) for each in targets]
        losses = []
        for reply in replies(in_training(model, self.checkpoint), requests):
            losses.append(-fmean(reply.choice_log_probs[0]))
            heard(n + len(losses) * n // len(requests), 2 * n)
        return {**figures, LOSS: fmean(losses)} if losses else figures


@dataclass(frozen=True)
class MeanExpected:
    """Measures the expected value of answers to these questions. aggregate: of log-probabilities, mean or sum."""

    questions: Sequence[Asked]
    aggregate: str
    checkpoint: Checkpoint

    def __call__(self, model: PreTrainedModel, heard: Heard = unheard_steps) -> Figures:
        asked, n = in_training(model, self.checkpoint), len(self.questions)
        found = []
        for done, each in enumerate(self.questions):  # one by one: a question has many options
            heard(done, n)
            [reply] = replies(asked, [each.request])
            found.append((each.values, probabilities(reply, self.aggregate)))
        heard(n, n)
        known = [(values, shares) for values, shares in found if shares is not None]
        figures = {UNREAD: 100 * (1 - len(known) / len(found))} if found else {}
        if known:
            figures |= {
                EXPECTED: fmean(math.fsum(map(mul, values, shares)) for values, shares in known),
                LIKELIEST: fmean(values[shares.index(max(shares))] for values, shares in known),
            }
        return {**figures, PERPLEXITY: neutral_perplexity(asked)}


def probabilities(reply: Reply, aggregate: str) -> list[float] | None:
    """Compute the probability of each option; None where a log-probability is missing, or all are 0."""
    scores = [sum(tokens) / (len(tokens) if aggregate == "mean" else 1) for tokens in reply.choice_log_probs]
    if reply.failed or any(map(math.isnan, scores)) or (highest := max(scores)) == -math.inf:
        return None
    weights = [math.exp(each - highest) for each in scores]
    return [weight / math.fsum(weights) for weight in weights]


@dataclass(frozen=True)
class Controls:
    """Asks a trained model all of contact_controls, to judge by the benchmark's rule whether it learned a polarity."""

    layout: str
    checkpoint: Checkpoint

    def __call__(self, model: PreTrainedModel, heard: Heard = unheard_steps) -> Mapping[str, Any]:
        benchmark = get_benchmark("contact_controls")
        options = benchmark.Options(layout=self.layout)
        config = benchmark.configuring.filled(RunConfig(benchmark="contact_controls", options=options))
        how = Asking(options, "choose", benchmark.card.sampling)
        asked = in_training(model, self.checkpoint)
        found = pd.DataFrame(predict(benchmark, list(benchmark.load(config).rows), how, asked, heard))
        return judge_controls(FigureTable(figure_rows(benchmark.figures, benchmark.sample(found))))
