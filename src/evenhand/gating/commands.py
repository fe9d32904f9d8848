"""evenhand gate: parses, calls, prints."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from evenhand.command_line import Group, parse, path
from evenhand.gating.policy import Policy, read_policy
from evenhand.options import fields_of
from evenhand.words import in_words

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

DESCRIPTION = (
    "May a candidate take its base's place? Only if it is shown that bias and utility got no worse than the policy "
    "allows. Ends with 0: it passes; 1: it is worse; 3: there is not enough evidence, with the number of rows that "
    "would be enough. 2: these runs can't be compared."
)


def gate(arguments: Sequence[str], console: Console) -> int:
    parsed, values = parse("evenhand gate", DESCRIPTION, arguments, {"policy": Group("policy", Policy)}, _add_arguments)

    from evenhand.gating.gate import gate as judged
    from evenhand.gating.outputs import junit, summary
    from evenhand.output_files import check_output
    from evenhand.report.tables import print_table
    from evenhand.whole_files import write_whole

    read = [parsed.base, parsed.candidate, *([parsed.policy_file] if parsed.policy_file else [])]
    for file in filter(None, (parsed.junit, parsed.summary)):
        check_output(file, read, "a gate's", _is_ours, parsed.overwrite)
    found = judged(parsed.base, parsed.candidate, _policy(parsed.policy_file, values["policy"]))
    print_table(found.table, console, spoken=True)
    for warning in found.warnings:
        console.print(f"Warning: {in_words(warning)}", soft_wrap=True)
    for sentence in found.sentences:
        console.print(in_words(sentence), soft_wrap=True)
    if parsed.junit:
        write_whole(parsed.junit, junit(found))
    if parsed.summary:
        write_whole(parsed.summary, summary(found))
    return found.exit_code


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    from evenhand.output_files import add_overwrite

    folder = "a run's folder, or a folder of runs"
    parser.add_argument("base", type=path, metavar="BASE", help=folder)
    parser.add_argument("candidate", type=path, metavar="CANDIDATE", help=f"{folder} of the same benchmarks")
    parser.add_argument(
        "--policy", dest="policy_file", type=path, metavar="FILE", help="gate.yaml; options given here go before it"
    )
    parser.add_argument("--junit", type=path, metavar="FILE", help="write JUnit's XML")
    parser.add_argument("--summary", type=path, metavar="FILE", help="write a summary in Markdown")
    add_overwrite(parser)


def _policy(file: Path | None, given: dict[str, object]) -> Policy:
    """The file's, with what was given in place of its own; margins of single figures are added to its."""
    from evenhand.options import made

    if file is None:
        return made(Policy, given)
    of_file = read_policy(file)
    values = {each.name: getattr(of_file, each.name) for each in fields_of(Policy)}
    return made(Policy, {**values, **given, "figures": (*of_file.figures, *given.get("figures", ()))})  # type: ignore[misc]


def _is_ours(file: Path) -> bool:
    from evenhand.gating.outputs import MADE_BY

    with file.open("rb") as opened:
        return MADE_BY.encode() in opened.read(200)
