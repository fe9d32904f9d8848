"""Write the tables of RESULTS.md from the records in results/, so that no figure is typed.

A table stands between `<!-- results/NAME.json | TITLE | COLUMN; COLUMN … -->` and `<!-- end -->`: some columns of the
table with that title, or all of them where none is named; a third part names rows by their first cell.
"""

import argparse
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from evenhand.command_line import ScriptHelp
from evenhand.report.markdown import markdown
from evenhand.report.tables import Cell, Table
from evenhand.whole_files import write_whole

PAGE = Path(__file__).parents[1] / "RESULTS.md"
_PART = re.compile(r"(<!-- (results/[\w.-]+\.json) \| ([^|\n]+?)((?: \| [^|\n]+?)*) -->\n).*?(<!-- end -->)", re.DOTALL)


def save_tables(path: Path, command: str, about: str, tables: Sequence[Table]) -> None:
    """Write what a script measured: its command, the conditions, and every table with its exact numbers."""
    path.parent.mkdir(parents=True, exist_ok=True)
    head = {"command": command, "about": about}
    write_whole(path, _dump(head)[:-1] + ', "tables": {\n' + ",\n".join(map(_table_text, tables)) + "\n}}\n")


def load_tables(path: Path) -> list[Table]:
    """Read the tables of a record."""

    def load(title: str, columns: list[str], rows: list[list[Any]], note: str) -> Table:
        cells = (tuple(Cell(**each) if isinstance(each, dict) else Cell(each) for each in row) for row in rows)
        return Table(title, tuple(columns), tuple(cells), note)

    return [load(title, **found) for title, found in json.loads(path.read_text("utf-8"))["tables"].items()]


def select(table: Table, columns: Sequence[str] = (), rows: Sequence[str] = ()) -> Table:
    """Keep some columns, in this order, and the rows whose first cell is named. Raises ValueError for unknown ones."""
    firsts = [row[0].text for row in table.rows]
    for wanted, there in ((columns, table.columns), (rows, firsts)):
        if unknown := [name for name in wanted if name not in there]:
            raise ValueError(f"table {table.title!r} has no {unknown}, only {there}")
    places = [table.columns.index(name) for name in columns or table.columns]
    kept = [row for row, first in zip(table.rows, firsts) if not rows or first in rows]
    return Table("", tuple(table.columns[i] for i in places), tuple(tuple(row[i] for i in places) for row in kept))


def fill_page(text: str, folder: Path) -> str:
    """Write each table of a page anew; folder: that holds results/."""

    def filled(part: re.Match[str]) -> str:
        begin, file, title, chosen, end = part.groups()
        columns, rows = ([*names.split("; ")] if names else [] for names in (*chosen.split(" | ")[1:], "", "")[:2])
        [table] = [each for each in load_tables(folder / file) if each.title == title]
        return f"{begin}{markdown(select(table, columns, rows))}\n{end}"

    return _PART.sub(filled, text)


def _table_text(table: Table) -> str:
    """A table as JSON, one line a row."""
    rows = ",\n".join("   " + _dump([_cell_record(cell) for cell in row]) for row in table.rows)
    head = _dump({"columns": table.columns, "note": table.note})[:-1]
    return f' {_dump(table.title)}: {head}, "rows": [\n{rows}\n ]}}'


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _cell_record(cell: Cell) -> object:
    """A text as itself, a number as its fields that differ from a cell's defaults."""
    blank = asdict(replace(cell, value=None)) == asdict(Cell(None)) and isinstance(cell.value, str)
    if blank:
        return cell.value
    defaults = asdict(Cell(None))
    return {name: value for name, value in asdict(cell).items() if name == "value" or value != defaults[name]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp)
    parser.add_argument("--page", type=Path, default=PAGE, help="page to write")
    page = parser.parse_args().page
    write_whole(page, fill_page(page.read_text("utf-8"), page.parent))


if __name__ == "__main__":
    main()
