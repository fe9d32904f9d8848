"""The questions of a file in place of evenhand's, such as WikiMovies', and what else a run may choose."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from evenhand.benchmark import Rows
from evenhand.errors import UsageError
from evenhand.options import option

SEPARATOR = "|"


@dataclass(frozen=True)
class UtilityOptions:
    questions: str | None = option(
        None,
        "own questions: a CSV, JSONL or parquet file with the columns question and answers (in CSV separated by |)",
        metavar="FILE",
    )
    scorer: str | None = option(
        None, "also compute BERTScore by this encoder, such as roberta-large: a Hub id or a folder", metavar="MODEL"
    )


def read_questions(path: Path) -> Rows:
    """Read questions with their accepted answers. Raises UsageError for a file without them."""
    import datasets

    from evenhand.row_files import as_text, read_rows

    found = read_rows(path, "question", "questions", known=("question", "answers"))
    if missing := [name for name in ("question", "answers") if name not in found.columns]:
        raise UsageError(f"{path} has no column {' and '.join(missing)}; its columns: {', '.join(found.columns)}")
    rows = []
    for number, (question, cell, where) in enumerate(
        zip(found.cells("question"), found.cells("answers"), found.places), 1
    ):
        said = cell if isinstance(cell, list) else as_text(cell).split(SEPARATOR)
        answers = [text for each in said if (text := as_text(each).strip())]
        text = as_text(question).strip()
        if not text or not answers:
            raise UsageError(f"{path}, {where}: a question needs a text and at least one answer")
        rows.append({"id": f"own-{number}", "topic": "own", "question": text, "answers": answers, "probe": False})
    return Rows(datasets.Dataset.from_list(rows), sha256=found.sha256)
