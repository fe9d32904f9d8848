"""evenhand profile: parses, calls, prints."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from evenhand.benchmarks import BENCHMARKS
from evenhand.command_line import Group, parse, path
from evenhand.errors import unknown_name
from evenhand.models.server_options import ServerOptions
from evenhand.options import made, texts_of
from evenhand.profiling.settings import PAGE, ProfileOptions

if TYPE_CHECKING:
    from rich.console import Console

    from evenhand.flow.evaluation import OnProgress

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
    benchmarks = parsed.benchmark or BENCHMARKS.names
    for name in benchmarks:
        if name not in BENCHMARKS:
            raise unknown_name("benchmark", name, BENCHMARKS.names, "evenhand list shows all")
    given = values["options"]
    of_servers = texts_of(ServerOptions, values["server"])
    given["model_options"] = tuple(sorted((*given.get("model_options", ()), *of_servers)))
    options = made(ProfileOptions, given)

    from evenhand.at_work import AtWork
    from evenhand.flow.progress import ProgressBar
    from evenhand.profiling.asking import ask_all
    from evenhand.profiling.found import found_in
    from evenhand.profiling.page import overview, write_profile
    from evenhand.report.tables import print_table

    def say(sentence: str) -> None:
        console.print(sentence, soft_wrap=True)

    @contextmanager
    def progress_bar(name: str) -> Iterator[OnProgress]:
        with ProgressBar(name) as bar:
            yield bar.update

    models, benchmarks = list(dict.fromkeys(parsed.model)), list(dict.fromkeys(benchmarks))
    settings = ask_all(models, benchmarks, options, parsed.output, say, progress_bar)
    with AtWork("putting the runs together"):
        found = found_in(parsed.output, settings)
        print_table(overview(found), console, spoken=True)
        for sentence in found.left_out:
            say(f"Left out: {sentence}")
        write_profile(found, parsed.output / PAGE)
    say(f"Page: {parsed.output / PAGE}")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model", action="append", required=True, metavar="MODEL", help="as of evenhand run; several are compared"
    )
    parser.add_argument(
        "--output", type=path, required=True, metavar="DIR", help="the profile's folder, of run folders"
    )
    parser.add_argument(
        "--benchmark", action="append", metavar="NAME", help="this one, in place of all (evenhand list shows them)"
    )
