"""evenhand export: write a benchmark's questions as a task of another harness."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, get_args

from rich.console import Console

from evenhand import answers
from evenhand.errors import UsageError, unknown_name
from evenhand.flow.commands import asked
from evenhand.tools.peers.items import list_items, prepare_export
from evenhand.whole_files import explained, is_remains, whole_file, write_whole

USAGE = "usage: evenhand export lm-eval|inspect BENCHMARK --output DIR [options of evenhand run BENCHMARK]"

Peer = Literal["lm-eval", "inspect"]
READER = ("short_answers.py", "refusals.py", "plain_text.py")  # of written answers: put next to the task
TEMPLATES = Path(__file__).parent / "templates"
TEMPLATE: Mapping[Peer, str] = {"lm-eval": "lm_eval_task.py", "inspect": "inspect_task.py"}
FORMAT = 1
ITEMS = "items.jsonl"  # written first, so that a folder with it is an export, or the beginning of one
MODEL_OPTIONS = ("model", "model_options", "revision", "dtype", "batch_size", "max_failed")
"""Options of a run that the harness decides."""


def export(arguments: Sequence[str], console: Console) -> None:
    """Export a task, and print the command that runs it."""
    name, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if name in ("-h", "--help"):
        print(f"{USAGE}\n\nA benchmark's questions as a task of lm-evaluation-harness or inspect_ai (docs/export.md).")
        return
    peers = get_args(Peer)
    if not name or name.startswith("-"):
        raise UsageError(f"a harness is needed first: {' or '.join(peers)} ({USAGE})")
    if name not in peers:
        raise unknown_name("harness", name, peers, "evenhand export --help")
    config, parsed = asked(rest)
    output = parsed.output
    if output is None:
        raise UsageError("--output DIR is needed: the folder where the task's files are written")
    if config.model or parsed.plan:
        raise UsageError(f"{'--plan' if parsed.plan else '--model'} is for evenhand run; leave it out")
    if name == "inspect" and config.protocol is None:
        config = replace(config, protocol="generate")
    settings, n = write_task(name, config, output)  # type: ignore[arg-type]
    console.print(f"{n:,} questions in {output}. Ask them:", soft_wrap=True)
    console.print(_command(name, settings, output), soft_wrap=True, markup=False, highlight=False)


def _command(peer: str, settings: Mapping[str, Any], folder: Path) -> str:
    """Return the command that asks the questions."""
    if peer == "inspect":
        return f"inspect eval {folder}/task.py@evenhand --model hf/MODEL -M do_sample=false"
    chat = ",add_bos_token=False --apply_chat_template" if settings["template"] else ""
    return f"lm_eval --model hf --include_path {folder} --tasks {settings['task']} --model_args pretrained=MODEL{chat}"


def write_task(peer: Peer, config: Any, output: Path) -> tuple[Mapping[str, Any], int]:
    """Write a run's questions as a task of another harness.

    Returns:
        The task's settings, and the number of questions.

    Raises:
        UsageError: for what the task can't hold, and for a folder that holds something else.
    """
    run = prepare_export(config)
    template = getattr(run.config.options, "layout", "chat") == "chat"
    if peer == "inspect" and run.config.protocol != "generate":
        raise UsageError("inspect_ai's models write, and score no given options; use --protocol generate")
    if peer == "inspect" and not template:
        raise UsageError("inspect_ai lays prompts out by the model's own template; use --layout chat")
    with explained(output):
        names = [path.name for path in output.iterdir() if not is_remains(path)] if os.path.lexists(output) else []
        if names and ITEMS not in names:
            raise UsageError(f"{output} holds other files, and no export of evenhand; choose another --output")
        output.mkdir(parents=True, exist_ok=True)
    n, figures = 0, dict[str, None]()  # a dict keeps the order
    with explained(output / ITEMS), whole_file(output / ITEMS) as file:
        for item in list_items(run):
            n += 1
            figures |= dict.fromkeys(figure.name for figure in item.figures)
            file.write((json.dumps(item.to_json(), ensure_ascii=False) + "\n").encode())
    task = f"evenhand_{run.benchmark.card.name}"
    settings = {
        "version": FORMAT,
        "task": task,
        "protocol": run.config.protocol,
        "aggregate": getattr(run.config.options, "aggregate", "mean"),
        "template": template,
        "temperature": run.config.temperature,
        "max_new_tokens": run.config.max_new_tokens,
        "figures": list(figures),
        "run": {name: value for name, value in run.config.to_json().items() if name not in MODEL_OPTIONS},
    }
    write_whole(output / "settings.json", json.dumps(settings, indent=2, ensure_ascii=False) + "\n")
    write_whole(output / "task.py", (TEMPLATES / TEMPLATE[peer]).read_bytes())
    for module in READER:
        source = (Path(answers.__file__).parent / module).read_text(encoding="utf-8")
        write_whole(output / module, re.sub(r"^from \.(?=\w)", "from ", source, flags=re.MULTILINE))
    readme = (TEMPLATES / "README.md").read_text(encoding="utf-8")
    write_whole(output / "README.md", readme.format(task=task, n=n, command=_command(peer, settings, Path())))
    if peer == "lm-eval":
        write_whole(output / f"{task}.yaml", f"task: {task}\nclass: !function task.Evenhand\n")
    return settings, n
