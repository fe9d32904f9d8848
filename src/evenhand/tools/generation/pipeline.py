"""What pipelines share that make a dataset with a model: options, settings, counts by reason, rows, results."""

from __future__ import annotations

import argparse
import json
import platform
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from importlib import metadata
from pathlib import Path

from evenhand.errors import UsageError
from evenhand.flow.evaluation import VERSIONED
from evenhand.flow.run_folder import RunFolder, write_whole
from evenhand.flow.settings import Settings
from evenhand.models.protocol import Model
from evenhand.models.registry import ACCEPTED
from evenhand.report.tables import Cell, Table

KEPT = "kept"  # the outcome of a reply that was read, passes all checks and repeats no other

Counts = Mapping[str, Mapping[str, int]]

_EVERYWHERE = ("benchmark", "model", "limit", "seed", "temperature", "top_p", "max_new_tokens")
_LOADING = ("dtype", "batch_size", "revision")


def add_model_options(
    parser: argparse.ArgumentParser, temperature: float | None, top_p: float, max_new_tokens: int
) -> None:
    """The options that `Settings` takes under the same names; sampling by default as given."""
    greedy = "0: greedy" if temperature is None else "above 0"
    by_default = "the model's own sampling" if temperature is None else "%(default)s"
    parser.add_argument("--model", default="embedded", help=f"{ACCEPTED} (default: %(default)s)")
    parser.add_argument("--revision", metavar="REV", help="branch, tag or commit of a Hub model")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of all that is drawn")
    parser.add_argument("--temperature", type=float, default=temperature, help=f"{greedy} (default: {by_default})")
    parser.add_argument("--top-p", type=float, default=top_p, help="(default: %(default)s)")
    parser.add_argument(
        "--max-new-tokens", type=int, default=max_new_tokens, metavar="N", help="(default: %(default)s)"
    )
    parser.add_argument("--dtype", default="auto", choices=("auto", "float32", "bfloat16", "float16"))
    parser.add_argument("--batch-size", type=int, default=16, metavar="N", help="prompts in a forward pass")
    parser.add_argument("--output", type=Path, required=True, metavar="DIR", help="the run folder")


def check_settings(settings: Settings, used: Sequence[str], step: str) -> None:
    """Raises UsageError for settings that a step ("paraphrasing") does not have, and for sampling out of range.

    used: names of those that it has, beside the model's, its sampling, limit and seed.
    """
    others = {each.name for each in fields(Settings)} - {*used, *_EVERYWHERE, *_LOADING}
    plain = Settings(settings.benchmark, settings.model)
    strange = [name for name in sorted(others) if getattr(settings, name) != getattr(plain, name)]
    if strange:
        raise UsageError(f"{', '.join(strange)}: no settings of {step}; leave them as they are by default")
    try:
        settings.sampling()
    except ValueError as error:
        raise UsageError(str(error)) from error


def count_reasons(outcomes: Iterable[str], reasons: Mapping[str, Sequence[str]]) -> dict[str, dict[str, int]]:
    """How often each reason was an outcome, by step; those that never were are 0."""
    found = Counter(outcomes)
    return {step: {reason: found[reason] for reason in of_step} for step, of_step in reasons.items()}


def counts_table(counts: Counts, title: str) -> Table:
    lines = [(step, what, n) for step, of_step in counts.items() for what, n in of_step.items() if n]
    cells = tuple(
        (Cell(step.replace("_", " ")), Cell(what.replace("_", " ")), Cell(f"{n:,}")) for step, what, n in lines
    )
    return Table(title, ("step", "what", "n"), cells, "Counts of 0 are not shown.")


def write_jsonl(path: Path, rows: Iterable[Mapping[str, object]]) -> None:
    """One JSON object a line, whole or not at all."""
    write_whole(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def write_generation_results(
    folder: RunFolder, settings: Settings, model: Model, n: int, counts: Counts, **further: object
) -> None:
    """results.json. n: what was kept; further: entries of this pipeline's own."""
    folder.write_results(
        {
            "benchmark": settings.benchmark,
            "config": settings.to_json(),
            "model": settings.model,
            "model_identity": model.identity,
            "n": n,
            "counts": counts,
            **further,
            "versions": {"python": platform.python_version()} | {name: metadata.version(name) for name in VERSIONED},
        }
    )
