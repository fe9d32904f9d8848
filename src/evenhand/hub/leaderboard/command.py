"""evenhand leaderboard SOURCE …: gathers results, writes the page, reports what was refused."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.command_line import Group, parse, path
from evenhand.errors import UsageError
from evenhand.options import made, option, pair

if TYPE_CHECKING:
    from rich.console import Console

MOST_SHOWN = 20  # refused results; more are counted
NEEDED = (
    "a leaderboard needs finished runs of all rows (evenhand run without --limit) of a model, records of Every Eval "
    "Ever, or repositories with such results. To see a page of stubs, or of parts of the rows, add --rehearsal."
)


@dataclass(frozen=True)
class LeaderboardOptions:
    title: str = option("Leaderboard of social bias", "title of the page", metavar="TEXT")
    model_id: tuple[tuple[str, str], ...] = option(
        (), "the model of run folders, if they don't say", metavar="FOLDER=ORG/NAME", parse=pair,
        repeated=True,
    )  # fmt: skip
    base: tuple[tuple[str, str], ...] = option(
        (), "what a model was made from", metavar="MODEL=BASE", parse=pair, repeated=True
    )
    rehearsal: bool = option(
        False, "also show run folders of stubs and of parts of the rows, to see what a page looks like; not published"
    )
    without_reports: bool = option(
        False, "let a run's figures open its record; its report takes longer to write and may name this machine"
    )


def leaderboard(arguments: Sequence[str], console: Console) -> int:
    """Gather results and write the page; return 1 where there is nothing to show."""

    def add_rest(parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "sources", nargs="+", metavar="SOURCE",
            help="run folders, records of Every Eval Ever, folders of them, ORG/NAME of a model on the Hub, or "
            "datasets/ORG/NAME; the first of two contradicting results counts",
        )  # fmt: skip
        parser.add_argument("--output", type=path, metavar="DIR", required=True, help="output directory of the page")

    description = "Gather results into one table: a self-contained page, and the same page as a Space."
    groups = {"options": Group("options", LeaderboardOptions)}
    parsed, values = parse("evenhand leaderboard", description, arguments, groups, add_rest)
    options = made(LeaderboardOptions, values["options"])
    models = {Path(folder).resolve(): name for folder, name in options.model_id}

    from evenhand.hub.leaderboard.board import make_board
    from evenhand.hub.leaderboard.sources import gather
    from evenhand.hub.leaderboard.writing import PAGE, REFUSED, check_output, write_board
    from evenhand.hub.submission.finished_run import checked_model_id
    from evenhand.report.tables import n_of

    say = partial(console.print, soft_wrap=True, markup=False, highlight=False)
    for folder, name in models.items():
        checked_model_id(name)
        if not folder.exists():
            raise UsageError(f"--model-id: {folder} does not exist; name a folder that is read")
    check_output(parsed.output)
    found = gather(parsed.sources, models, dict(options.base), options.rehearsal)
    for each in found.refused[:MOST_SHOWN]:
        say(f"Refused: {each.source}, {each.place}: {each.reason}")
    if rest := found.refused[MOST_SHOWN:]:
        say(f"Refused: {len(rest):,} more, all in {REFUSED}")
    board = make_board(found)
    write_board(board, parsed.output, options.title, say, not options.without_reports)
    counts = n_of(len(board.rows), "model"), n_of(len(board.columns), "column"), n_of(len(board.cells), "result")
    say(f"{', '.join(counts)}; {len(found.refused):,} refused")
    say(f"Page: {parsed.output / PAGE}")
    if not board.cells:
        say(f"The page is empty: {NEEDED}")
    return 0 if board.cells else 1
