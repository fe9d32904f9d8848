"""The rows whose descriptor and situation go together: those that are asked, and trained on, unless all are wanted."""

from __future__ import annotations

from datasets import Dataset
from datasets.table import InMemoryTable


def plausible_rows(rows: Dataset) -> Dataset:
    """A table of its own: an index over the rows would make every column of every draw slow to read."""
    table = rows.data.table
    return Dataset(InMemoryTable(table.filter(table["plausible"])), info=rows.info)
