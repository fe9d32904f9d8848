"""evenhand compare, agree and report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING

from evenhand.command_line import Parser, path, percent
from evenhand.errors import UsageError
from evenhand.output_files import add_overwrite, check_output

if TYPE_CHECKING:
    from argparse import Namespace
    from pathlib import Path

    from rich.console import Console

    from evenhand.report.findings import Findings


def compare(arguments: Sequence[str], console: Console) -> None:
    from evenhand.report.comparison import MARGIN
    from evenhand.report.comparison import compare as compare_runs

    parser = _parser("compare", "Runs of one benchmark side by side, and their differences.", "the first is the base")
    parser.add_argument(
        "--margin", type=percent, default=MARGIN, metavar="PERCENT",
        help="by which a tuned model may fall off on other text, and unread answers or one sort of error may rise, "
        "and it still be called debiased (default: %(default)s)",
    )  # fmt: skip
    parsed = parser.parse_args(list(arguments))
    _show("compare", "a comparison", parsed, console, lambda: compare_runs(*parsed.runs, margin=parsed.margin))


def agree(arguments: Sequence[str], console: Console) -> None:
    from evenhand.report.agreement import agree as agree_on_models

    description = (
        "Compare how two or more benchmarks rank the same models. Models are matched by name and mitigation; from four "
        "in common on there are rank correlations with intervals."
    )
    parsed = _parser("agree", description, "of several benchmarks, or settings of one").parse_args(list(arguments))
    _show("agree", "an agreement", parsed, console, lambda: agree_on_models(*parsed.runs))


def _parser(command: str, description: str, runs: str, nargs: str | None = "+") -> Parser:
    parser = Parser(prog=f"evenhand {command}", description=description)
    parser.add_argument("runs", type=path, nargs=nargs, metavar="RUN", help=runs)
    parser.add_argument("--output", type=path, metavar="FILE", help="the HTML page to write")
    add_overwrite(parser)
    return parser


def _check_output(command: str, kind: str, runs: Sequence[Path], parsed: Namespace) -> str:
    """Raise UsageError where the page can't be written; return what to add to its name."""
    from evenhand.report.pages import is_page

    is_ours = partial(is_page, command)
    return check_output(parsed.output, runs, kind, is_ours, parsed.overwrite) if parsed.output else ""


def _show(command: str, kind: str, parsed: Namespace, console: Console, find: Callable[[], Findings]) -> None:
    """Print what is found in the runs, and write it as a page where one is wanted."""
    from evenhand.flow.foreign_files import as_written
    from evenhand.report.findings import print_findings
    from evenhand.report.pages import write_page

    again = _check_output(command, kind, parsed.runs, parsed)
    with as_written(*parsed.runs):
        found = find()
        print_findings(found, console)
        if parsed.output:
            write_page(found, parsed.output, command)
            console.print(f"Page: {parsed.output}{again}", soft_wrap=True)


def report(arguments: Sequence[str], console: Console) -> None:
    from evenhand.flow.foreign_files import as_written
    from evenhand.flow.run_folder import RunFolder
    from evenhand.report.pages import write_report

    parser = _parser("report", "Write a run's report.html again.", "the run's folder", None)
    parsed = parser.parse_args(list(arguments))
    again = _check_output("report", "a report", [parsed.runs], parsed)
    folder = RunFolder.open(parsed.runs)
    with nullcontext() if parsed.output else folder.locked(), as_written(folder.path):
        write_report(folder, parsed.output)
    console.print(f"Report: {parsed.output or folder.report}{again}", soft_wrap=True)


def view(arguments: Sequence[str], console: Console) -> None:
    from evenhand.flow.foreign_files import as_written
    from evenhand.flow.run_folder import RunFolder
    from evenhand.report.pages import write_report
    from evenhand.report.view import write_view

    description = "Write every prompt, reply and reading as a page with a table that searches, filters and sorts."
    parsed = _parser("view", description, "several are shown side by side").parse_args(list(arguments))
    if parsed.runs[1:] and not parsed.output:
        raise UsageError("several runs need --output FILE for the page that shows them side by side")
    again = _check_output("view", "a view", parsed.runs, parsed)
    folders = [RunFolder.open(each) for each in parsed.runs]
    [first, *_] = folders
    with nullcontext() if parsed.output else first.locked(), as_written(*parsed.runs):
        write_view(folders, parsed.output or first.view)
        if not parsed.output and first.report.is_file():
            write_report(first)  # which links to it
    console.print(f"Page: {parsed.output or first.view}{again}", soft_wrap=True)
