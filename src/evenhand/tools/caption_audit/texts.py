"""The texts of a file, one after another: a caption, or all questions and answers of a conversation.

A text is a record: LCS-558K is a set of image-text pairs (Jiang et al., section 6): one question, one answer, counted
together ("question-answer pairs", Table A9).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from evenhand.row_files.json_values import Skipped
from evenhand.row_files.records import listed, records

COLUMNS = ("conversations", "caption", "text", "value")  # LLaVA's, and those of simple rows: the first that has text
BETWEEN_TURNS = "\n\0\n"  # no word and no blank: "… in flight" and "attendant …" are not a flight attendant

_TURN = ("value", "content")  # LLaVA's text of a turn, and that of chat messages

NO_RECORD = Skipped("not an object")
NO_TEXT = Skipped("without a text in their column")
BLANK = Skipped("blank")


def texts(path: Path, columns: Sequence[str] = COLUMNS) -> Iterator[str | Skipped]:
    """Of every record its text, or why it has none.

    path: one that was checked; JSON (an array of objects), JSONL or parquet. columns: where texts are, the first that
    holds one: each cell a text, a list of texts, or of turns with a `value` (or `content`) each.
    Raises EvenhandError for a file that can't be read on.
    """
    for record in records(path, columns, "captions"):
        yield record if isinstance(record, Skipped) else text_of(record, columns)


def text_of(record: object, columns: Sequence[str] = COLUMNS) -> str | Skipped:
    if not isinstance(record, dict):
        return NO_RECORD
    found = [_text(record[name]) for name in columns if name in record]
    if not found:
        return Skipped(f"without a column {' or '.join(map(repr, columns))}", f"columns that came: {listed(record)}")
    # Of several columns, the first that has text; of several reasons, that of the first column.
    return next((text for text in found if isinstance(text, str)), found[0])


def _text(cell: object) -> str | Skipped:
    parts = [cell] if isinstance(cell, str) else []
    if isinstance(cell, list):
        turns = [_turn(part) if isinstance(part, dict) else part for part in cell]
        parts = [part for part in turns if isinstance(part, str)]
    if not parts:
        return NO_TEXT
    return BETWEEN_TURNS.join(parts) if any(map(str.strip, parts)) else BLANK


def _turn(turn: dict[str, object]) -> object:
    return next((turn[name] for name in _TURN if isinstance(turn.get(name), str)), None)
