"""evenhand annotate export, import and agree: parses, calls, prints."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

SCHEME = "agency, pairwise, yes-no, or a JSON file of your own"


def add_steps(annotate: argparse.ArgumentParser, positive: Callable[[str], int]) -> None:
    """positive: the argument type of whole numbers of 1 or more."""
    steps = annotate.add_subparsers(required=True, metavar="STEP")

    export = steps.add_parser("export", help="sheets to be labelled in any tool")
    export.set_defaults(command=_export)
    export.add_argument(
        "sources",
        nargs="+",
        metavar="SOURCE",
        help="dataset[:config[:split]], CSV, JSONL, parquet or run; pairwise: two",
    )
    export.add_argument("--scheme", required=True, metavar="SCHEME", help=SCHEME)
    export.add_argument("--output", type=Path, required=True, metavar="OUT", help="OUT.csv or OUT.jsonl")
    export.add_argument("--column", action="append", metavar="NAME", help="shown to annotators (default: text)")
    export.add_argument("--context", action="append", default=[], metavar="NAME", help="pairwise: shown once, too")
    export.add_argument("--id-column", metavar="NAME", help="(default: id, or else a row's place)")
    export.add_argument(
        "--label-column",
        action="append",
        default=[],
        metavar="[QUESTION=]NAME",
        help="of labels that rows already have",
    )
    export.add_argument(
        "--label-means", action="append", default=[], metavar="CAME=LABEL", help="what such a label is called in SCHEME"
    )
    export.add_argument("--show-label", action="store_true", help="to annotators, too, and not in the key alone")
    export.add_argument("--n", type=positive, metavar="N", help="entries drawn at random (default: all)")
    export.add_argument("--seed", type=int, default=0, metavar="S", help="of the draw, the order and the sides")
    export.add_argument("--annotators", type=positive, default=1, metavar="K", help="sheets, each in its own order")
    export.add_argument("--ambiguous-in", type=Path, metavar="MERGED", help="only its ambiguous entries, for a third")

    import_ = steps.add_parser("import", help="merge labelled sheets by majority vote")
    import_.set_defaults(command=_import)
    import_.add_argument("files", nargs="+", metavar="[NAME=]FILE", help="one annotator's labels each")
    import_.add_argument("--scheme", required=True, metavar="SCHEME", help=SCHEME)
    import_.add_argument("--output", type=Path, required=True, metavar="MERGED", help=".csv, .jsonl or .parquet")
    import_.add_argument("--key", type=Path, metavar="FILE", help="OUT.key.csv of the export (pairwise: needed)")
    import_.add_argument("--with-default", action="store_true", help="the labels rows already had vote, too")
    import_.add_argument("--third", type=Path, metavar="FILE", help="labels that decide what is ambiguous")
    import_.add_argument("--skip-unknown", action="store_true", help="leave unknown labels and ids out")

    agree = steps.add_parser("agree", help="percent agreement, Cohen's and Fleiss' kappa")
    agree.set_defaults(command=_agree)
    agree.add_argument("merged", type=Path, metavar="MERGED", help="what import wrote")
    agree.add_argument("--items", type=positive, default=10, metavar="N", help="most disagreed on, to be named")


def _export(parsed: argparse.Namespace, console: Console) -> None:
    from evenhand.tools.annotation.schemes import get_scheme
    from evenhand.tools.annotation.to_sheets import ExportSettings, export, label_columns, meanings

    scheme = get_scheme(parsed.scheme)
    settings = ExportSettings(
        sources=tuple(parsed.sources),
        scheme=scheme,
        output=parsed.output,
        columns=tuple(parsed.column or ["text"]),
        context=tuple(parsed.context),
        id_column=parsed.id_column,
        labels=label_columns(parsed.label_column, scheme),
        meanings=meanings(parsed.label_means),
        show_label=parsed.show_label,
        n=parsed.n,
        seed=parsed.seed,
        annotators=parsed.annotators,
        ambiguous_in=parsed.ambiguous_in,
    )
    for sentence in export(settings).sentences():
        console.print(sentence, soft_wrap=True)


def _import(parsed: argparse.Namespace, console: Console) -> None:
    from evenhand.report.tables import print_table
    from evenhand.tools.annotation.from_sheets import annotator_files, merge
    from evenhand.tools.annotation.schemes import get_scheme

    merged = merge(
        annotator_files(parsed.files),
        get_scheme(parsed.scheme),
        key=parsed.key,
        with_default=parsed.with_default,
        third=parsed.third,
        skip_unknown=parsed.skip_unknown,
    )
    merged.write(parsed.output)
    print_table(merged.status_table(), console)
    print_table(merged.label_table(), console)
    console.print(merged.skipped(), soft_wrap=True)
    console.print(f"Merged: {parsed.output} (evenhand annotate agree {parsed.output})", soft_wrap=True)


def _agree(parsed: argparse.Namespace, console: Console) -> None:
    from evenhand.report.tables import print_table
    from evenhand.tools.annotation.agreement import agree

    for agreement in agree(parsed.merged, parsed.items):
        for sentence in agreement.sentences():
            console.print(sentence, soft_wrap=True)
        for table in agreement.tables():
            print_table(table, console)
