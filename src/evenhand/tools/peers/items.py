"""A benchmark's questions for other harnesses: what is asked of each row, and what each option counts in each figure.

What an option counts is not written anew for any benchmark: every question is answered with its first option, then its
second, and so on, each answer is read by the benchmark itself, and its comparison says what headline figures are means
of.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from evenhand.errors import UsageError
from evenhand.figure import Sample
from evenhand.flow.episode import Episode, Prediction
from evenhand.flow.evaluation import Prepared, prepare
from evenhand.models.request import Reply, Request
from evenhand.models.stub import StubModel
from evenhand.statistics.estimators import RowMean

if TYPE_CHECKING:
    import datasets

    from evenhand.benchmark import Benchmark
    from evenhand.flow.configuration import RunConfig

OPTIONS_IN_WORDS = ("contact_hypothesis", "contact_controls")
"""Whose written answers are read as one of a question's options, named as a whole word (metrics/contact_bias)."""

ROWS_AT_ONCE = 2000
UNLIKELY = -50.0  # nats a token


@dataclass(frozen=True)
class Figure:
    """values: what each option counts, in the options' order; None: nothing."""

    name: str
    values: tuple[float | None, ...]


@dataclass(frozen=True)
class Item:
    """A question as a harness asks it. messages: role and content of each; id: of the prediction in a run."""

    id: str
    messages: tuple[Mapping[str, str], ...]
    choices: tuple[str, ...]
    figures: tuple[Figure, ...]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def prepare_export(config: RunConfig[Any]) -> Prepared:
    """Prepare rows and options as a run does, without a model. Raises UsageError for what no task file can hold."""
    run = prepare(config, StubModel("first"))
    name, asked = run.benchmark.card.name, run.config
    why = ""
    if run.helpers or len(run.models) > 1:
        why = "further models take part in it, such as those that read its texts"
    elif run.benchmark.card.sees:
        why = "its questions carry pictures, which a task file of text can't hold"
    elif asked.n_runs > 1:
        why = "a task file asks each question once; expected --runs 1"
    elif getattr(asked.options, "constrain", False):
        why = "the answers' schema is no part of a task file; leave --constrain out"
    elif getattr(asked.options, "order", "paper") != "paper":
        why = "harnesses score each prompt alone and average no two orders; expected --order paper"
    elif asked.protocol not in ("choose", "generate"):
        why = "it asks by a protocol of its own; use --protocol choose where the benchmark has it"
    elif asked.protocol == "generate" and name not in OPTIONS_IN_WORDS:
        why = "what is written there is read by rules that a task file can't hold"
        why += "; use --protocol choose with lm-eval" if "choose" in run.benchmark.card.protocols else ""
    if why:
        raise UsageError(f"this run of {name} can't be exported: {why}")
    return run


def list_items(run: Prepared) -> Iterator[Item]:
    """Yield every question, in the run's order. Raises UsageError for rows that are no questions with options."""
    rows = run.rows.rows
    for start in range(0, len(rows), ROWS_AT_ONCE):
        yield from _items(run, rows.select(range(start, min(start + ROWS_AT_ONCE, len(rows)))))


def _items(run: Prepared, rows: datasets.Dataset) -> Iterator[Item]:
    written = [_first_step(run, episode) for episode in run.episodes(rows)]
    scored = replace(run, config=replace(run.config, protocol="choose"))  # which names each question's options
    choices = [[request.choices for request in _first_step(run, episode)] for episode in scored.episodes(rows)]
    most = max(len(some) for of_row in choices for some in of_row)
    answered = [[_answer(scored, episode, place) for episode in scored.episodes(rows)] for place in range(most)]
    figures = _figures(run, answered)
    if not figures:
        name = run.benchmark.card.name
        raise UsageError(f"{name} can't be exported: none of its headline figures is a mean over answers")
    for asked, options, predictions in zip(written, choices, answered[0]):
        if len(predictions) != len(asked) or not all(options):
            raise _no_question(run)
        for request, some, prediction in zip(asked, options, predictions):
            found = figures.get(str(prediction["id"]), {})
            yield Item(
                id=str(prediction["id"]),
                messages=tuple({"role": each.role, "content": each.text} for each in request.messages),
                choices=some,
                figures=tuple(Figure(name, tuple(values[: len(some)])) for name, values in found.items()),
            )


def _first_step(run: Prepared, episode: Episode) -> Sequence[Request]:
    requests = next(episode)
    if any(len({each.role for each in request.messages}) < len(request.messages) for request in requests):
        raise _no_question(run)
    return requests


def _answer(run: Prepared, episode: Episode, place: int) -> list[Prediction]:
    """Answer every question of a row with its option at this place, or the last one; return the predictions.

    Raises UsageError where the answers lead to further questions.
    """
    replies = []
    for n in (len(request.choices) for request in next(episode)):
        log_probs = tuple((0.0,) if i == min(place, n - 1) else (UNLIKELY,) for i in range(n))
        replies.append(Reply(finish_reason="choice", choice_log_probs=log_probs))
    try:
        episode.send(replies)
    except StopIteration as end:
        return list(end.value)
    raise _no_question(run)


def _figures(run: Prepared, answered: Sequence[list[list[Prediction]]]) -> dict[str, dict[str, list[float | None]]]:
    """Return {id: {figure: what each option counts}}, of headline figures that are means over rows."""
    import pandas as pd

    found: dict[str, dict[str, list[float | None]]] = {}
    for predictions in answered:
        sample = run.benchmark.sample(pd.DataFrame([each for of_row in predictions for each in of_row]))
        for name, row, value in headline_values(run.benchmark, sample):
            figures = found.setdefault(row, {})
            figures.setdefault(name, []).append(None if math.isnan(value) else value)
    return found


def headline_values(benchmark: Benchmark[Any], sample: Sample) -> Iterator[tuple[str, str, float]]:
    """Yield (figure, id, value) of headline figures that are means over rows."""
    for figure in benchmark.figures:
        if not (isinstance(figure.statistic, RowMean) and figure.can_be_computed(sample.rows)):
            continue
        for columns in figure.headline:
            for groups, some in sample.where(figure.where).by(columns):
                for further, rows in figure.statistic.values(some):
                    for row, value in zip(rows["id"], rows["value"]):
                        yield ", ".join((figure.key, *groups.values(), *further.values())), str(row), float(value)


def _no_question(run: Prepared) -> UsageError:
    return UsageError(
        f"{run.benchmark.card.name} can't be exported: a task file asks single questions with options, and its rows "
        "are something else, such as conversations or texts"
    )
