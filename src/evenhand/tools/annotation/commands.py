"""evenhand annotate export, import and agree."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from evenhand.command_line import Group, parse, path
from evenhand.errors import UsageError, unknown_name
from evenhand.options import made, option
from evenhand.output_files import add_overwrite, check_output
from evenhand.paths import typed_path
from evenhand.report.tables import print_table
from evenhand.tools.annotation.agreement import agree
from evenhand.tools.annotation.files import TABLES, check_suffix
from evenhand.tools.annotation.from_sheets import is_merged, merge, name_annotators
from evenhand.tools.annotation.schemes import SCHEMES, get_scheme
from evenhand.tools.annotation.to_sheets import ExportOptions, ExportSettings, export


@dataclass(frozen=True)
class ImportOptions:
    key: str | None = option(None, "OUT.key.csv of the export; required for pairwise comparisons", metavar="FILE")
    with_default: bool = option(False, "count the labels that rows already had as votes, too")
    third: str | None = option(None, "labels that decide ambiguous entries", metavar="FILE")
    skip_unknown: bool = option(False, "leave out unknown labels and ids")


@dataclass(frozen=True)
class AgreeOptions:
    items: int = option(10, "number of most disputed entries to show", least=1, metavar="N")


def annotate(arguments: Sequence[str], console: Console) -> None:
    """Run one of the three steps."""
    steps = {"export": _export, "import": _import, "agree": _agree}
    name, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if name in ("-h", "--help"):
        print(f"usage: evenhand annotate {'|'.join(steps)} …\n\nevenhand annotate STEP --help shows its options.")
        return
    if not name or name.startswith("-"):
        raise UsageError(f"a step is needed first: {', '.join(steps)}")
    if name not in steps:
        raise unknown_name("step of annotate", name, list(steps), "evenhand annotate --help")
    steps[name](rest, console)


def _export(arguments: Sequence[str], console: Console) -> None:
    def add(parser: argparse.ArgumentParser) -> None:
        sources = "dataset[:config[:split]], CSV, JSONL, parquet or run; pairwise: two"
        parser.add_argument("sources", nargs="+", metavar="SOURCE", help=sources)
        _add_scheme(parser, "OUT", "OUT.csv or OUT.jsonl")

    groups = {"options": Group("sheets", ExportOptions)}
    parsed, values = parse("evenhand annotate export", "Write sheets to label in any tool.", arguments, groups, add)
    options = made(ExportOptions, values["options"])
    settings = ExportSettings(tuple(parsed.sources), get_scheme(parsed.scheme), parsed.output, **vars(options))
    _print(export(settings).sentences(), console)


def _import(arguments: Sequence[str], console: Console) -> None:
    def add(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("files", nargs="+", metavar="[NAME=]FILE", help="one annotator's labels each")
        _add_scheme(parser, "MERGED", ".csv, .jsonl or .parquet")
        add_overwrite(parser)

    description = "Merge labelled sheets by majority vote."
    groups = {"options": Group("labels", ImportOptions)}
    parsed, values = parse("evenhand annotate import", description, arguments, groups, add)
    options = made(ImportOptions, values["options"])
    files = name_annotators(parsed.files)
    key, third = (None if each is None else typed_path(each) for each in (options.key, options.third))
    check_suffix(parsed.output, TABLES)
    inputs: list[Path] = [*files.values(), *filter(None, (key, third)), Path(parsed.scheme)]
    again = check_output(parsed.output, inputs, "a merged table", is_merged, parsed.overwrite)
    merged = merge(files, get_scheme(parsed.scheme), key, options.with_default, third, options.skip_unknown)
    merged.write(parsed.output)
    for table in merged.tables():
        print_table(table, console)
    _print((*merged.sentences(), f"Merged: {parsed.output}{again} (evenhand annotate agree {parsed.output})"), console)


def _agree(arguments: Sequence[str], console: Console) -> None:
    def add(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("merged", type=path, metavar="MERGED", help="a table that import wrote")

    description = "Compute percent agreement, Cohen's and Fleiss' kappa."
    groups = {"options": Group("output", AgreeOptions)}
    parsed, values = parse("evenhand annotate agree", description, arguments, groups, add)
    for agreement in agree(parsed.merged, made(AgreeOptions, values["options"]).items):
        _print(agreement.sentences(), console)
        for table in agreement.tables():
            print_table(table, console)


def _add_scheme(parser: argparse.ArgumentParser, output: str, help: str) -> None:
    parser.add_argument("--scheme", required=True, metavar="SCHEME", help=f"{', '.join(SCHEMES)}, or your JSON file")
    parser.add_argument("--output", type=path, required=True, metavar=output, help=help)


def _print(sentences: Sequence[str], console: Console) -> None:
    for sentence in sentences:
        console.print(sentence, soft_wrap=True)
