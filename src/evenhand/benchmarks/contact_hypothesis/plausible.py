"""The rows whose descriptor and situation go together: those that are asked, and trained on, unless all are wanted."""

from __future__ import annotations

import pyarrow as pa
from datasets import Dataset
from datasets.fingerprint import Hasher
from datasets.table import InMemoryTable


def plausible_rows(rows: Dataset) -> Dataset:
    table = rows.data.table
    return some_rows(rows, table.filter(table["plausible"]), "plausible")


def some_rows(rows: Dataset, table: pa.Table, *how: object) -> Dataset:
    """A table of its own: an index over the rows would make every column of every draw slow to read.

    table: the rows that were chosen. how: what they were chosen by; named, so that the library needn't tell this table
    from others by reading it whole.
    """
    return Dataset(InMemoryTable(table), info=rows.info, fingerprint=Hasher.hash([rows._fingerprint, *how]))
