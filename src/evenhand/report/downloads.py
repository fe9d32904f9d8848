"""What a page offers to save: each table as CSV with its intervals in columns of their own, each drawing as SVG.

They lie in the page as data: URLs, so that a report stays one file without scripts.
"""

from __future__ import annotations

import base64
import csv
import io
import re
from typing import TYPE_CHECKING

from evenhand.report.tables import Table
from evenhand.row_files.spreadsheets import escaped
from evenhand.words import in_words

if TYPE_CHECKING:
    import pandas as pd

_NUMBER = r"[+-]?\d[\d,]*(?:\.\d+)?"
_FIGURE = re.compile(rf"({_NUMBER})(?: \[({_NUMBER}), ({_NUMBER})\])?")
_NOTHING = ("", "no data", "not read")
Value = str | float | None


def spread(table: Table) -> tuple[list[str], list[list[Value]]]:
    """The table's columns and rows with numbers as numbers: "48.2 [45.1, 51.3]" fills three columns.

    A column in which anything else stands is text, as shown. None: no data.
    """
    columns: list[str] = []
    spread_out: list[list[Value]] = [[] for _ in table.rows]
    for i, name in enumerate(table.columns):
        texts = [row[i].text.strip() if i < len(row) else "" for row in table.rows]
        found = [_FIGURE.fullmatch(text) for text in texts]
        if i == 0 or not all(each or text in _NOTHING for each, text in zip(found, texts)) or not any(found):
            columns.append(in_words(name))
            for row, text in zip(spread_out, texts):
                row.append(in_words(text) if i == 0 else text)
            continue
        parts = 3 if any(each and each[2] for each in found) else 1
        columns += [in_words(f"{name}{what}") for what in ("", ", low", ", high")[:parts]]
        for row, each in zip(spread_out, found):
            row += [_number(each[part]) if each else None for part in range(1, parts + 1)]
    return columns, spread_out


def _number(text: str | None) -> float | None:
    return None if text is None else float(text.replace(",", ""))


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
    writer.writerow([_cell(name) for name in columns])
    writer.writerows([_cell(each) for each in row] for row in rows)
    return file.getvalue()


def _cell(value: Value) -> str:
    if value is None:
        return ""
    return escaped(value.replace("\0", "␀")) if isinstance(value, str) else f"{value:.12g}"


def data_url(kind: str, content: str) -> str:
    """kind: "text/csv", "image/svg+xml"."""
    return f"data:{kind};base64,{base64.b64encode(content.encode('utf-8', 'replace')).decode()}"


def file_name(title: str) -> str:
    """Of what is saved: letters and digits of the title."""
    return "-".join(re.findall(r"[a-z0-9]+", title.lower()))[:60] or "table"
