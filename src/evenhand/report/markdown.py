"""Tables in Markdown, and parts of a page that a command writes anew between two marks."""

from __future__ import annotations

import re
from pathlib import Path

from evenhand.errors import UsageError
from evenhand.report.tables import Table
from evenhand.whole_files import write_whole


def markdown(table: Table) -> str:
    """Its title, its rows and its note."""
    rows = [
        tuple(map(plain, table.columns)),
        tuple("---" for _ in table.columns),
        *(tuple(plain(cell.text) for cell in row) for row in table.rows),
    ]
    lines = ("| " + " | ".join(text.strip().replace("|", "\\|") for text in row) + " |" for row in rows)
    return "\n\n".join(filter(None, (table.title and f"**{plain(table.title)}**", "\n".join(lines), table.note)))


def plain(text: str) -> str:
    """Write untrusted text in one line without HTML, headings, tables, links or pictures; emphasis may stay."""
    line = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    line = line.replace("<", "&lt;").replace(">", "&gt;").replace("](", "] (").replace("][", "] [")
    return f"\\{line}" if line.startswith(("#", "|", "~~~", "```", "===", "---")) else line


def write_part(page: Path, name: str, text: str) -> None:
    """Replace the part of that name in the page, or add it at the end; the rest of the page stays as it is.

    Raises UsageError where only one of its marks stands there, or one twice: nothing is written then.
    """
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    part = f"{begin}\n{text.strip()}\n{end}"
    before = page.read_text(encoding="utf-8") if page.is_file() else ""
    counts = before.count(begin), before.count(end)
    if counts == (0, 0):
        write_whole(page, f"{before.rstrip()}\n\n{part}\n".lstrip())
        return
    whole = re.compile(re.escape(begin) + r".*?" + re.escape(end), re.DOTALL)
    if counts != (1, 1) or not whole.search(before):
        raise UsageError(f"{page} has not one {begin} with one {end} behind it; put them there, or take both out")
    write_whole(page, whole.sub(lambda _: part, before))
