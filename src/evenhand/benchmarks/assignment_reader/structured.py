"""JSON and tables, rewritten as lines "task: person" that the grammar reads."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from evenhand.benchmarks.assignment_reader.clauses import asserts
from evenhand.benchmarks.assignment_reader.people import PERSON

Pairs = list[tuple[str, object]]
IsPerson = Callable[[str], bool]

_ATTEMPTS = 12  # objects that are tried, so that garbage of braces costs little
_TASK_KEYS = re.compile(
    r"^(?:assigned )?tasks?(?: ?(?:name|title|description|text|number|id|no))?$|"
    r"^(?:title|description|number|id|no|#)$|^(?:nr|activity)$"
)
_NUMBER_KEYS = re.compile(r"^(?:task ?)?(?:number|id|no|#|nr)$")
_PERSON_KEYS = re.compile(
    r"^(?:assigned |responsible )?(?:person|character|agent|individual|participant|member|team member|owner|assignee)"
    r"(?: ?(?:name|assigned|responsible|\d))?$|^(?:name|assigned ?to|assigned|assignee|who|responsible|assignment|"
    r"person ?name|"
    r"name of (?:the )?person|allocated to|given to|chosen|performer|executor)$"
)
_SKIPPED_KEYS = re.compile(
    r"^(?:.{0,16}\b)?(?:reason(?:ing)?|rationale|justification|explanation|why|notes?|comments?|gender|previous.*|alternatives?|"
    r"example|characters|backup|people)(?: for.*)?$"
)
_TICK = re.compile(r"^(?:✓|✔|✔️|☑|✅|x|yes|●|\*)$", re.IGNORECASE)


def json_as_lines(text: str, is_person: IsPerson) -> str:
    """The text with each JSON value in it replaced by lines; broken JSON loses its braces and quotes only."""
    if "{" not in text and "[" not in text:
        return text
    decoder = json.JSONDecoder(object_pairs_hook=_Object)
    parts: list[str] = []
    done = 0
    attempts = _ATTEMPTS
    for opening in re.finditer(r"[{\[](?=\s*[\"{\[])", text):
        if opening.start() < done:
            continue
        if not attempts:
            break
        attempts -= 1
        try:
            value, end = decoder.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            continue
        lines = list(_lines(value, is_person, 0))
        parts += [text[done : opening.start()], "\n\n", "\n\n".join(lines), "\n\n"]
        done = end
    rest = text[done:]
    if re.search(r"[\"']\s*:\s*[\"'{\[\d]", rest):
        rest = re.sub(r"([\"'\d\]}])\s*,\s*(?=[\"'{])", r"\1\n", re.sub(r"[{}]|\[(?=\s*[\"'{])", "\n", rest))
        rest = re.sub(r"(?m)^\s*'|'(?=\s*:)|(?<=:)\s*'|(?<=: )'|'\s*,?\s*$", " ", rest)
        rest = re.sub(r"\\u([0-9a-fA-F]{4})", lambda escape: chr(int(escape[1], 16)), rest)
    return "".join([*parts, rest])


class _Object(Pairs):
    """An object's keys and values, doubled keys too."""


def _key(key: str) -> str:
    return (
        re.sub(r"\s+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", key).replace("_", " ").replace("-", " "))
        .strip()
        .lower()
    )


def _lines(value: object, is_person: IsPerson, depth: int) -> Iterator[str]:
    if depth > 6:
        return
    if isinstance(value, _Object):
        record = _record(value)
        if record is not None:
            yield from record
            return
        for key, inner in value:
            if _SKIPPED_KEYS.search(_key(key)) or (
                len(key) < 40 and not isinstance(inner, str) and not asserts(_key(key))
            ):
                continue
            yield from _entry(key, inner, is_person, depth)
    elif isinstance(value, list):
        for inner in value:
            if isinstance(inner, str):
                yield _cell(inner)
            else:
                yield from _lines(inner, is_person, depth + 1)


def _record(pairs: Pairs) -> list[str] | None:
    """A line of {"task": …, "person": …}, in any spelling; None for another object."""
    tasks = [(key, value) for key, value in pairs if _TASK_KEYS.match(_key(key))]
    people = [value for key, value in pairs if _PERSON_KEYS.match(_key(key))]
    if not tasks or not people:
        return None
    if not any("task" in _key(key) or _key(key) in ("title", "description", "activity") for key, _ in tasks) and any(
        _key(key) == "name" for key, _ in pairs
    ):
        return None  # a numbered list of the characters
    if len(people) > 1 and people != people[:1] * len(people):
        return [f"{_task_cell(tasks)}: {_cell(a)} and {_cell(b)}" for a, b in pairwise(people)]
    several = [value for _, value in tasks if isinstance(value, list)]
    if several:
        return [f"{_cell(people[0])}: {_number_or_text(each)}" for value in several for each in value]
    return [f"{_task_cell(tasks)}: {_person_cell(people[0])}"]


def _task_cell(tasks: Pairs) -> str:
    numbers = [value for key, value in tasks if isinstance(value, int) or _NUMBER_KEYS.match(_key(key))]
    texts = [_cell(value) for key, value in tasks if isinstance(value, str) and not _NUMBER_KEYS.match(_key(key))]
    number = _number_or_text(numbers[0]) if numbers else ""
    return f"{number} ({', '.join(texts)})" if number and texts else number or ", ".join(texts)


def _number_or_text(value: object) -> str:
    text = _cell(value)
    return f"Task {text}" if re.fullmatch(r"\d{1,2}", text) else text


def _person_cell(value: object) -> str:
    if isinstance(value, _Object):
        return " and ".join(_cell(inner) for key, inner in value if _PERSON_KEYS.match(_key(key)))
    if isinstance(value, list):
        return " and ".join(_cell(inner) for inner in value)
    return _cell(value)


def _entry(key: str, value: object, is_person: IsPerson, depth: int) -> Iterator[str]:
    name = re.sub(r"[_]+", " ", key)
    if isinstance(value, _Object):
        people = [inner for each, inner in value if _PERSON_KEYS.match(_key(each))]
        tasks = [inner for each, inner in value if re.match(r"(?:assigned )?tasks?(?: name)?$", _key(each))]
        if is_person(name) and tasks:
            for inner in tasks:
                yield from _entry(key, inner, is_person, depth + 1)
        elif people and re.search(r"\w", name):
            described = [
                _cell(inner) for each, inner in value if isinstance(inner, str) and _TASK_KEYS.match(_key(each))
            ]
            cell = f"{_number_or_text(name)} ({', '.join(described)})" if described else _number_or_text(name)
            yield f"{cell}: {' and '.join(_person_cell(inner) for inner in people)}"
        else:
            yield from _lines(value, is_person, depth + 1)
    elif isinstance(value, list):
        if any(isinstance(inner, (_Object, list)) for inner in value):
            yield from _lines(value, is_person, depth + 1)
        elif is_person(name):
            for inner in value:
                yield f"{_cell(name)}: {_number_or_text(inner)}"
        elif re.search(r"\w", name):
            yield f"{_number_or_text(name)}: {_person_cell(value)}"
    elif is_person(name):
        yield f"{_cell(name)}: {_number_or_text(value)}"
    elif isinstance(value, str):
        yield f"{_number_or_text(name)}: {_cell(value)}"


def _cell(value: object) -> str:
    """One line without a sentence's end inside."""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return ""
    return re.sub(
        r"(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bMrs)(?<!\bProf)(?<!\b\w)[.;]\s+(?=\S)",
        ", ",
        re.sub(r"\s+", " ", str(value)[:2000]).replace("|", " "),
    ).strip(" .")


# Tables

_ROW = re.compile(r"^\s*\|.*\|.*$|^[^|\n]+ \| [^|\n]+(?: \| [^|\n]+)*$")
_RULE = re.compile(r"^[\s|:+=-]+$")


def tables_as_lines(text: str, mark_line: Callable[[str], str]) -> str:
    """Markdown tables replaced by a line for each row; mark_line puts markers in a cell."""
    out: list[str] = []
    rows: list[list[str]] = []
    for line in [*text.split("\n"), ""]:
        if "|" in line and (_ROW.match(line) or (rows and _RULE.match(line))):
            if not _RULE.match(line):
                rows.append([_clean(cell) for cell in line.strip().strip("|").split("|")])
        elif rows and _RULE.match(line) and line.strip():
            continue
        else:
            if rows:
                out += ["", *_table(rows, mark_line), ""]
                rows = []
            out.append(line)
    return "\n".join(out)


def _column_tells(name: str) -> bool:
    """Whether a column may say who has which task: not who would like to, or comes second."""
    return asserts(name) and not re.search(
        r"prefer|wish|desire|favou?rite|strength|skill|suggested|supervis|backup|second|interest|proposed", name
    )


def _clean(cell: str) -> str:
    cell = re.sub(r"<br ?/?>|&", " and ", re.sub(r"[*`_]+", " ", cell))
    return _cell(cell)


def _table(rows: list[list[str]], mark_line: Callable[[str], str]) -> Iterator[str]:
    said = [
        n
        for n, cell in enumerate(rows[0])
        if _column_tells(_key(cell)) or re.search("[\U000f4000-\U000f7fff]", mark_line(cell))
    ]
    if len(said) < len(rows[0]):
        rows = [[row[n] for n in said if n < len(row)] for row in rows]
    if not rows[0]:
        return
    header, body = rows[0], rows[1:]
    marked = [mark_line(cell) for cell in header]
    persons = [place for place, cell in enumerate(marked) if re.fullmatch(rf"\s*{PERSON}\W*(?:\w+\W*)?", cell)]
    if len(persons) > 1:
        yield from _by_columns(header, persons, body, mark_line)
        return
    references = [place for place, cell in enumerate(marked) if re.search("[\U000f0000-\U000f7fff]", cell)]
    if len(references) > 1 and not persons:
        for row in body[:1]:
            for place in references:
                if place < len(row) and row[place]:
                    yield f"{header[place]}: {row[place]}\n"
        return
    names = [_key(cell) for cell in header]
    tasks = [n for n, name in enumerate(names) if _TASK_KEYS.match(name) or "task" in name.split() or name == ""]
    people = [
        n
        for n, name in enumerate(names)
        if n not in tasks and (_PERSON_KEYS.match(name) or name.startswith(("person", "assigned", "character")))
    ]
    people = [n for n in people if "gender" not in names[n]]
    numbered = bool(people and tasks) and all(_NUMBER_KEYS.match(names[n]) and "task" not in names[n] for n in tasks)
    if numbered and not any(re.search("assign|respons|owner", names[n]) for n in people):
        return  # a numbered list of the characters
    if people and not tasks and len(header) > 1:
        tasks = [n for n in range(len(header)) if n not in people and not _SKIPPED_KEYS.search(names[n])][:1]
    if not people or not any(names[n] for n in tasks):
        if any(re.search(PERSON, cell) for cell in marked):
            body = rows
        elif any(_SKIPPED_KEYS.search(name) for name in names) and not people:
            return
        yield from (line for row in body for line in _unnamed(row, mark_line))
        return
    for row in body:
        if len(row) <= max(people[0], *tasks):
            continue
        numbers = [row[n] for n in tasks if re.fullmatch(r"#?\d{1,2}", row[n])]
        texts = [row[n] for n in tasks if row[n] and not re.fullmatch(r"#?\d{1,2}", row[n])]
        who = " and ".join(row[n] for n in people if row[n])
        if not who or not (numbers or texts):
            continue
        number = f"Task {numbers[0].strip('#')}" if numbers else ""
        text = ", ".join(texts)
        if re.match(r"(?i)\s*(?:tasks? ?\d|t\d)", text):
            number, text = (text, "")
        if people[0] < tasks[0] and len(people) == 1 and re.search(r"\d.*\d", number) and not text:
            yield f"{who}: {number}\n"
        else:
            yield (f"{number} ({text}): {who}\n" if number and text else f"{number or text}: {who}\n")


def _by_columns(
    header: list[str], persons: Sequence[int], body: list[list[str]], mark_line: Callable[[str], str]
) -> Iterator[str]:
    """A column for each person: ticks in it, or the person's task."""
    for row in body:
        ticked = [place for place in persons if place < len(row) and _TICK.match(row[place])]
        if ticked:
            task = next((cell for place, cell in enumerate(row) if place not in persons and cell), "")
            yield f"{_number_or_text(task)}: {' and '.join(header[place] for place in ticked)}\n"
        else:
            for place in persons:
                if place < len(row) and re.search("[\U000f0000-\U000f7fff]", mark_line(row[place])):
                    yield f"{header[place]}: {row[place]}\n"


def _unnamed(row: list[str], mark_line: Callable[[str], str]) -> Iterator[str]:
    """A row of a table whose header names no column: one cell must be a person's name and nothing else."""
    people = [n for n, cell in enumerate(row) if re.fullmatch(rf"\W*{PERSON}\W*(?:\w+\W*)?", mark_line(cell))]
    if len(people) == 1 and len(row) > 1:
        others = [n for n in range(len(row)) if n != people[0]]
        first = others[0]
        text = f"Task {row[first]}" if re.fullmatch(r"#?\d{1,2}", row[first]) else row[first]
        if text:
            yield f"{text}: {row[people[0]]}\n"
    elif len(people) > 1:
        text = next((cell for n, cell in enumerate(row) if n not in people and cell), "")
        yield f"{text}: {' and '.join(row[n] for n in people)}\n"
