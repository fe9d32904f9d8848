"""Single answers beside a record of Every Eval Ever: a JSON object a line (instance_level_eval, schema 0.2.2).

Of benchmarks whose rows are questions with one answer each. An answer that was not read has no score there, and a
number in its place would be made up: it is left out, and the record's `unread_rate` counts it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evenhand.hub.submission.every_eval_ever import SCHEMA_VERSION, About, evaluation_id, result_id
from evenhand.hub.submission.settings import WRITES

if TYPE_CHECKING:
    from evenhand.benchmark import SingleAnswer
    from evenhand.hub.submission.figures import Submitted
    from evenhand.hub.submission.finished_run import FinishedRun

Answer = Mapping[str, Any]  # a prediction


def lines(run: FinishedRun, found: Sequence[Submitted], about: About) -> bytes | None:
    """None of a benchmark whose answers don't fit."""
    results = {each.task: result_id(each) for each in found}
    records = (_record(run, answer, single, results, about) for answer, single in _read(run))
    text = "".join(json.dumps(each, ensure_ascii=False, allow_nan=False) + "\n" for each in records)
    return text.encode() or None


def _read(run: FinishedRun) -> Iterator[tuple[Answer, SingleAnswer]]:
    for answer in run.predictions.to_dict("records"):
        single = run.benchmark.publishing.single_answer(answer)
        if single is not None:
            yield answer, single


def _record(
    run: FinishedRun, answer: Answer, single: SingleAnswer, results: Mapping[str, str], about: About
) -> dict[str, Any]:
    writes = run.results.config.get("protocol") == WRITES
    return {
        "schema_version": f"instance_level_eval_{SCHEMA_VERSION}",
        "evaluation_id": evaluation_id(run, about),
        "model_id": about.model_id,
        "evaluation_name": f"{run.results.benchmark}.{single.task}",
        "evaluation_result_id": results[single.task],
        "sample_id": str(answer["id"]),
        "interaction_type": "single_turn",
        "input": {
            "raw": str(answer["question"]),
            "reference": [single.right],
            "choices": list(single.options),
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
        "evaluation": {"score": float(single.wrong), "is_correct": not single.wrong},
        "metadata": dict(single.told),
    }
