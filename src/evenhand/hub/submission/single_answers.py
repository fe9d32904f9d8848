"""Single answers beside a record of Every Eval Ever: a JSON object a line (instance_level_eval, schema 0.2.2).

Of benchmarks whose rows are questions with one answer each. An answer that was not read has no score there, and a
number in its place would be made up: it is left out, and the record's `unread_rate` counts it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.hub.submission.every_eval_ever import SCHEMA_VERSION, About, evaluation_id, result_id
from evenhand.hub.submission.settings import WRITES
from evenhand.metrics.contact_bias.scores import OPTIONS
from evenhand.tools.dataset_upkeep.hub_tasks import task_id

if TYPE_CHECKING:
    from evenhand.hub.submission.figures import Measured
    from evenhand.hub.submission.finished_run import FinishedRun

Answer = Mapping[str, Any]  # a prediction


@dataclass(frozen=True)
class Reading:
    """How a benchmark's predictions are read. wrong: the column that is None for what is unread."""

    wrong: str
    options: Callable[[Answer], Sequence[str]]
    right: Callable[[Answer], str]
    task: Callable[[Answer], str]
    told: tuple[str, ...]


def _unbiased(answer: Answer) -> str:
    affirming, declining = OPTIONS[answer["scale"]]
    return str(affirming if answer["action"] == "positive" else declining)


def _task(answer: Answer) -> str:
    half = "new_" if str(answer["template"]).startswith("new-") else ""
    return task_id(half + answer["scale"], answer["contact"])


READINGS: Mapping[str, Reading] = {
    "contact_hypothesis": Reading(
        "biased",
        lambda answer: OPTIONS[answer["scale"]],
        _unbiased,
        _task,
        ("contact", "action", "principle", "scenario", "axis", "descriptor", "situation"),
    ),
    "contact_controls": Reading(
        "against_ideal",
        lambda answer: answer["options"].split("/"),
        lambda answer: answer["ideal"],
        lambda answer: "controls",
        ("kind", "action", "agrees"),
    ),
}


def lines(run: FinishedRun, found: Sequence[Measured], about: About) -> bytes | None:
    """None of a benchmark whose answers don't fit."""
    reading = READINGS.get(run.results.benchmark)
    if reading is None:
        return None
    results = {each.task: result_id(each) for each in found}
    records = (_record(run, answer, reading, results, about) for answer in _read(run, reading))
    return "".join(json.dumps(each, ensure_ascii=False, allow_nan=False) + "\n" for each in records).encode()


def _read(run: FinishedRun, reading: Reading) -> Iterator[Answer]:
    answers = run.predictions
    yield from answers[answers[reading.wrong].notna()].to_dict("records")  # type: ignore[misc]


def _record(
    run: FinishedRun, answer: Answer, reading: Reading, results: Mapping[str, str], about: About
) -> dict[str, Any]:
    writes = run.results.config.get("protocol") == WRITES
    wrong, task = bool(answer[reading.wrong]), reading.task(answer)
    return {
        "schema_version": f"instance_level_eval_{SCHEMA_VERSION}",
        "evaluation_id": evaluation_id(run, about),
        "model_id": about.model_id,
        "evaluation_name": f"{run.results.benchmark}.{task}",
        "evaluation_result_id": results[task],
        "sample_id": str(answer["id"]),
        "interaction_type": "single_turn",
        "input": {
            "raw": str(answer["question"]),
            "reference": [reading.right(answer)],
            "choices": list(reading.options(answer)),
        },
        "output": {"raw": [str(answer["text"])]},
        "answer_attribution": [
            {
                "turn_idx": 0,
                "source": "output.raw",
                "extracted_value": str(answer["answer"]),
                "extraction_method": "the one option that is named" if writes else "the likelier option",
                "is_terminal": True,
            }
        ],
        "evaluation": {"score": float(wrong), "is_correct": not wrong},
        "metadata": {name: str(answer[name]) for name in reading.told},
    }
