"""What the scripts reproduce_*.py share: trainings and runs that are made once, and what is read from their folders.

Interrupted, a script goes on where it stopped when it is called again.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evenhand.benchmarks import get_benchmark
from evenhand.cli import called
from evenhand.command_line import ScriptHelp
from evenhand.figure import Sample
from evenhand.flow.results import Results
from evenhand.flow.run_folder import RunFolder
from evenhand.report.tables import Cell
from evenhand.statistics.clustered import Difference


def reproduction_parser(name: str, description: str | None) -> argparse.ArgumentParser:
    """A parser with the options of all of them; name: of the default output directory."""
    parser = argparse.ArgumentParser(description=description, formatter_class=ScriptHelp)
    parser.add_argument("--model", default="embedded", help="as of evenhand train")
    parser.add_argument("--quick", action="store_true", help="less training and fewer prompts, to see it work")
    parser.add_argument("--output", type=Path, default=Path("runs") / name, help="output directory")
    record = Path("results") / f"{name.removeprefix('reproduce_')}.json"
    parser.add_argument("--record", type=Path, default=record, help="tables as JSON, for scripts/write_results.py")
    return parser


def train(folder: Path, arguments: Sequence[str]) -> None:
    """Call `evenhand train`, unless the training in that folder is finished."""
    if not (folder / "training.json").is_file():
        called(["train", *arguments, "--output", str(folder)])


def run(folder: Path, arguments: Sequence[str]) -> None:
    """Call `evenhand run`, unless the run in that folder is finished."""
    if not (folder / "results.json").is_file():
        called(["run", *arguments, "--output", str(folder)])


def read_record(folder: Path) -> dict[str, Any]:
    """What a training recorded."""
    found: dict[str, Any] = json.loads((folder / "training.json").read_text("utf-8"))
    return found


def read_results(folder: Path) -> Results:
    return RunFolder.open(folder).read_results()


def read_sample(folder: Path) -> Sample:
    """The run's predictions, as its benchmark's figures take them."""
    opened = RunFolder.open(folder)
    return get_benchmark(opened.read_config().benchmark).sample(opened.read_predictions())


def difference_cell(found: Difference | None, digits: int = 1) -> Cell:
    return Cell(None) if found is None else Cell(found.estimate, found.low, found.high, digits)


def last_loss(record: dict[str, Any]) -> float:
    """The mean of the last ten steps."""
    losses = record["losses"][-10:]
    return float(sum(losses) / len(losses))
