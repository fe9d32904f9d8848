"""evenhand ensemble: the consensus of several runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def ensemble_command(arguments: Sequence[str], console: Console) -> None:
    """Parse the arguments, make the ensemble, print its report."""
    from evenhand.command_line import Parser, path

    parser = Parser(
        prog="evenhand ensemble", description="Score the answers on which several runs of mllm_stereotypes agree."
    )
    parser.add_argument("runs", type=path, nargs="+", metavar="RUN", help="run folders (two or more)")
    parser.add_argument("--output", type=path, required=True, metavar="DIR", help="output run folder")
    parsed = parser.parse_args(list(arguments))

    from evenhand.benchmarks.mllm_stereotypes.ensemble import ensemble
    from evenhand.report.pages import print_found

    print_found(ensemble(parsed.runs, parsed.output), console)
