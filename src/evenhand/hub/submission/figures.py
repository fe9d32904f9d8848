"""Which of a run's figures others collect: of what range, which end is better, and of which task.

Many of ours are best at 0, some of these with a sign. A board that knows only "lower" and "higher is better" gets the
distance from 0 of what has a sign; the raw figure stands beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.benchmarks.contact_hypothesis.prompts import CONTACTS
from evenhand.errors import UsageError
from evenhand.tools.dataset_upkeep.hub_tasks import task_id

if TYPE_CHECKING:
    from evenhand.hub.submission.finished_run import FinishedRun

Interval = tuple[float, float]


@dataclass(frozen=True)
class Figure:
    """key: as in results.json, without a sign where `signed`. low, high: between which it lies; None: nobody knows.

    signed: the raw figure has a sign, and this is its distance from 0. told: what it is.
    """

    key: str
    unit: str
    low: float | None
    high: float | None
    lower_is_better: bool
    told: str
    signed: bool = False


@dataclass(frozen=True)
class Measured:
    """A figure of a task. n: answers, n_read: those that were read. raw: before its sign was taken off."""

    figure: Figure
    task: str
    value: float
    interval: Interval | None
    n: int
    n_read: int
    raw: float


def measured(run: FinishedRun) -> list[Measured]:
    """Of all tasks that the run asked. A mean over a benchmark's tasks is there only where none of them is missing.

    Raises UsageError for a run whose figures can't be told apart by task, or that has none.
    """
    of = OF_BENCHMARKS.get(run.results.benchmark, _headline)
    found = list(of(run))
    if not found:
        raise UsageError(f"{run.name}: {run.results.benchmark} has no figure that others collect; leave this run out")
    return found


def complete(run: FinishedRun) -> bool:
    """Whether all configurations were asked that the benchmark's mean is of."""
    card = run.benchmark.card
    return set(run.config.configs) >= set(card.default_configs or card.configs)


# Of a benchmark each

BIASED = Figure(
    "biased_percentage", "percent", 0.0, 100.0, True,
    "percentage of biased responses: declining a positive action or affirming a negative one; 0 is best, random and "
    "constant answers have 50",
)  # fmt: skip
AGAINST = Figure(
    "against_ideal", "percent", 0.0, 100.0, True,
    "percentage of answers against what is right; 0 is best, random and constant answers have 50",
)  # fmt: skip
ACCURACY = Figure("accuracy", "percent", 0.0, 100.0, False, "percentage of right answers; 100 is best")
REFUSALS = Figure("refusal_rate", "percent", 0.0, 100.0, True, "percentage of harmless questions that were refused")
BIAS_SCORE = Figure(
    "bias_score", "percent", 0.0, 100.0, True,
    "distance of the bias score from 0, which is best; the raw score is positive where answers follow the stereotype",
    signed=True,
)  # fmt: skip
ASSIGNED = Figure(
    "bias_score", "score", 0.0, 1.0, True,
    "distance of the bias score of task assignments from 0, which is best; the raw score is positive where they follow "
    "the stereotype",
    signed=True,
)  # fmt: skip


def _contact_hypothesis(run: FinishedRun) -> Iterator[Measured]:
    """Of each scale after each contact, as in the paper's Table 3, and of all where all scales of a half were asked."""
    halves = {name.startswith("new_") for name in run.config.configs}
    if len(halves) > 1:
        raise UsageError(
            f"{run.name} asks both halves of contact_hypothesis at once ({', '.join(run.config.configs)}), and its "
            "figures are of both together; run each half by itself (--config), and submit both runs"
        )
    metrics, prefix = run.results.metrics, "new_" if halves == {True} else ""
    asked = run.predictions.groupby(["scale", "contact"])["biased"]
    sizes, read = asked.size(), asked.count()
    for config in run.config.configs:
        scale = config.removeprefix("new_")
        of = metrics["by"]["scale"][scale]
        for contact in CONTACTS:
            counts = int(sizes[scale, contact]), int(read[scale, contact])
            yield _measured(of, BIASED, task_id(config, contact), counts, ("biased_percentage", contact))
    if {name.removeprefix("new_") for name in run.config.configs} >= set(run.benchmark.card.default_configs):
        yield _measured(metrics, BIASED, f"{prefix}all", None, ("biased_percentage", "overall"))


def _contact_controls(run: FinishedRun) -> Iterator[Measured]:
    yield _measured(run.results.metrics, AGAINST, "controls", None, ("against_ideal",))


def _utility(run: FinishedRun) -> Iterator[Measured]:
    if "questions" in run.config.configs:
        n = int(run.results.metrics["n_questions"])
        read = sum(run.results.metrics["outcomes"].values())
        for figure in (ACCURACY, REFUSALS):
            yield _measured(run.results.metrics, figure, "questions", (n, read), (figure.key,))


def _bbq(run: FinishedRun) -> Iterator[Measured]:
    """Of each category, and of all where all were asked."""
    parts = dict(run.results.metrics["by"]["category"])
    if complete(run):
        parts["all"] = run.results.metrics
    for category, of in parts.items():
        for condition, score in of["bias_score"].items():
            if score is not None:
                yield _measured(of, BIAS_SCORE, f"{category}-{condition}", None, ("bias_score", condition))
        for condition in ("ambig", "disambig"):
            if of["accuracy"][condition] is not None:
                yield _measured(of, ACCURACY, f"{category}-{condition}", None, ("accuracy", condition))


def _labe(run: FinishedRun) -> Iterator[Measured]:
    """Of each type of text, and of all where all were asked."""
    parts = dict(run.results.metrics["by"]["text_type"])
    if complete(run):
        parts["all"] = run.results.metrics
    for text_type, of in parts.items():
        for key, groups in (("gender_variance", 2), ("race_variance", 4), ("intersectional_variance", 8)):
            figure = Figure(
                key, "squared percent", 0.0, 10_000 * groups / (groups - 1), True,
                f"variance of the ratio gaps (agentic minus communal) of {groups} groups; 0 is best",
            )  # fmt: skip
            yield _measured(of, figure, text_type, None, (key,))


def _implicit_bias(run: FinishedRun) -> Iterator[Measured]:
    """Of the last assignments."""
    task = "-".join((*run.config.configs, str(run.results.option("setting"))))
    yield _measured(run.results.metrics, ASSIGNED, task, None, ("bias_score",))


def _mllm_stereotypes(run: FinishedRun) -> Iterator[Measured]:
    for config, of in run.results.metrics["configs"].items():
        figure = Figure(
            "association_score", "score", 0.0, float(of["maximum_score"]), True,
            "association bias score: the mean distance of selection rates from even ones; 0 is best",
        )  # fmt: skip
        yield _measured(of, figure, config, None, ("association_score",))


def _headline(run: FinishedRun) -> Iterator[Measured]:
    """Of a benchmark that is not known here: how far it is from no bias, by its own word."""
    value = run.benchmark.headline(run.results.metrics)
    if value is None:
        return
    card, metrics = run.benchmark.card, run.results.metrics
    high = None if card.ends is None else max(map(abs, card.ends))
    figure = Figure(card.metric or "headline", "", 0.0, high, True, f"{card.title}: distance from no bias; 0 is best")
    task = "-".join(run.config.configs) or card.name
    yield Measured(figure, task, float(value), None, int(metrics["n"]), int(metrics["n_read"]), float(value))


OF_BENCHMARKS: Mapping[str, Callable[[FinishedRun], Iterator[Measured]]] = {
    "contact_hypothesis": _contact_hypothesis,
    "contact_controls": _contact_controls,
    "utility": _utility,
    "bbq": _bbq,
    "labe": _labe,
    "implicit_bias": _implicit_bias,
    "mllm_stereotypes": _mllm_stereotypes,
}


def _measured(
    of: Mapping[str, Any], figure: Figure, task: str, counts: tuple[int, int] | None, key: tuple[str, ...]
) -> Measured:
    """of: metrics of a task. counts: answers, and those read, where `of` has those of more than the task."""
    n, n_read = counts or (int(of["n"]), int(of["n_read"]))
    raw = _number(_at(of, key))
    ends = _at(of.get("intervals", {}), key)
    interval = None
    if isinstance(ends, (list, tuple)) and len(ends) == 2 and None not in ends:
        interval = (_number(ends[0]), _number(ends[1]))
    value = raw
    if figure.signed:
        value = abs(raw)
        interval = None if interval is None else _distances(interval)
    return Measured(figure, task, value, interval, n, n_read, raw)


def _at(of: Any, key: tuple[str, ...]) -> Any:
    for name in key:
        of = of.get(name) if isinstance(of, Mapping) else None
    return of


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else math.nan


def _distances(interval: Interval) -> Interval:
    """From 0, of what lies in an interval."""
    low, high = sorted(map(abs, interval))
    return (0.0 if interval[0] <= 0 <= interval[1] else low), high
