"""evenhand compare and report: parses, calls, prints."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from evenhand.flow.run_folder import RunFolder


def compare(arguments: Sequence[str], console: Console) -> None:
    from evenhand.command_line import Parser
    from evenhand.report.comparison import compare as compared
    from evenhand.report.pages import write_comparison
    from evenhand.report.tables import print_table

    parser = Parser(prog="evenhand compare", description="Runs of one benchmark side by side, and their differences.")
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="the first is the base")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write it as an HTML page, too")
    parsed = parser.parse_args(list(arguments))
    comparison = compared(*parsed.runs)
    side_by_side = [table for panel in comparison.panels for table in panel.tables]
    for table in (*side_by_side, comparison.headline, *comparison.more):
        print_table(table, console)
    for warning in comparison.warnings:
        console.print(f"Warning: {warning}", soft_wrap=True)
    for sentence in comparison.sentences:
        console.print(sentence, soft_wrap=True)
    if parsed.output:
        write_comparison(comparison, parsed.output)
        console.print(f"Page: {parsed.output}", soft_wrap=True)


def report(arguments: Sequence[str], console: Console) -> None:
    from evenhand.command_line import Parser
    from evenhand.flow.run_folder import RunFolder
    from evenhand.report.pages import write_report

    parser = Parser(prog="evenhand report", description="Write a run's report.html again.")
    parser.add_argument("run", type=Path, metavar="RUN")
    folder = RunFolder.open(parser.parse_args(list(arguments)).run)
    write_report(folder)
    console.print(f"Report: {folder.report}", soft_wrap=True)


def print_found(folder: RunFolder, console: Console) -> None:
    """A finished run's tables, warnings and sentences, and where its report is."""
    from evenhand.benchmarks import get_benchmark
    from evenhand.report.tables import print_table

    results = folder.read_results()
    findings = get_benchmark(results.benchmark).findings(folder.read_predictions(), results)
    for table in findings.tables:
        print_table(table, console)
    for warning in findings.warnings:
        console.print(f"Warning: {warning}", soft_wrap=True)
    for sentence in findings.sentences:
        console.print(sentence, soft_wrap=True)
    console.print(f"Report: {folder.report}", soft_wrap=True)
