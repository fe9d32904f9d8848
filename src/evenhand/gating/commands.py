"""evenhand gate: parses, calls, prints."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from evenhand.command_line import Group, parse, path
from evenhand.errors import EvenhandError, UsageError
from evenhand.gating.policy import Policy, read_policy
from evenhand.options import made
from evenhand.output_files import add_overwrite, check_output

if TYPE_CHECKING:
    from rich.console import Console

DESCRIPTION = (
    "Check that a candidate model is no worse than its base: bias and utility may get no worse than the policy allows. "
    "Exit codes: 0, it passes; 1, it is worse; 2, these runs can't be compared; 3, there is not enough evidence, with "
    "the number of rows that would be enough."
)


def gate(arguments: Sequence[str], console: Console) -> int:
    parsed, values = parse("evenhand gate", DESCRIPTION, arguments, {"policy": Group("policy", Policy)}, _add_arguments)

    from evenhand.gating.gate import MADE_BY, junit, summary
    from evenhand.gating.gate import gate as judge
    from evenhand.report.findings import print_findings
    from evenhand.whole_files import write_whole

    outputs = {file: write for file, write in ((parsed.junit, junit), (parsed.summary, summary)) if file}
    if parsed.junit and parsed.summary and parsed.junit.resolve() == parsed.summary.resolve():
        raise UsageError(f"--junit and --summary both name {parsed.junit}; give each a file of its own")
    for file in outputs:
        read = filter(None, (parsed.base, parsed.candidate, parsed.policy_file))
        check_output(file, read, "a gate's", lambda file: MADE_BY.encode() in file.read_bytes()[:200], parsed.overwrite)
    policy, given = read_policy(parsed.policy_file) if parsed.policy_file else Policy(), values["policy"]
    figures = (*policy.figures, *given.get("figures", ()))  # of two margins of a figure the last one counts
    try:
        found = judge(parsed.base, parsed.candidate, made(Policy, {**vars(policy), **given, "figures": figures}))
        print_findings(found, console)
        for file, write in outputs.items():
            write_whole(file, write(found))
    except EvenhandError as error:  # such as a damaged run; exit code 1 would say that the candidate is worse
        raise UsageError(str(error)) from error
    return found.exit_code


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    folder = "a run's folder, or a folder of runs"
    parser.add_argument("base", type=path, metavar="BASE", help=folder)
    parser.add_argument("candidate", type=path, metavar="CANDIDATE", help=f"{folder} of the same benchmarks")
    parser.add_argument(
        "--policy", dest="policy_file", type=path, metavar="FILE", help="gate.yaml; other options override it"
    )
    parser.add_argument("--junit", type=path, metavar="FILE", help="write JUnit's XML")
    parser.add_argument("--summary", type=path, metavar="FILE", help="write a summary in Markdown")
    add_overwrite(parser)
