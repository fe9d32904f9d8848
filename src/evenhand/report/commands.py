"""evenhand compare, agree and report: parses, calls, prints."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING

from evenhand.words import in_words

if TYPE_CHECKING:
    from rich.console import Console

    from evenhand.flow.run_folder import RunFolder


def compare(arguments: Sequence[str], console: Console) -> None:
    from evenhand.command_line import Parser, path, percent
    from evenhand.flow.foreign_files import as_written
    from evenhand.output_files import add_overwrite, check_output
    from evenhand.report.comparison import MARGIN
    from evenhand.report.comparison import compare as compared
    from evenhand.report.pages import is_comparison, write_comparison
    from evenhand.report.tables import print_table

    parser = Parser(prog="evenhand compare", description="Runs of one benchmark side by side, and their differences.")
    parser.add_argument("runs", type=path, nargs="+", metavar="RUN", help="the first is the base")
    parser.add_argument("--output", type=path, metavar="FILE", help="write it as an HTML page, too")
    parser.add_argument(
        "--margin",
        type=percent,
        default=MARGIN,
        metavar="PERCENT",
        help="by which a tuned model may fall off on other text, and unread answers or one sort of error may rise, "
        "and it still be called debiased (default: %(default)s)",
    )
    add_overwrite(parser)
    parsed = parser.parse_args(list(arguments))
    again = parsed.output and check_output(parsed.output, parsed.runs, "a comparison", is_comparison, parsed.overwrite)
    comparison = compared(*parsed.runs, margin=parsed.margin)
    side_by_side = [table for panel in comparison.panels for table in panel.tables]
    for table in (*side_by_side, comparison.headline, *comparison.more):
        print_table(table, console, spoken=True)
    for warning in comparison.warnings:
        console.print(f"Warning: {in_words(warning)}", soft_wrap=True)
    for sentence in comparison.sentences:
        console.print(in_words(sentence), soft_wrap=True)
    if parsed.output:
        with as_written(*parsed.runs):
            write_comparison(comparison, parsed.output)
        console.print(f"Page: {parsed.output}{again}", soft_wrap=True)


def agree(arguments: Sequence[str], console: Console) -> None:
    from evenhand.command_line import Parser, path
    from evenhand.flow.foreign_files import as_written
    from evenhand.output_files import add_overwrite, check_output
    from evenhand.report.agreement import agree as agreement
    from evenhand.report.pages import is_agreement, write_agreement
    from evenhand.report.tables import print_table

    parser = Parser(
        prog="evenhand agree",
        description="Runs of several models on two benchmarks or more: do these rank the models alike? Models are "
        "matched by name and mitigation; from four in common on there are rank correlations with intervals.",
    )
    parser.add_argument("runs", type=path, nargs="+", metavar="RUN", help="of several benchmarks, or settings of one")
    parser.add_argument("--output", type=path, metavar="FILE", help="write it as an HTML page, too")
    add_overwrite(parser)
    parsed = parser.parse_args(list(arguments))
    again = parsed.output and check_output(parsed.output, parsed.runs, "an agreement", is_agreement, parsed.overwrite)
    with as_written(*parsed.runs):
        found = agreement(*parsed.runs)
    for table in found.tables:
        print_table(table, console, spoken=True)
    for warning in found.warnings:
        console.print(f"Warning: {in_words(warning)}", soft_wrap=True)
    for sentence in found.sentences:
        console.print(in_words(sentence), soft_wrap=True)
    if parsed.output:
        write_agreement(found, parsed.output)
        console.print(f"Page: {parsed.output}{again}", soft_wrap=True)


def report(arguments: Sequence[str], console: Console) -> None:
    from evenhand.command_line import Parser, path
    from evenhand.flow.foreign_files import as_written
    from evenhand.flow.run_folder import RunFolder
    from evenhand.output_files import add_overwrite, check_output
    from evenhand.report.pages import is_report, write_report

    parser = Parser(prog="evenhand report", description="Write a run's report.html again.")
    parser.add_argument("run", type=path, metavar="RUN", help="the run's folder")
    parser.add_argument("--output", type=path, metavar="FILE", help="where, if not in the run's folder")
    add_overwrite(parser)
    parsed = parser.parse_args(list(arguments))
    again = ""
    if parsed.output:
        again = check_output(parsed.output, [parsed.run], "a report", is_report, parsed.overwrite)
    folder = RunFolder.open(parsed.run)
    with nullcontext() if parsed.output else folder.locked(), as_written(folder.path):
        write_report(folder, parsed.output)
    console.print(f"Report: {parsed.output or folder.report}{again}", soft_wrap=True)


def print_found(folder: RunFolder, console: Console) -> None:
    """A finished run's tables, warnings and sentences, and where its report is."""
    from evenhand.benchmarks import get_benchmark
    from evenhand.report.findings import not_beside
    from evenhand.report.tables import print_table

    results = folder.read_results()
    benchmark = get_benchmark(results.benchmark)
    findings = benchmark.findings(benchmark.prepare(folder.read_predictions()), results)
    for table in findings.tables:
        print_table(table, console, spoken=True)
    for warning in findings.warnings:
        console.print(f"Warning: {in_words(warning)}", soft_wrap=True)
    for sentence in filter(None, (*findings.sentences, not_beside(results))):
        console.print(in_words(sentence), soft_wrap=True)
    console.print(f"Report: {folder.report}", soft_wrap=True)
