"""Tables of results: one record that a terminal, a page, a CSV file and a data frame show."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from evenhand.words import in_words

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from evenhand.figure import FigureRow

Style = Literal["plain", "signed", "count", "p", "significant", "general"]


@dataclass(frozen=True)
class Cell:
    """A number with its interval, or a text. Numbers stay numbers until a page, a terminal or a CSV shows them.

    Attributes:
        value: a text, or a number: NaN and None are "no data".
        low, high: the ends of its interval, where it has one.
        digits: of the number, after the point; of a p-value, the smallest that is shown.
        style: how it is shown: "48.2", "+1.2" (signed), "1,200" (count), "<0.0001" (p), "50.00" (four significant
            digits), "50" (general: without zeros at the end).
        published: taken from a paper, not measured here; low and high without a value are a range that it prints.
        missing: what is shown in place of a number that isn't there.
    """

    value: float | int | str | None
    low: float | None = None
    high: float | None = None
    digits: int = 1
    style: Style = "plain"
    published: bool = False
    missing: str = "no data"

    @property
    def text(self) -> str:
        """As a page or a terminal shows it."""
        value = self.value
        if isinstance(value, str):
            return value
        if value is None or math.isnan(value):
            known = self.published and self.low is not None and self.high is not None
            return f"{self.low:.{self.digits}f} to {self.high:.{self.digits}f}" if known else self.missing
        if self.style == "count":
            return f"{value:,.0f}"
        if self.style == "p":
            return p_text(value, self.digits)
        if self.style == "significant":
            return significant(value)
        if self.style == "general":
            return f"{value:.4g}"
        return (signed if self.style == "signed" else figure)(value, [self.low, self.high], self.digits)


def cell(row: FigureRow, digits: int = 1, style: Style = "plain") -> Cell:
    """Show a row of the figures' table, with its interval."""
    return Cell(row.value, row.low, row.high, digits, style)


def count(n: int | None) -> Cell:
    """Show a whole number; None is blank."""
    return Cell(n, style="count", missing="")


@dataclass(frozen=True)
class Table:
    """Rows of cells under column names; the first column names the row.

    Attributes:
        command: what the note ends with, for a shell, which is never broken over lines.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    command: str = ""

    def to_frame(self, dtype: type | None = None) -> pd.DataFrame:
        """Return exact numbers; those with an interval fill three columns. None: no data."""
        import pandas as pd

        names: list[str] = []
        columns: list[list[float | str | None]] = []
        for place, name in enumerate(map(in_words, self.columns)):
            cells = [row[place] for row in self.rows]
            numeric = any(not isinstance(each.value, str) for each in cells)
            names.append(name)
            columns.append([_value(each.value, numeric) for each in cells])
            if any(each.low is not None or each.high is not None for each in cells):
                names += [f"{name}, low", f"{name}, high"]
                columns += [[_value(each.low) for each in cells], [_value(each.high) for each in cells]]
        return pd.DataFrame(list(zip(*columns)), columns=names, dtype=dtype)

    def to_csv(self) -> str:
        """Return the frame as CSV; text that a spreadsheet would compute is escaped, numbers are not."""

        def safe(value: object) -> object:
            return escaped(value.replace("\0", "␀")) if isinstance(value, str) else value

        frame = self.to_frame(object)
        return str(frame.map(safe).rename(columns=safe).to_csv(index=False, lineterminator="\r\n"))


# Excel, LibreOffice and Google Sheets compute a cell such as =HYPERLINK(…); an apostrophe before it makes it a text.
# Before a sign they skip blanks, controls and invisible characters; a full-width sign is a sign.
_BEFORE = r"[\s\x00-\x20\x7f-\xa0\u00ad\u200b-\u200f\u2028-\u202f\u2060-\u2069\ufeff]*"
_SIGNS = "=+\\-@＝＋－＠﹢﹣﹦﹫−"
_COMPUTED = re.compile(rf"'*(?:[\t\r\n]|{_BEFORE}[{_SIGNS}])")


def escaped(cell: str) -> str:
    """Escape a cell of CSV that a spreadsheet would compute; one that is escaped gets another apostrophe."""
    return "'" + cell if _COMPUTED.match(cell) else cell


def unescaped(cell: str) -> str:
    """Undo `escaped`; a cell whose apostrophe a spreadsheet took away is right already."""
    return cell[1:] if cell.startswith("'") and _COMPUTED.match(cell) else cell


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write CSV of texts, names of columns escaped, too. NUL, which ends a text for many readers, becomes ␀."""
    file = io.StringIO(newline="")
    # These ends of lines make it quote both characters inside cells.
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerows([escaped(cell.replace("\0", "␀")) for cell in row] for row in [columns, *rows])
    return file.getvalue()


def _value(value: float | str | None, numeric: bool = True) -> float | str | None:
    """Return a value of a frame: None for no number, and for a blank text in a column of numbers."""
    if isinstance(value, str):
        return in_words(value) if value.strip() or not numeric else None
    return None if value is None or math.isnan(value) else value


def figure(value: float | None, interval: list[float | None] | None = None, digits: int = 1) -> str:
    """Write '48.2 [45.1, 51.3]'; 'no data' where there is no number."""
    if value is None or math.isnan(value):
        return "no data"
    ends = [end for end in interval or [] if end is not None and not math.isnan(end)]
    shown = [_rounded(each, digits) for each in (value, *ends)]
    return shown[0] + (f" [{shown[1]}, {shown[2]}]" if len(ends) == 2 else "")


def significant(value: float) -> str:
    """Write four significant digits, zeros at the end too: '50.00', '54.90', '3917'."""
    return f"{value:#.4g}".removesuffix(".")


def signed(value: float, interval: list[float | None] | None = None, digits: int = 1) -> str:
    """Write a difference with its sign: '+1.2 [-0.3, 2.7]'; '0.0' has none."""
    text = figure(value, interval, digits)
    return text if text.startswith(("-", "no")) or not float(text.split()[0]) else f"+{text}"


def n_of(n: int, noun: str, more: str = "") -> str:
    """Write '1 set of names', '1,200 templates'; more: what follows the noun."""
    return f"{n:,} {noun}{'s' * (n != 1)}{more}"


def _rounded(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}"
    return text if float(text) else text.removeprefix("-")  # a number that rounds to 0 has no sign


def p_text(p: float | None, digits: int = 4) -> str:
    """Write '0.0123'; '<0.0001' where rounding would leave nothing."""
    return f"<{10.0**-digits:.{digits}f}" if p is not None and p < 0.5 * 10.0**-digits else figure(p, digits=digits)


def print_table(table: Table, console: Console, spoken: bool = False) -> None:
    """Print a table on a terminal.

    Args:
        spoken: show names of columns and groups in words ("body type"), not as they are typed (`body_type`).
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable
    from rich.text import Text

    from evenhand.terminal import shown  # imports rich, which the import of a benchmark does not need

    def text(of: str, style: str = "") -> Text:
        return Text(shown(in_words(of) if spoken else of), style=style)

    lines = RichTable(title=text(table.title), box=SIMPLE_HEAD, title_justify="left", caption=text(table.note) or None)
    lines.caption_justify = "left"
    for place, column in enumerate(table.columns):
        lines.add_column(text(column), justify="left" if place == 0 else "right", overflow="fold")
    for row in table.rows:
        lines.add_row(*(text(each.text, "italic" if each.published else "") for each in row))
    console.print(lines)
    if table.command:
        console.print(Text(shown(table.command)), soft_wrap=True)
