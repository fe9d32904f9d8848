"""The files of an exported task: its questions, its settings, and the few lines that a harness loads."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from evenhand.benchmarks.contact_hypothesis.publishing import option_pattern
from evenhand.errors import UsageError
from evenhand.flow.evaluation import Prepared
from evenhand.tools.peers.items import Item, items, prepared
from evenhand.whole_files import explained, whole_file, write_whole

Peer = Literal["lm-eval", "inspect"]
TEMPLATES = Path(__file__).parent / "templates"
TEMPLATE: Mapping[Peer, str] = {"lm-eval": "lm_eval_task.py", "inspect": "inspect_task.py"}
FORMAT = 1
OF_MODELS = ("model", "model_options", "revision", "dtype", "batch_size", "max_failed")
"""Of a run's configuration, what the harness decides."""


@dataclass(frozen=True)
class Exported:
    """task: its name there. n: questions."""

    task: str
    n: int
    figures: tuple[str, ...]
    template: bool


def export(peer: Peer, config: Any, output: Path) -> Exported:
    """Write a run's questions as a task of another harness.

    Raises UsageError for what it can't hold, and for a folder that holds something else.
    """
    run = prepared(config)
    template = getattr(run.config.options, "layout", "chat") == "chat"
    if peer == "inspect" and run.config.protocol != "generate":
        raise UsageError(
            "inspect_ai's models write, and score no options that they are given: --protocol generate is accepted"
        )
    if peer == "inspect" and not template:
        raise UsageError("inspect_ai lays prompts out by the model's own template: --layout chat is accepted")
    if output.exists() and not (output.is_dir() and _is_free(output)):
        raise UsageError(f"{output} exists and is no export of evenhand; choose another --output")
    with explained(output):
        output.mkdir(parents=True, exist_ok=True)
    task = f"evenhand_{run.benchmark.card.name}"
    seen = _Seen()
    with explained(output / "items.jsonl"), whole_file(output / "items.jsonl") as file:
        for line in seen.of(items(run)):
            file.write(line)
    exported = Exported(task, seen.n, tuple(seen.figures), template)
    write_whole(
        output / "settings.json", json.dumps(_settings(exported, seen, run), indent=2, ensure_ascii=False) + "\n"
    )
    write_whole(output / "task.py", (TEMPLATES / TEMPLATE[peer]).read_text(encoding="utf-8"))
    if peer == "lm-eval":
        write_whole(output / f"{task}.yaml", f"task: {task}\nclass: !function task.Evenhand\n")
    return exported


class _Seen:
    """Questions as lines, and what there is in all of them."""

    def __init__(self) -> None:
        self.n = 0
        self.figures: dict[str, None] = {}
        self.options: dict[tuple[str, ...], None] = {}

    def of(self, questions: Iterable[Item]) -> Iterable[bytes]:
        for each in questions:
            self.n += 1
            self.figures.update(dict.fromkeys(figure.name for figure in each.figures))
            self.options[each.choices] = None
            yield (json.dumps(each.to_json(), ensure_ascii=False) + "\n").encode()


def _settings(exported: Exported, seen: _Seen, run: Prepared) -> dict[str, Any]:
    config = run.config
    writes = config.protocol == "generate"
    return {
        "version": FORMAT,
        "task": exported.task,
        "protocol": config.protocol,
        "aggregate": getattr(config.options, "aggregate", "mean"),
        "template": exported.template,
        "temperature": config.temperature,
        "max_new_tokens": config.max_new_tokens,
        "figures": list(seen.figures),
        "patterns": {"/".join(each): option_pattern(each) for each in seen.options} if writes else {},
        "run": {name: value for name, value in config.to_json().items() if name not in OF_MODELS},
    }


def _is_free(folder: Path) -> bool:
    """Empty, or what an earlier export left."""
    names = {path.name for path in folder.iterdir()}
    return not names or {"items.jsonl", "settings.json", "task.py"} <= names
