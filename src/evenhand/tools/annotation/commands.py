"""evenhand annotate export, import and agree: parses, calls, prints."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from evenhand.command_line import Group, parse, path
from evenhand.errors import UsageError, unknown_name
from evenhand.options import made, option
from evenhand.paths import typed_path

if TYPE_CHECKING:
    from rich.console import Console

SCHEME = (
    "agency, how-it-sounds, naturalness, pairwise, pictured, right-answer, story-bias, task-stereotype, yes-means, "
    "yes-no, or a JSON file of your own"
)


@dataclass(frozen=True)
class ExportOptions:
    columns: tuple[str, ...] = option(
        (),
        "shown to annotators; by default text, or what the scheme says that is made for the dataset",
        metavar="NAME",
        flag="column",
        repeated=True,
    )
    each: str | None = option(
        None, "a column of lists, such as a run's sentences, of which each is an entry", metavar="NAME"
    )
    context: tuple[str, ...] = option((), "pairwise: shown once, too", metavar="NAME", repeated=True)
    id_column: str | None = option(None, "of the rows' ids; by default id, or else a row's place", metavar="NAME")
    label_column: tuple[str, ...] = option(
        (), "of labels that rows already have", metavar="[QUESTION=]NAME", repeated=True
    )
    label_means: tuple[str, ...] = option(
        (), "what such a label is called in the scheme", metavar="CAME=LABEL", repeated=True, needs="label_column"
    )
    show_label: bool = option(False, "such labels to annotators, too, and not in the key alone", needs="label_column")
    source: Literal["evenhand", "official"] = option(
        "evenhand", "of datasets: the packaged rows, or the published ones"
    )
    n: int | None = option(None, "entries drawn at random, all by default", least=1, metavar="N")
    seed: int = option(0, "of the draw, the order and the sides", least=0, metavar="S")
    annotators: int = option(1, "sheets, each in its own order", least=1, most=100, metavar="K")
    ambiguous_in: str | None = option(
        None, "a merged table, of which only ambiguous entries are shown", metavar="MERGED"
    )


@dataclass(frozen=True)
class ImportOptions:
    key: str | None = option(None, "OUT.key.csv of the export; pairwise comparisons need it", metavar="FILE")
    with_default: bool = option(False, "the labels that rows already had vote, too")
    third: str | None = option(None, "labels that decide what is ambiguous", metavar="FILE")
    skip_unknown: bool = option(False, "leave unknown labels and ids out")


@dataclass(frozen=True)
class AgreeOptions:
    items: int = option(10, "most disagreed on, to be named", least=1, metavar="N")


def annotate(arguments: Sequence[str], console: Console) -> None:
    """One of three steps."""
    steps = {"export": _export, "import": _import, "agree": _agree}
    name, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if name in ("-h", "--help"):
        print(f"usage: evenhand annotate {'|'.join(steps)} …\n\nevenhand annotate STEP --help says more.")
        return
    if not name or name.startswith("-"):
        raise UsageError(f"a step is needed first: {', '.join(steps)}")
    if name not in steps:
        raise unknown_name("step of annotate", name, list(steps), "evenhand annotate --help")
    steps[name](rest, console)


def _add_scheme(parser: argparse.ArgumentParser, output: str, help: str) -> None:
    parser.add_argument("--scheme", required=True, metavar="SCHEME", help=SCHEME)
    parser.add_argument("--output", type=path, required=True, metavar=output, help=help)


def _export(arguments: Sequence[str], console: Console) -> None:
    from evenhand.tools.annotation.schemes import get_scheme
    from evenhand.tools.annotation.to_sheets import ExportSettings, export, label_columns, meanings

    def add(parser: argparse.ArgumentParser) -> None:
        shown = "dataset[:config[:split]], CSV, JSONL, parquet or run; pairwise: two"
        parser.add_argument("sources", nargs="+", metavar="SOURCE", help=shown)
        _add_scheme(parser, "OUT", "OUT.csv or OUT.jsonl")

    groups = {"options": Group("sheets", ExportOptions)}
    parsed, values = parse("evenhand annotate export", "Sheets to be labelled in any tool.", arguments, groups, add)
    options = made(ExportOptions, values["options"])
    scheme = get_scheme(parsed.scheme)
    settings = ExportSettings(
        sources=tuple(parsed.sources),
        scheme=scheme,
        output=parsed.output,
        columns=options.columns,
        context=options.context,
        id_column=options.id_column,
        labels=label_columns(options.label_column, scheme),
        meanings=meanings(options.label_means),
        show_label=options.show_label,
        n=options.n,
        seed=options.seed,
        annotators=options.annotators,
        ambiguous_in=_path(options.ambiguous_in),
        each=options.each,
        rows_from=options.source,
    )
    for sentence in export(settings).sentences():
        console.print(sentence, soft_wrap=True)


def _import(arguments: Sequence[str], console: Console) -> None:
    from evenhand.output_files import add_overwrite, check_output
    from evenhand.report.tables import print_table
    from evenhand.tools.annotation.files import TABLES, check_suffix
    from evenhand.tools.annotation.from_sheets import annotator_files, is_merged, merge
    from evenhand.tools.annotation.schemes import get_scheme

    def add(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("files", nargs="+", metavar="[NAME=]FILE", help="one annotator's labels each")
        _add_scheme(parser, "MERGED", ".csv, .jsonl or .parquet")
        add_overwrite(parser)

    groups = {"options": Group("labels", ImportOptions)}
    told = "Merge labelled sheets by majority vote."
    parsed, values = parse("evenhand annotate import", told, arguments, groups, add)
    options = made(ImportOptions, values["options"])
    files = annotator_files(parsed.files)
    check_suffix(parsed.output, TABLES)
    inputs = [*files.values(), *filter(None, (options.key, options.third, parsed.scheme))]
    again = check_output(parsed.output, inputs, "a merged table", is_merged, parsed.overwrite)
    merged = merge(
        files,
        get_scheme(parsed.scheme),
        key=_path(options.key),
        with_default=options.with_default,
        third=_path(options.third),
        skip_unknown=options.skip_unknown,
    )
    merged.write(parsed.output)
    print_table(merged.status_table(), console)
    print_table(merged.label_table(), console)
    for sentence in (merged.skipped(), *merged.left_empty()):
        console.print(sentence, soft_wrap=True)
    console.print(f"Merged: {parsed.output}{again} (evenhand annotate agree {parsed.output})", soft_wrap=True)


def _agree(arguments: Sequence[str], console: Console) -> None:
    from evenhand.report.tables import print_table
    from evenhand.tools.annotation.agreement import agree

    def add(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("merged", type=path, metavar="MERGED", help="what import wrote")

    groups = {"options": Group("shown", AgreeOptions)}
    told = "Percent agreement, Cohen's and Fleiss' kappa."
    parsed, values = parse("evenhand annotate agree", told, arguments, groups, add)
    for agreement in agree(parsed.merged, made(AgreeOptions, values["options"]).items):
        for sentence in agreement.sentences():
            console.print(sentence, soft_wrap=True)
        for table in agreement.tables():
            print_table(table, console)


def _path(text: str | None) -> Path | None:
    return None if text is None else typed_path(text)
