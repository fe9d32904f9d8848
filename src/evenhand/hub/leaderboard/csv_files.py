"""The board and what was refused as CSV. A spreadsheet takes what begins with = + - @ for a formula: these get a '."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from evenhand.hub.leaderboard.board import Board
from evenhand.hub.leaderboard.records import Refused
from evenhand.terminal import shown

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%", "＝", "＋", "－", "＠")
COLUMNS = (
    "model", "base", "benchmark", "task", "metric", "unit", "value", "interval_low", "interval_high", "rank", "ranked",
    "lower_is_better", "n_read", "dataset", "setting", "library", "date", "notes", "link",
)  # fmt: skip


def cell(value: object) -> object:
    """Of a text what no spreadsheet takes for a formula, in one line; a number as it is."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    text = " ".join(shown(str(value)).split())
    return f"'{text}" if text.startswith(_FORMULA) else text


def board_csv(board: Board, links: dict[tuple[str, str], str]) -> str:
    """A line a result. links: where a result is opened beside the page, by (source, place)."""
    rows = []
    for column in board.columns:
        for row in board.rows:
            if found := board.cells.get((column, row.name)):
                record = found.record
                low, high = record.interval or (None, None)
                rows.append(
                    [
                        row.name, row.base, column.benchmark, column.task, column.metric, column.unit, record.value,
                        low, high, found.rank, board.ranks[column].n, column.lower_is_better, record.n_read,
                        column.dataset, column.setting, column.library, record.date, record.notes,
                        record.link or links.get((record.source, record.place)),
                    ]
                )  # fmt: skip
    return _csv(COLUMNS, rows)


def refused_csv(refused: Sequence[Refused]) -> str:
    return _csv(("source", "place", "reason"), ((each.source, each.place, each.reason) for each in refused))


def _csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([cell(each) for each in row] for row in rows)
    return file.getvalue()
