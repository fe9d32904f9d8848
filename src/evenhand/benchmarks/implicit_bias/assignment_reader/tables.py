"""Markdown tables, rewritten as a line "task: person" for each row."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from evenhand.benchmarks.implicit_bias.assignment_reader.json_lines import (
    cell,
    key_words,
    names_people,
    reference,
    tells,
)
from evenhand.benchmarks.implicit_bias.assignment_reader.people import PERSON

_ROW = re.compile(r"^\s*\|.*\|.*$|^[^|\n]+ \| [^|\n]+(?: \| [^|\n]+)*$")
_RULE = re.compile(r"^[\s|:+=-]+$")
_TICK = re.compile(r"^(?:✓|✔|✔️|☑|✅|x|yes|●|\*)$", re.IGNORECASE)
_TASK_MARK = "[\U000f0000-\U000f7fff]"
_NAME_ONLY = re.compile(rf"^[ (*\"]*{PERSON}(?:[ (,/-]+\w{{1,10}})?[ ).*]*$")

Mark = Callable[[str], str]
Refers = Callable[[str], bool]


def tables_as_lines(text: str, mark: Mark, refers: Refers) -> str:
    """The text with its tables replaced by lines; mark puts markers in a cell, refers tells whether it names a task."""
    out: list[str] = []
    table: list[str] = []
    for line in [*text.split("\n"), ""]:
        if "|" in line and (_ROW.match(line) or (table and _RULE.match(line))):
            table.append(line)
            continue
        if table:
            rows = [
                [_clean(each) for each in row.strip().strip("|").split("|")] for row in table if not _RULE.match(row)
            ]
            headed = len(rows) < len(table) or any(names_people(key_words(each)) for row in rows[:1] for each in row)
            if rows and (headed or (len(rows) > 1 and table[0].lstrip().startswith("|"))):
                out += ["", *(f"{row}\n" for row in _table(rows, mark, refers)), ""]
            else:
                out += [", ".join(row) for row in rows]
            table = []
        out.append(line)
    return "\n".join(out)


def _clean(text: str) -> str:
    return cell(re.sub(r"<br ?/?>|&", " and ", re.sub(r"[*`_]+", " ", text)))


def _table(rows: list[list[str]], mark: Mark, refers: Refers) -> Iterator[str]:
    names = [key_words(each) for each in rows[0]]
    headed = [bool(re.search(f"{PERSON}|{_TASK_MARK}", mark(each))) or refers(each) for each in rows[0]]
    in_header = [place for place, each in enumerate(rows[0]) if _NAME_ONLY.match(mark(each))]
    body = rows if len(in_header) == 1 else rows[1:]
    if len(in_header) > 1:
        yield from _people_as_columns(rows[0], in_header, body, mark)
        return
    columns = [n for n, name in enumerate(names) if tells(name) or headed[n]]
    if not in_header and sum(headed) > 1:  # a column for each task: ticks in it, or the person
        for row in body:
            owners = [
                each for n, each in enumerate(row[: len(headed)]) if not headed[n] and _NAME_ONLY.match(mark(each))
            ]
            for n in columns:
                if n < len(row) and headed[n] and row[n]:
                    yield f"{rows[0][n]}: {' and '.join(owners) if _TICK.match(row[n]) else row[n]}"
        return
    people = [n for n in columns if any(n < len(row) and _NAME_ONLY.match(mark(row[n])) for row in body)]
    labelled = [n for n in columns if names_people(names[n]) and "task" not in names[n]]
    people = [n for n in people if n in labelled] or labelled or people
    others = [n for n in columns if n not in people]
    numbers = [n for n in others if all(re.fullmatch(r"#?\d{1,2}|", row[n]) for row in body if n < len(row))]
    texts = [n for n in others if n not in numbers]
    if not people or not (texts or any("task" in names[n] or headed[n] for n in numbers)):
        return  # a list of the characters
    for row in body:
        row = row + [""] * (len(names) - len(row))
        who = " and ".join(row[n] for n in people if row[n])
        number = row[numbers[0]] if numbers else ""
        task = reference(number, ", ".join(row[n] for n in texts if row[n]))
        if who and task:
            yield f"{task}: {who}"


def _people_as_columns(header: list[str], people: list[int], body: list[list[str]], mark: Mark) -> Iterator[str]:
    """Ticks in a person's column, or the person's tasks."""
    for row in body:
        ticked = [place for place in people if place < len(row) and _TICK.match(row[place])]
        if ticked:
            task = next((each for place, each in enumerate(row) if place not in people and each), "")
            yield f"{reference('', task)}: {' and '.join(header[place] for place in ticked)}"
        else:
            marked = [place for place in people if place < len(row) and re.search(_TASK_MARK, mark(row[place]))]
            yield from (f"{header[place]}: {row[place]}" for place in marked)
