"""evenhand audit-captions."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console

from evenhand.command_line import Group, parse, path
from evenhand.options import made, option
from evenhand.output_files import add_overwrite, check_output
from evenhand.report.tables import print_table
from evenhand.tools.caption_audit.audit import audit, is_audit
from evenhand.whole_files import write_whole


@dataclass(frozen=True)
class AuditOptions:
    instances: tuple[str, ...] = option(
        (), "nurse 'taxi driver' …; by default Jiang et al.'s, Table 1", metavar="WORDS"
    )
    plurals: bool = option(False, "count plurals of instances, too (not in the paper)")
    column: str | None = option(
        None, "column of texts; by default conversations, caption, text or value", metavar="NAME"
    )


def audit_captions(arguments: Sequence[str], console: Console) -> None:
    """Count gender terms in files of captions, and print the table."""

    def add(parser: argparse.ArgumentParser) -> None:
        formats = "JSON (an array), JSONL or parquet; LLaVA's, or captions"
        parser.add_argument("files", type=path, nargs="+", metavar="FILE", help=formats)
        parser.add_argument("--output", type=path, metavar="FILE", help="also write the figures as JSON")
        add_overwrite(parser)

    description = "Count gender terms near occupations and descriptors in captions."
    groups = {"options": Group("what is counted", AuditOptions)}
    parsed, values = parse("evenhand audit-captions", description, arguments, groups, add)
    options = made(AuditOptions, values["options"])
    again = parsed.output and check_output(parsed.output, parsed.files, "an audit", is_audit, parsed.overwrite)
    found = audit(parsed.files, options.instances or None, options.column, options.plurals)
    for sentence in found.sentences():
        console.print(sentence, soft_wrap=True)
    print_table(found.table(), console)
    if parsed.output:
        write_whole(parsed.output, json.dumps(found.results(), indent=2, ensure_ascii=False, allow_nan=False) + "\n")
        console.print(f"Figures: {parsed.output}{again}", soft_wrap=True)
