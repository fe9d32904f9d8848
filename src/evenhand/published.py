"""Published figures: records of the same columns as the figures' table, from a CSV beside each benchmark."""

from __future__ import annotations

import csv
import sys
from functools import cache
from pathlib import Path
from typing import Any

NUMBERS = ("value", "low", "high")
NAME = "published.csv"


def published_beside(benchmark: type[Any]) -> list[dict[str, Any]]:
    """The records of published.csv in the folder of a benchmark's class; none where there is no such file."""
    path = Path(str(sys.modules[benchmark.__module__].__file__)).with_name(NAME)
    return read_published(path) if path.is_file() else []


@cache
def _records(path: Path) -> tuple[dict[str, Any], ...]:
    with path.open(encoding="utf-8", newline="") as file:
        return tuple(
            {name: float(text) if name in NUMBERS else text for name, text in row.items() if text}
            for row in csv.DictReader(file)
        )


def read_published(path: Path, **groups: str) -> list[dict[str, Any]]:
    """Columns model, figure, value, those of the groups, and source; what is blank is left out.

    groups: {column: value} of the records that are wanted.
    """
    return [dict(each) for each in _records(path) if groups.items() <= each.items()]
