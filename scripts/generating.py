"""Shared by the scripts that generate data: the command line, progress, errors as one line, the table of counts."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import transformers
from rich.console import Console

from evenhand.command_line import Group, parse
from evenhand.errors import EvenhandError
from evenhand.flow.run_folder import RunFolder
from evenhand.models.errors import ModelError
from evenhand.progress import ProgressBar
from evenhand.report.tables import print_table
from evenhand.tools.generation.pipeline import Generation, counts_table

Made = TypeVar("Made")


def generate(script: str, make: Callable[[ProgressBar], Made]) -> Made:
    """Return what `make` returns. Exits with a sentence on failure or interruption."""
    transformers.utils.logging.disable_progress_bar()
    try:
        with ProgressBar(script) as bar:
            return make(bar)
    except (EvenhandError, ModelError) as error:
        sys.exit(f"{script}: {error}")
    except KeyboardInterrupt:
        sys.exit(f"{script}: interrupted. Run the same command again to resume.")


def generate_rows(script: str, doc: str, options: type[Generation], make: Callable[..., RunFolder]) -> RunFolder:
    """Parse the command line, generate rows and print how many were kept.

    Args:
        make: called with the options, the output directory and on_progress.
    """

    def add_output(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--output", type=Path, required=True, metavar="DIR", help="output directory")

    groups: dict[str, Group] = {"options": Group("options", options)}
    parsed, given = parse(f"{script}.py", doc.split("\n\n")[0], sys.argv[1:], groups, add_output)
    values: dict[str, Any] = given["options"]
    folder = generate(script, lambda bar: make(options(**values), parsed.output, on_progress=bar.update))
    print_table(counts_table(folder.read_record()["counts"], "Generated and kept"), Console(width=128))
    return folder
