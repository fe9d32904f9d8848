"""evenhand export: parses, calls, prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, get_args

from evenhand.errors import UsageError, unknown_name

if TYPE_CHECKING:
    from rich.console import Console

USAGE = "usage: evenhand export lm-eval|inspect BENCHMARK --output DIR [options of evenhand run BENCHMARK]"


def export(arguments: Sequence[str], console: Console) -> None:
    """Parses, calls, prints."""
    from evenhand.flow.commands import asked
    from evenhand.tools.peers import files

    name, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if name in ("-h", "--help"):
        print(f"{USAGE}\n\nA benchmark's questions as a task of lm-evaluation-harness or inspect_ai (docs/export.md).")
        return
    peers = get_args(files.Peer)
    if not name or name.startswith("-"):
        raise UsageError(f"a harness is needed first: {' or '.join(peers)} ({USAGE})")
    if name not in peers:
        raise unknown_name("harness", name, peers, "evenhand export --help")
    config, parsed = asked(rest)
    if parsed.output is None:
        raise UsageError("--output DIR is needed: the folder where the task's files are written")
    if config.model or parsed.plan:
        given = "--plan" if parsed.plan else "--model"
        raise UsageError(f"{given} is of evenhand run; the harness is told its model: leave it out")
    if name == "inspect" and config.protocol is None:
        config = replace(config, protocol="generate")
    exported = files.export(name, config, parsed.output)  # type: ignore[arg-type]
    console.print(f"{exported.n:,} questions in {parsed.output}. Ask them:", soft_wrap=True)
    for line in _next(name, exported, str(parsed.output)):
        console.print(line, soft_wrap=True, markup=False, highlight=False)


def _next(name: str, exported: object, output: str) -> list[str]:
    from evenhand.tools.peers.files import Exported

    assert isinstance(exported, Exported)
    if name == "inspect":
        return [f"inspect eval {output}/task.py@evenhand --model hf/MODEL -M do_sample=false"]
    asked = f"lm_eval --model hf --include_path {output} --tasks {exported.task} --model_args pretrained=MODEL"
    return [f"{asked},add_bos_token=False --apply_chat_template" if exported.template else asked]
