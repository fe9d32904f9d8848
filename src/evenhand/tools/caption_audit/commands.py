"""evenhand audit-captions: parses, calls, prints."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.command_line import Group, parse, path
from evenhand.options import made, option

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True)
class AuditOptions:
    instances: tuple[str, ...] = option(
        (), "nurse 'taxi driver' …; by default Jiang et al.'s, Table 1", metavar="WORDS"
    )
    plurals: bool = option(False, "of instances count, too (not in the paper)")
    column: str | None = option(None, "of texts; by default conversations, caption, text or value", metavar="NAME")


def audit_captions(arguments: Sequence[str], console: Console) -> None:
    import json

    from evenhand.output_files import add_overwrite, check_output
    from evenhand.report.tables import print_table
    from evenhand.tools.caption_audit.audit import audit
    from evenhand.tools.caption_audit.findings import is_audit
    from evenhand.whole_files import write_whole

    def add(parser: argparse.ArgumentParser) -> None:
        accepted = "JSON (an array), JSONL or parquet; LLaVA's, or captions"
        parser.add_argument("files", type=path, nargs="+", metavar="FILE", help=accepted)
        parser.add_argument("--output", type=path, metavar="FILE", help="write the figures as JSON, too")
        add_overwrite(parser)

    told = "Gender terms beside occupations and descriptors in captions."
    parsed, values = parse(
        "evenhand audit-captions", told, arguments, {"options": Group("what is counted", AuditOptions)}, add
    )
    options = made(AuditOptions, values["options"])
    again = parsed.output and check_output(parsed.output, parsed.files, "an audit", is_audit, parsed.overwrite)
    found = audit(parsed.files, options.instances or None, options.column, options.plurals)
    for sentence in found.sentences():
        console.print(sentence, soft_wrap=True)
    print_table(found.table(), console)
    if parsed.output:
        write_whole(parsed.output, json.dumps(found.results(), indent=2, ensure_ascii=False, allow_nan=False) + "\n")
        console.print(f"Figures: {parsed.output}{again}", soft_wrap=True)
