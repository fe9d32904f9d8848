"""evenhand leaderboard SOURCE …: gathers, writes the page, says what was refused."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.command_line import Group, parse, path
from evenhand.errors import UsageError
from evenhand.options import made, option

if TYPE_CHECKING:
    from rich.console import Console

    from evenhand.hub.leaderboard.board import Board
    from evenhand.hub.leaderboard.records import Refused

SHOWN = 20  # refused results; more are counted
TITLE = "Leaderboard of social bias"
NEEDED = (
    "it takes finished runs of all rows (evenhand run without --limit) of a model, records of Every Eval Ever, or "
    "repositories with such results. To see a page of stubs, or of parts of the rows, add --rehearsal."
)


@dataclass(frozen=True)
class LeaderboardOptions:
    title: str = option(TITLE, "of the page", metavar="TEXT")
    model_id: tuple[str, ...] = option(
        (), "FOLDER=ORG/NAME: whose results a folder's are, where its files don't say", metavar="PAIR", repeated=True
    )
    base: tuple[str, ...] = option((), "MODEL=BASE: what a model was made of", metavar="PAIR", repeated=True)
    rehearsal: bool = option(
        False, "also show run folders of stubs and of parts of the rows, to see what a page looks like; not published"
    )
    without_reports: bool = option(
        False, "a run's figures open its record in place of its report, which takes longer and may name this machine"
    )


def leaderboard(arguments: Sequence[str], console: Console) -> int:
    """Parses, calls, prints; the exit code is 1 where there is nothing to show."""

    def add_rest(parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "sources",
            nargs="+",
            metavar="SOURCE",
            help="run folders, records of Every Eval Ever, folders of them, ORG/NAME of a model on the Hub, or "
            "datasets/ORG/NAME; the first goes before later ones where they contradict each other",
        )
        parser.add_argument("--output", type=path, metavar="DIR", required=True, help="the folder of the page")

    told = "Results from many places in one table: a page that works by itself, and the same as a Gradio Space."
    groups = {"options": Group("options", LeaderboardOptions)}
    parsed, values = parse("evenhand leaderboard", told, arguments, groups, add_rest)
    asked = made(LeaderboardOptions, values["options"])
    models = {Path(folder).resolve(): name for folder, name in map(_pair, asked.model_id)}
    bases = dict(map(_pair, asked.base))

    from datetime import datetime

    from evenhand.hub.leaderboard.gathering import gathered
    from evenhand.hub.leaderboard.writing import PAGE, check_output, write_board
    from evenhand.hub.submission.finished_run import checked_model_id

    def say(sentence: str) -> None:
        console.print(sentence, soft_wrap=True, markup=False, highlight=False)

    for folder, name in models.items():
        checked_model_id(name)
        if not folder.exists():
            raise UsageError(f"--model-id: {folder} is not there; name a folder that is read")
    check_output(parsed.output)
    now = datetime.now(UTC)
    found = gathered(parsed.sources, models, bases, now, asked.rehearsal)
    for sentence in _refusals(found.refused):
        say(sentence)
    board = write_board(found, parsed.output, asked.title, now, say, not asked.without_reports)
    say(_counted(board))
    say(f"Page: {parsed.output / PAGE}")
    if board.cells:
        return 0
    say(f"Nothing stands on this page: {NEEDED}")
    return 1


def _pair(text: str) -> tuple[str, str]:
    """Raises UsageError for no "ONE=OTHER"."""
    one, _, other = text.rpartition("=")
    if not one.strip() or not other.strip():
        raise UsageError(f"{text!r} came; ONE=OTHER is accepted")
    return one.strip(), other.strip()


def _refusals(refused: Sequence[Refused]) -> list[str]:
    sentences = [f"Refused: {each.source}, {each.place}: {each.reason}" for each in refused[:SHOWN]]
    if len(refused) > SHOWN:
        reasons = Counter(each.reason.partition(":")[0][:80] for each in refused[SHOWN:])
        more = ", ".join(f"{n:,} × {reason}" for reason, n in reasons.most_common(5))
        sentences.append(f"Refused: {len(refused) - SHOWN:,} more, all in refused.csv ({more})")
    return sentences


def _counted(board: Board) -> str:
    from evenhand.report.tables import n_of

    counts = (len(board.rows), "model"), (len(board.columns), "column"), (len(board.cells), "result")
    return f"{', '.join(n_of(*each) for each in counts)}; {board.n_refused:,} refused"
