"""evenhand compare and report: parses, calls, prints."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from evenhand.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from evenhand.flow.run_folder import RunFolder


def compare(arguments: Sequence[str], console: Console) -> None:
    from evenhand.command_line import path
    from evenhand.flow.foreign_files import as_written
    from evenhand.report.comparison import compare as compared
    from evenhand.report.pages import write_comparison
    from evenhand.report.tables import print_table

    parser = argparse.ArgumentParser(
        prog="evenhand compare", description="Runs of one benchmark side by side, and their differences."
    )
    parser.add_argument("runs", type=path, nargs="+", metavar="RUN", help="the first is the base")
    parser.add_argument("--output", type=path, metavar="FILE", help="write it as an HTML page, too")
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
        with as_written(*parsed.runs):
            write_comparison(comparison, parsed.output)
        console.print(f"Page: {parsed.output}", soft_wrap=True)


def report(arguments: Sequence[str], console: Console) -> None:
    from evenhand.command_line import path
    from evenhand.flow.foreign_files import as_written
    from evenhand.flow.run_folder import RunFolder
    from evenhand.report.pages import write_report

    parser = argparse.ArgumentParser(prog="evenhand report", description="Write a run's report.html again.")
    parser.add_argument("run", type=path, metavar="RUN")
    parser.add_argument("--output", type=path, metavar="FILE", help="where, if not in the run's folder")
    parsed = parser.parse_args(list(arguments))
    if parsed.output and os.path.lexists(parsed.output):
        raise UsageError(f"{parsed.output} exists; choose another --output")
    folder = RunFolder.open(parsed.run)
    with as_written(folder.path):
        write_report(folder, parsed.output)
    console.print(f"Report: {parsed.output or folder.report}", soft_wrap=True)


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
