"""What a page offers to save: each table as CSV with its intervals in columns of their own, each drawing as SVG.

They lie in the page as data: URLs, so that a report stays one file without scripts.
"""

from __future__ import annotations

import base64
import csv
import io
import math
import re
from typing import TYPE_CHECKING

from evenhand.report.tables import Cell, Table
from evenhand.row_files.spreadsheets import escaped
from evenhand.words import in_words

if TYPE_CHECKING:
    import pandas as pd

Value = str | float | int | None


def spread(table: Table) -> tuple[list[str], list[list[Value]]]:
    """The table's columns and rows with exact numbers: one with an interval fills three columns. None: no data."""
    columns: list[str] = []
    rows: list[list[Value]] = [[] for _ in table.rows]
    for i, name in enumerate(table.columns):
        cells = [row[i] if i < len(row) else Cell("") for row in table.rows]
        with_interval = any(each.low is not None or each.high is not None for each in cells)
        columns += [in_words(f"{name}{what}") for what in ("", ", low", ", high")[: 3 if with_interval else 1]]
        numeric = any(not isinstance(each.value, str) for each in cells)
        for row, each in zip(rows, cells):
            row.append(_value(each, numeric, spoken=i == 0))
            row += [_number(each.low), _number(each.high)] if with_interval else []
    return columns, rows


def _value(cell: Cell, numeric: bool, spoken: bool) -> Value:
    """A blank text in a column of numbers is no data."""
    if isinstance(cell.value, str):
        text = in_words(cell.value) if spoken else cell.value
        return text if text.strip() or not numeric else None
    return _number(cell.value)


def _number(value: float | int | None) -> float | int | None:
    return None if value is None or math.isnan(value) else value


def frame_of(table: Table) -> pd.DataFrame:
    """The table for pandas, by `spread`."""
    import pandas as pd

    columns, rows = spread(table)
    return pd.DataFrame(rows, columns=columns)


def csv_of(table: Table) -> str:
    """The table as CSV, by `spread`; what a spreadsheet would compute is escaped, numbers are not."""
    columns, rows = spread(table)
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow([_cell(each) for each in columns])
    writer.writerows([_cell(each) for each in row] for row in rows)
    return file.getvalue()


def _cell(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return escaped(value.replace("\0", "␀"))
    return repr(float(value)).removesuffix(".0")


def data_url(kind: str, content: str) -> str:
    """kind: "text/csv", "image/svg+xml"."""
    return f"data:{kind};base64,{base64.b64encode(content.encode('utf-8', 'replace')).decode()}"


def file_name(title: str) -> str:
    """Of what is saved: letters and digits of the title."""
    return "-".join(re.findall(r"[a-z0-9]+", title.lower()))[:60] or "table"
