"""Records of Every Eval Ever (https://github.com/evaleval/every_eval_ever), schema 0.2.2, of every benchmark.

A record has what the Hub's boards lack: `lower_is_better`, bounds, intervals, how answers were sampled and, in a file
next to it, single answers. It is in the model's repository under the path that the project's own data have, so that it
can be handed on to them as it is: data/<collection>/<organization>/<model>/<UUID>.json.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.hub.submission import finished_run
from evenhand.hub.submission.figures import SubmittedFigure, is_signed, lower_is_better, submitted_range
from evenhand.hub.submission.finished_run import WRITES, FinishedRun, is_url, shown
from evenhand.hub.submission.validation import parse_date

SCHEMA_VERSION = "0.2.2"
FOLDER = "every_eval_ever"
COLLECTION = "evenhand"
LEVEL = 0.95
GLOBAL = ("accuracy",)  # figures that go by the same name everywhere
WARNINGS = 5  # in a record; more are counted


@dataclass(frozen=True)
class About:
    """What a record says besides the run. evaluator: who ran it; relationship: theirs to the model's developer.

    repository: of the run's dataset on the Hub, and its revision; None where none was named.
    """

    model_id: str
    date: str
    evaluator: str
    relationship: str
    repository: str | None
    revision: str | None

    @property
    def epoch(self) -> str:
        """Seconds since 1970."""
        return str(int(parse_date(self.date).timestamp()))


def place_of(run: FinishedRun, about: About) -> str:
    """Return the path in the project's own data, without its ending: the same for the same run, which it replaces."""
    digest = hashlib.sha256(f"{about.model_id} {run.fingerprint}".encode()).digest()
    return f"data/{COLLECTION}/{about.model_id}/{uuid.UUID(bytes=digest[:16], version=4)}"


def _evaluation_id(run: FinishedRun, about: About) -> str:
    return f"{run.results.benchmark}/{about.model_id}/{about.epoch}-{run.fingerprint[:12]}"


def record(
    run: FinishedRun, found: Sequence[SubmittedFigure], about: About, samples: bytes | None = None
) -> dict[str, Any]:
    """Return a run's record. samples: the file of single answers next to it."""
    versions = {"evenhand": "unknown", **run.results.versions}
    detailed = samples and {
        "format": "jsonl", "file_path": f"{place_of(run, about)}_samples.jsonl", "hash_algorithm": "sha256",
        "checksum": hashlib.sha256(samples).hexdigest(), "total_rows": samples.count(b"\n"),
    }  # fmt: skip
    written = {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": _evaluation_id(run, about),
        "evaluation_timestamp": about.epoch,
        "retrieved_timestamp": about.epoch,
        "source_metadata": {
            "source_name": "evenhand", "source_type": "evaluation_run", "source_organization_name": about.evaluator,
            "evaluator_relationship": about.relationship,
        },
        "eval_library": {"name": "evenhand", "version": versions["evenhand"], "additional_details": dict(versions)},
        "model_info": _describe_model(run, about),
        "evaluation_results": [_describe_figure(run, each, about) for each in found],
        "detailed_evaluation_results": detailed,
    }  # fmt: skip
    return dict(_without_none(written))


def _without_none(value: Any) -> Any:
    """Return a JSON value without what is unknown."""
    if isinstance(value, dict):
        return {name: _without_none(each) for name, each in value.items() if each is not None}
    return [*map(_without_none, value)] if isinstance(value, list) else value


def _describe_model(run: FinishedRun, about: About) -> dict[str, Any]:
    """Return what is known of the model: not who may have the weights, nor who runs a server's."""
    results, of_server = run.results, is_url(run.results.model)
    base = dict(results.option("model_options") or ()).get("base")
    engine = {"name": "transformers", "version": results.versions.get("transformers", "unknown")}
    return {
        "name": shown(results.model_name), "id": about.model_id, "developer": about.model_id.partition("/")[0],
        "inference_engine": None if of_server else engine,
        "additional_details": {
            "deployment_type": "unknown" if of_server else "self_deployed", "model_availability": "unknown",
            "ran_as": finished_run.describe_model(run),
            "is_by_name_what_ran": json.dumps(finished_run.is_that_model(run, about.model_id)),
            "revision": finished_run.commit_of(run), "base_model": shown(str(base)) if base else None,
        },
    }  # fmt: skip


def _describe_figure(run: FinishedRun, measured: SubmittedFigure, about: About) -> dict[str, Any]:
    figure, row, card, config = measured.figure, measured.row, run.benchmark.card, run.results.config
    low, high = submitted_range(figure) or (None, None)
    warnings = [each.text for each in run.results.warnings]
    more = [f"and {len(warnings) - WARNINGS} more"] if len(warnings) > WARNINGS else []
    lower, upper = measured.interval or (None, None)
    method = figure.statistic.method.format(clusters=" and by ".join(card.clusters))
    interval = {
        "lower": lower, "upper": upper, "confidence_level": LEVEL,
        "method": f"{method}; docs/statistics.md of evenhand",
    }  # fmt: skip
    options = {"temperature": "temperature", "top_p": "top_p", "max_tokens": "max_new_tokens"}
    sampled = options if config.get("protocol") == WRITES else {}  # where options are scored, nothing is sampled
    return {
        "evaluation_result_id": measured.result_id,
        "evaluation_name": f"{run.results.benchmark}.{measured.task}",
        "source_data": _describe_data(run, measured, about),
        "metric_config": {
            "evaluation_description": f"{card.title} ({card.paper}): {figure.description or figure.name}",
            "metric_id": figure.key if figure.key in GLOBAL else f"{card.metric or card.name}.{figure.key}",
            "metric_name": figure.name, "metric_unit": figure.unit or None, "lower_is_better": lower_is_better(figure),
            "score_type": None if low is None else "continuous", "min_score": low, "max_score": high,
        },
        "score_details": {
            "score": measured.value,
            "details": {
                "n": str(row.n), "unread_rate": json.dumps(row.unread_rate), "task": measured.task,
                "raw_score": json.dumps(row.value) if is_signed(figure) else None,
                "warnings": "; ".join((*warnings[:WARNINGS], *more)) or None,
            },
            "uncertainty": {
                "num_samples": row.n_read, "confidence_interval": interval if measured.interval else None,
            },
        },
        "generation_config": {
            "generation_args": {name: config.get(option) for name, option in sampled.items()},
            "additional_details": finished_run.settings(run),
        },
    }  # fmt: skip


def _describe_data(run: FinishedRun, measured: SubmittedFigure, about: About) -> dict[str, Any]:
    """Return the dataset on the Hub, if it was named and the run's rows are its; else its name and version."""
    if about.repository is None:
        return {
            "dataset_name": run.dataset, "source_type": "other", "source_version": run.dataset_version or None,
            "additional_details": {"rows": str(run.results.config.get("source"))},
        }  # fmt: skip
    return {
        "dataset_name": run.dataset, "source_type": "hf_dataset", "hf_repo": about.repository,
        "hf_split": run.benchmark.card.split,
        "hf_config": next((name for name in run.config.configs if measured.task.startswith(name)), None),
        "hf_revision": about.revision or f"v{run.dataset_version}", "samples_number": measured.row.n,
    }  # fmt: skip


def answer_lines(run: FinishedRun, found: Sequence[SubmittedFigure], about: About) -> bytes | None:
    """Single answers, a JSON object a line (instance_level_eval); None of a benchmark that has none.

    An unread answer has no score and is left out; the record's `unread_rate` counts it.
    """
    results = {each.task: each.result_id for each in reversed(found)}
    writes = run.results.config.get("protocol") == WRITES
    method = "the one option that is named" if writes else "the likelier option"
    read = {"turn_idx": 0, "source": "output.raw", "extraction_method": method, "is_terminal": True}
    lines = []
    for answer in run.predictions.to_dict("records"):
        single = run.benchmark.publishing.single_answer(answer)
        if single is None or single.task not in results:
            continue
        record = {
            "schema_version": f"instance_level_eval_{SCHEMA_VERSION}",
            "evaluation_id": _evaluation_id(run, about),
            "model_id": about.model_id,
            "evaluation_name": f"{run.results.benchmark}.{single.task}",
            "evaluation_result_id": results[single.task],
            "sample_id": str(answer["id"]),
            "interaction_type": "single_turn",
            "input": {"raw": str(answer["question"]), "reference": [single.right], "choices": list(single.options)},
            "output": {"raw": [str(answer["text"])]},
            "answer_attribution": [{**read, "extracted_value": str(answer["answer"])}],
            "evaluation": {"score": float(single.wrong), "is_correct": not single.wrong},
            "metadata": dict(single.columns),
        }
        lines.append(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")
    return "".join(lines).encode() or None
