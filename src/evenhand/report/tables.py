"""Tables of results: one record, shown on a terminal and in a report."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from evenhand.words import in_words

if TYPE_CHECKING:
    from rich.console import Console

    from evenhand.figure import FigureRow


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
    style: Literal["plain", "signed", "count", "p", "significant", "general"] = "plain"
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


def cell(row: FigureRow, digits: int = 1, style: Literal["plain", "signed"] = "plain") -> Cell:
    """A row of the figures' table, with its interval."""
    return Cell(row.value, row.low, row.high, digits, style)


def count(n: int | None) -> Cell:
    return Cell(n, style="count", missing="")


@dataclass(frozen=True)
class Table:
    """Rows of cells under column names; the first column names the row. command: what the note ends with, for a shell,
    which is never broken over lines."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    command: str = ""


def figure(value: float | None, interval: list[float | None] | None = None, digits: int = 1) -> str:
    """'48.2 [45.1, 51.3]'; 'no data' where there is no number."""
    if value is None or math.isnan(value):
        return "no data"
    ends = [end for end in interval or [] if end is not None and not math.isnan(end)]
    shown = [_rounded(each, digits) for each in (value, *ends)]
    return shown[0] + (f" [{shown[1]}, {shown[2]}]" if len(ends) == 2 else "")


def significant(value: float) -> str:
    """'50.00', '54.90', '3917': four digits that count, zeros at the end too, so that a column reads as one."""
    return f"{value:#.4g}".removesuffix(".")


def signed(value: float, interval: list[float | None] | None = None, digits: int = 1) -> str:
    """'+1.2 [-0.3, 2.7]': a difference, which has its sign; '0.0' has none."""
    text = figure(value, interval, digits)
    return text if text.startswith(("-", "no")) or not float(text.split()[0]) else f"+{text}"


def n_of(n: int, noun: str, more: str = "") -> str:
    """'1 set of names', '1,200 templates'; more: what follows the noun."""
    return f"{n:,} {noun}{'s' * (n != 1)}{more}"


def clusters_of(of: Mapping[str, Any]) -> str:
    """'60': clusters with a read answer, on which intervals rest; '52 of 60' where some that were asked have none."""
    n, asked = of["n_clusters"], of.get("n_clusters_asked")  # runs of former versions counted those asked alone
    return f"{n:,}" if asked in (None, n) else f"{n:,} of {asked:,}"


def n_with_clusters(of: Mapping[str, Any]) -> str:
    """'180 (60)': prompts asked and `clusters_of` them."""
    return f"{of['n']:,} ({clusters_of(of)})"


def named_clusters(of: Mapping[str, Any], noun: str, more: str = "") -> str:
    """'60 situations', '52 of 60 situations'; more: what follows the noun."""
    last = of.get("n_clusters_asked") or of["n_clusters"]
    return f"{clusters_of(of)} {noun}{'s' * (last != 1)}{more}"


def _rounded(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}"
    return text if float(text) else text.removeprefix("-")  # what rounds to 0 is neither below nor above it


def p_text(p: float | None, digits: int = 4) -> str:
    """'0.0123'; '<0.0001' where rounding would leave nothing."""
    return f"<{10.0**-digits:.{digits}f}" if p is not None and p < 0.5 * 10.0**-digits else figure(p, digits=digits)


def print_table(table: Table, console: Console, spoken: bool = False) -> None:
    """spoken: names of columns and groups are shown in words; else as they are typed."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable
    from rich.text import Text

    from evenhand.terminal import shown  # which needs rich, and a benchmark's import is light

    said = in_words if spoken else str
    note = Text(shown(said(table.note))) or None
    lines = RichTable(title=Text(shown(said(table.title))), box=SIMPLE_HEAD, title_justify="left", caption=note)
    lines.caption_justify = "left"
    for i, column in enumerate(table.columns):
        lines.add_column(Text(shown(said(column))), justify="left" if i == 0 else "right", overflow="fold")
    for row in table.rows:
        lines.add_row(*(Text(shown(said(cell.text)), style="italic" if cell.published else "") for cell in row))
    console.print(lines)
    if table.command:
        console.print(Text(shown(table.command)), soft_wrap=True)
