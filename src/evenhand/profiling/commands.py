"""evenhand profile."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from evenhand.benchmarks import BENCHMARKS
from evenhand.command_line import Group, parse, path
from evenhand.models.server_options import ServerOptions
from evenhand.options import made, texts_of
from evenhand.profiling.settings import PAGE, ProfileOptions

if TYPE_CHECKING:
    from rich.console import Console

DESCRIPTION = (
    "All benchmarks that a model can do, within a budget of time, and one page of what they found. The same command "
    "goes on where it stopped; with further models the page compares them, on the same rows."
)


def profile(arguments: Sequence[str], console: Console) -> None:
    groups = {
        "options": Group("the profile", ProfileOptions),
        "server": Group("--model URL, a server; or as --model-option", ServerOptions),
    }
    parsed, values = parse("evenhand profile", DESCRIPTION, arguments, groups, _add_arguments)
    given = values["options"]
    of_server = texts_of(ServerOptions, values["server"])
    given["model_options"] = tuple(sorted((*given.get("model_options", ()), *of_server)))
    options = made(ProfileOptions, given)

    from evenhand.profiling.asking import make_profile
    from evenhand.profiling.found import make_overview, read_profile, write_profile
    from evenhand.progress import AtWork
    from evenhand.report.tables import print_table

    say = partial(console.print, soft_wrap=True)
    models, benchmarks = (list(dict.fromkeys(each)) for each in (parsed.model, parsed.benchmark or BENCHMARKS.names))
    settings = make_profile(models, benchmarks, options, parsed.output, say)
    with AtWork("putting the runs together"):
        found = read_profile(parsed.output, settings)
        print_table(make_overview(found), console, spoken=True)
        for sentence in found.left_out:
            say(f"Left out: {sentence}")
        write_profile(found, parsed.output / PAGE)
    say(f"Page: {parsed.output / PAGE}")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    model, benchmark = "as for evenhand run; several are compared", "benchmark to ask (default: all; see evenhand list)"
    parser.add_argument("--model", action="append", required=True, metavar="MODEL", help=model)
    parser.add_argument("--output", type=path, required=True, metavar="DIR", help="the profile's folder")
    parser.add_argument("--benchmark", action="append", metavar="NAME", help=benchmark)
