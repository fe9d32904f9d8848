"""evenhand compare, agree and report: parses, calls, prints."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from evenhand.flow.run_folder import RunFolder


def compare(arguments: Sequence[str], console: Console) -> None:
    from evenhand.report.comparison import compare as compared
    from evenhand.report.pages import write_comparison
    from evenhand.report.tables import print_table

    parser = argparse.ArgumentParser(
        prog="evenhand compare", description="Runs of one benchmark side by side, and their differences."
    )
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


def agree(arguments: Sequence[str], console: Console) -> None:
    from evenhand.report.agreement import agree as agreement
    from evenhand.report.pages import write_agreement
    from evenhand.report.tables import print_table

    parser = argparse.ArgumentParser(
        prog="evenhand agree",
        description="Runs of several models on two benchmarks or more: do these rank the models alike? Models are "
        "matched by name and mitigation; from four in common on there are rank correlations with intervals.",
    )
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="of several benchmarks, or settings of one")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write it as an HTML page, too")
    parsed = parser.parse_args(list(arguments))
    found = agreement(*parsed.runs)
    for table in found.tables:
        print_table(table, console)
    for warning in found.warnings:
        console.print(f"Warning: {warning}", soft_wrap=True)
    for sentence in found.sentences:
        console.print(sentence, soft_wrap=True)
    if parsed.output:
        write_agreement(found, parsed.output)
        console.print(f"Page: {parsed.output}", soft_wrap=True)


def report(arguments: Sequence[str], console: Console) -> None:
    from evenhand.flow.run_folder import RunFolder
    from evenhand.report.pages import write_report

    parser = argparse.ArgumentParser(prog="evenhand report", description="Write a run's report.html again.")
    parser.add_argument("run", type=Path, metavar="RUN")
    folder = RunFolder.open(parser.parse_args(list(arguments)).run)
    write_report(folder)
    console.print(f"Report: {folder.report}", soft_wrap=True)


def print_found(folder: RunFolder, console: Console) -> None:
    """A finished run's tables, warnings and sentences, and where its report is."""
    from evenhand.benchmarks import get_benchmark
    from evenhand.report.findings import not_beside
    from evenhand.report.tables import print_table

    results = folder.read_results()
    findings = get_benchmark(results.benchmark).findings(folder.read_predictions(), results)
    for table in findings.tables:
        print_table(table, console)
    for warning in findings.warnings:
        console.print(f"Warning: {warning}", soft_wrap=True)
    for sentence in filter(None, (*findings.sentences, not_beside(results))):
        console.print(sentence, soft_wrap=True)
    console.print(f"Report: {folder.report}", soft_wrap=True)
