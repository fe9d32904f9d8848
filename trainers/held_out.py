"""A model in training, asked what a benchmark asks, on rows that are held out from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
from transformers import PreTrainedModel

from evenhand.benchmark import Benchmark
from evenhand.flow.configuration import Asking
from evenhand.flow.draw import draw
from evenhand.models.loading import Checkpoint
from evenhand.models.protocol import Model, replies
from evenhand.models.transformers_model import TransformersModel
from evenhand.trainers.progress import Heard, unheard_steps

Row = Mapping[str, Any]


def evenly_drawn(rows: Sequence[Row], design: Sequence[str], n: int, seed: int) -> list[Row]:
    """n rows or fewer, the values of the design's columns in their proportions."""
    columns = pd.DataFrame([{name: row[name] for name in design} for row in rows], columns=list(design))
    return [rows[place] for place in draw(columns, min(n, len(rows)), seed)] if rows else []


def as_it_is(model: PreTrainedModel, checkpoint: Checkpoint) -> TransformersModel:
    """The model to be asked, with its weights of this moment: what it keeps of prompts is of no other."""
    return TransformersModel(lambda: model, checkpoint.tokenizer, "in training", checkpoint.context)


def predictions(
    benchmark: Benchmark[Any], rows: Sequence[Row], how: Asking[Any], model: Model, heard: Heard = unheard_steps
) -> Iterator[Any]:
    """Of each row in its order, as the benchmark reads the model's replies; unread ones, too. heard: told of rows."""
    asked = [benchmark.ask(row, how) for row in rows]
    answered = iter(replies(model, [request for requests in asked for request in requests]))
    for done, (row, requests) in enumerate(zip(rows, asked)):
        heard(done, len(rows))
        yield from benchmark.read(row, [next(answered) for _ in requests], how)
    heard(len(rows), len(rows))
