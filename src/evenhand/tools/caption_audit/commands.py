"""evenhand audit-captions: parses, calls, prints."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console


def add_arguments(audit_captions: argparse.ArgumentParser) -> None:
    audit_captions.set_defaults(command=_audit_captions)
    audit_captions.add_argument(
        "files", type=Path, nargs="+", metavar="FILE", help="JSON (an array), JSONL or parquet; LLaVA's, or captions"
    )
    audit_captions.add_argument(
        "--instances", nargs="+", metavar="WORDS", help="nurse 'taxi driver' … (default: paper 004's, Table 1)"
    )
    audit_captions.add_argument("--plurals", action="store_true", help="of instances count, too (not in the paper)")
    audit_captions.add_argument(
        "--column", metavar="NAME", help="of texts (default: conversations, caption, text or value)"
    )
    audit_captions.add_argument("--output", type=Path, metavar="FILE", help="write the figures as JSON, too")


def _audit_captions(parsed: argparse.Namespace, console: Console) -> None:
    import json

    from evenhand.flow.run_folder import write_whole
    from evenhand.report.tables import print_table
    from evenhand.tools.caption_audit.audit import audit

    found = audit(parsed.files, parsed.instances, parsed.column, parsed.plurals)
    for sentence in found.sentences():
        console.print(sentence, soft_wrap=True)
    print_table(found.table(), console)
    if parsed.output:
        write_whole(parsed.output, json.dumps(found.results(), indent=2, ensure_ascii=False, allow_nan=False) + "\n")
        console.print(f"Figures: {parsed.output}", soft_wrap=True)
