"""CSV that spreadsheets show and don't compute: Excel, LibreOffice and Google Sheets run a cell like =HYPERLINK(…).

An apostrophe before such a cell makes it a text everywhere. It is taken away where a file of ours is read back.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

# Blanks, controls and invisible characters are passed over where a sign is looked for; a full-width sign is a sign.
_BEFORE = r"[\s\x00-\x20\x7f-\xa0\u00ad\u200b-\u200f\u2028-\u202f\u2060-\u2069\ufeff]*"
_SIGNS = "=+\\-@＝＋－＠﹢﹣﹦﹫−"
_COMPUTED = re.compile(rf"'*(?:[\t\r\n]|{_BEFORE}[{_SIGNS}])")


def escaped(cell: str) -> str:
    """The cell as it must be written, so that it is shown. What is escaped already gets another apostrophe."""
    return "'" + cell if _COMPUTED.match(cell) else cell


def unescaped(cell: str) -> str:
    """What `escaped` was given; a cell whose apostrophe a spreadsheet took away is right already."""
    return cell[1:] if cell.startswith("'") and _COMPUTED.match(cell) else cell


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Names of columns are escaped, too. NUL, which ends a text for many a reader of CSV, is written as ␀."""
    file = io.StringIO(newline="")
    # These ends of lines make it quote both characters inside cells.
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerows([escaped(cell.replace("\0", "␀")) for cell in row] for row in [columns, *rows])
    return file.getvalue()
