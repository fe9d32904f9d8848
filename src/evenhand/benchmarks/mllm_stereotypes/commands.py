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
        prog="evenhand ensemble", description="What several runs of mllm_stereotypes agree on, and its score."
    )
    parser.add_argument("runs", type=path, nargs="+", metavar="RUN", help="folders of runs, two or more")
    parser.add_argument("--output", type=path, required=True, metavar="DIR", help="the run folder of the consensus")
    parsed = parser.parse_args(list(arguments))

    from evenhand.benchmarks.mllm_stereotypes.ensemble import ensemble
    from evenhand.report.pages import print_found

    print_found(ensemble(parsed.runs, parsed.output), console)
