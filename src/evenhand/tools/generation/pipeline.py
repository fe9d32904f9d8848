"""What pipelines share that make a dataset with a model: outcomes, counts by reason, rows, results."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from evenhand.flow.evaluation import OnProgress
from evenhand.flow.results import versions
from evenhand.flow.run_folder import RunFolder
from evenhand.flow.runner import Runner, Step, Tolerance
from evenhand.flow.store import Store
from evenhand.models.protocol import Model
from evenhand.models.request import FAILURES, Reply
from evenhand.report.tables import Cell, Table
from evenhand.tools.generation.configuration import Generation
from evenhand.whole_files import write_whole

KEPT = "kept"  # the outcome of a reply that was read, passes all checks and repeats no other
NO_REPLIES = tuple(reason.replace("_", " ") for reason in sorted(FAILURES))  # outcomes of requests that failed for good

Counts = Mapping[str, Mapping[str, int]]


def no_reply(reply: Reply) -> str | None:
    """The outcome of a request that failed for good; None for one that was answered."""
    return reply.finish_reason.replace("_", " ") if reply.failed else None


def runner(config: Generation, model: Model, store: Store, steps: int, on_progress: OnProgress | None) -> Runner:
    """steps: episodes in all, of which on_progress is told with each step."""
    progress = on_progress or (lambda rows, step: None)
    progress(steps, Step())
    return Runner(
        {"default": model}, store, lambda step: progress(steps, step), Tolerance(config.max_failed, episodes=steps)
    )


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


def write_results(
    folder: RunFolder, name: str, config: Generation, model: Model, n: int, counts: Counts, **further: object
) -> None:
    """results.json. name: the pipeline's; n: what was kept; further: entries of this pipeline's own."""
    folder.write_record(
        {
            "benchmark": name,
            "config": folder.begun(),
            "model": config.model,
            "model_identity": model.identity,
            "n": n,
            "counts": counts,
            **further,
            "versions": versions(),
        }
    )
