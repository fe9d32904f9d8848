"""Shared by the scripts that generate data: the command line, progress, errors as one line, the table of counts."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import transformers
from rich.console import Console

from evenhand.command_line import Group, parse
from evenhand.errors import EvenhandError
from evenhand.flow.run_folder import RunFolder
from evenhand.models.errors import ModelError
from evenhand.progress import ProgressBar
from evenhand.report.tables import print_table
from evenhand.tools.generation.pipeline import Generation, counts_table


def generate(name: str, doc: str, options: type[Generation], make: Callable[..., RunFolder]) -> RunFolder:
    """Parse the command line, generate and print what was kept. Exits with a sentence on failure or interruption.

    Args:
        make: called with the options, the output directory and on_progress.
    """

    def add_output(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--output", type=Path, required=True, metavar="DIR", help="output directory")

    groups: dict[str, Group] = {"options": Group("options", options)}
    parsed, given = parse(f"{name}.py", doc.split("\n\n")[0], sys.argv[1:], groups, add_output)
    values: dict[str, Any] = given["options"]
    transformers.utils.logging.disable_progress_bar()
    try:
        with ProgressBar(name) as bar:
            folder = make(options(**values), parsed.output, on_progress=bar.update)
    except (EvenhandError, ModelError) as error:
        sys.exit(f"{name}: {error}")
    except KeyboardInterrupt:
        sys.exit(f"{name}: interrupted. Run the same command again to resume.")
    print_table(counts_table(folder.read_record()["counts"], "Generated and kept"), Console(width=128))
    return folder
