"""evenhand list, train and ensemble."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evenhand.errors import UsageError, unknown_name

if TYPE_CHECKING:
    from rich.console import Console

    from evenhand.benchmark import Card


def list_all(arguments: Sequence[str], console: Console) -> None:
    """List what there is, of evenhand and of other packages."""
    from evenhand.benchmarks import BENCHMARKS, get_benchmark
    from evenhand.command_line import Parser
    from evenhand.library import dataset_names
    from evenhand.mitigations import MITIGATIONS, get_mitigation
    from evenhand.models.registry import BACKENDS
    from evenhand.report.tables import Cell, Table, print_table
    from evenhand.trainers import TRAINERS

    Parser(
        prog="evenhand list", description="List benchmarks, datasets, mitigations, trainers and backends."
    ).parse_args(list(arguments))
    cards = [each.card for each in BENCHMARKS.every(get_benchmark)]
    mitigations = MITIGATIONS.every(get_mitigation)
    trainers: list[Any] = TRAINERS.every(TRAINERS.load)
    tables: dict[str, tuple[tuple[str, ...], list[tuple[str, ...]]]] = {
        "Benchmarks": (
            ("benchmark", "configurations", "metric", "paper"),
            [(card.name, ", ".join(card.configs), card.metric or "its own", card.paper) for card in cards],
        ),
        "Datasets": (
            ("dataset", "configurations"),
            [(name, ", ".join(_configs(name, cards))) for name in dataset_names()],
        ),
        "Mitigations": (
            ("mitigation", "benchmarks", "source"),
            [(each.name, ", ".join(each.benchmarks), each.source) for each in mitigations],
        ),
        "Trainers": (("trainer", "source"), [(each.name, each.source) for each in trainers]),
        "Model backends": (
            ("backend", "where"),
            [(name, BACKENDS.module(name)) for name in BACKENDS.names],
        ),
    }
    for title, (columns, rows) in tables.items():
        print_table(Table(title, columns, tuple(tuple(map(Cell, row)) for row in rows)), console)


def _configs(dataset: str, cards: Sequence[Card]) -> list[str]:
    """A dataset's configurations: folders of packaged rows, and those that benchmarks ask for.

    Loading scripts would name them, too, but import the datasets library.
    """
    from evenhand.library import DATASETS

    packaged = sorted(path.name for path in (DATASETS / dataset / "data").glob("*/"))
    asked = [config for card in cards if card.dataset == dataset for config in card.configs]
    return list(dict.fromkeys([*packaged, *asked]))


def train(arguments: Sequence[str], console: Console) -> None:
    """Train, with a trainer's own options."""
    from evenhand.command_line import Group, parse, path
    from evenhand.options import made
    from evenhand.report.tables import print_table
    from evenhand.trainers import TRAINERS
    from evenhand.trainers.processes import is_main

    name, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if name in ("-h", "--help"):
        print(f"usage: evenhand train WHAT --output DIR [options]\n\nWHAT: {', '.join(TRAINERS.names)}")
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
