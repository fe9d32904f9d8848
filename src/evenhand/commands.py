"""evenhand list, train and ensemble."""

from __future__ import annotations

import argparse
import json
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evenhand.errors import UsageError, unknown_name

if TYPE_CHECKING:
    from rich.console import Console


def list_all(arguments: Sequence[str], console: Console) -> None:
    """List what there is, of evenhand and of other packages."""
    from evenhand.command_line import Parser

    parser = Parser("evenhand list", "List benchmarks, datasets, mitigations, trainers and model backends.")
    parser.add_argument("--json", action="store_true", help="print all that is known of each as JSON")
    kinds = _everything()
    if parser.parse_args(list(arguments)).json:
        print(json.dumps(kinds, indent=2, ensure_ascii=False))
        return
    width = max(len(each["name"]) for listed in kinds.values() for each in listed)
    for kind, listed in kinds.items():
        console.print(f"{kind.replace('_', ' ').capitalize()}:")
        for each in listed:
            rest = [
                value if isinstance(value, str) else ", ".join(value) for key, value in each.items() if key != "name"
            ]
            about = textwrap.shorten(each.get("title") or "; ".join(rest), console.width - width - 4, placeholder=" …")
            console.print(f"  {each['name']:<{width}}  {about}", soft_wrap=True)
    console.print("evenhand run BENCHMARK --help and evenhand train TRAINER --help show options; --json shows more.")


def _everything() -> dict[str, list[dict[str, Any]]]:
    """{kind: [{name, …}]}"""
    from evenhand.benchmarks import BENCHMARKS, get_benchmark
    from evenhand.library import DATASETS, dataset_names
    from evenhand.mitigations import MITIGATIONS, get_mitigation
    from evenhand.models.registry import BACKENDS
    from evenhand.trainers import TRAINERS

    cards = [each.card for each in BENCHMARKS.every(get_benchmark)]
    shown = ("name", "title", "paper", "dataset", "configs", "metric", "protocols")
    trainers: list[Any] = TRAINERS.every(TRAINERS.load)

    def configs(dataset: str) -> list[str]:
        """Packaged ones, and those that benchmarks ask for: loading scripts would import the datasets library."""
        packaged = sorted(path.name for path in (DATASETS / dataset / "data").glob("*/"))
        return list(
            dict.fromkeys([*packaged, *(name for card in cards if card.dataset == dataset for name in card.configs)])
        )

    return {
        "benchmarks": [{name: getattr(card, name) for name in shown} for card in cards],
        "datasets": [{"name": name, "configs": configs(name)} for name in dataset_names()],
        "mitigations": [
            {"name": each.name, "benchmarks": each.benchmarks, "source": each.source}
            for each in MITIGATIONS.every(get_mitigation)
        ],
        "trainers": [{"name": each.name, "source": each.source} for each in trainers],
        "model_backends": [{"name": name, "module": BACKENDS.module(name)} for name in BACKENDS.names],
    }


def train(arguments: Sequence[str], console: Console) -> None:
    """Train, with a trainer's own options."""
    from evenhand.command_line import Group, parse, path
    from evenhand.options import made
    from evenhand.report.tables import print_table
    from evenhand.trainers import TRAINERS
    from evenhand.trainers.processes import is_main

    name, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if name in ("-h", "--help"):
        print(f"usage: evenhand train TRAINER --output DIR [options]\n\nTRAINER: {', '.join(TRAINERS.names)}")
        return
    if not name or name.startswith("-"):
        raise UsageError(f"what to train is needed first: {', '.join(TRAINERS.names)}")
    if name not in TRAINERS:
        raise unknown_name("trainer", name, TRAINERS.names, "evenhand list shows all")
    trainer: Any = TRAINERS.make(name)

    def add_output(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--output", type=path, metavar="DIR", help="output directory")

    groups = {"options": Group(name, trainer.Options)}
    parsed, values = parse(f"evenhand train {name}", trainer.source, rest, groups, add_output)
    options = made(trainer.Options, values["options"])
    if getattr(options, "plan", False):
        for line in trainer.plan(options):
            console.print(line, soft_wrap=True, markup=False)
        return
    if parsed.output is None:
        raise UsageError("--output DIR is needed: where to save what is trained")
    table = trainer.train(options, parsed.output)
    if is_main():
        print_table(table, console)
        console.print(f"Trained: {parsed.output}", soft_wrap=True)


def ensemble(arguments: Sequence[str], console: Console) -> None:
    """The consensus of several runs."""
    from evenhand.benchmarks.mllm_stereotypes.commands import ensemble_command

    ensemble_command(arguments, console)
