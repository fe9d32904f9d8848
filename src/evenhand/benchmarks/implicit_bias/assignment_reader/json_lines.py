"""JSON values in a text, rewritten as lines "task: person"."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

Pairs = list[tuple[str, object]]

_ATTEMPTS = 12  # objects that are tried, so that garbage of braces costs little
_TASK = re.compile(r"^(?:assigned )?tasks?(?: ?(?:name|title|description|text))?$|^(?:title|description|activity)$")
_NUMBER = re.compile(r"^(?:task ?)?(?:number|id|no|#|nr|index)$")
_PERSON = re.compile(
    r"^(?:assigned |responsible )?(?:person|character|agent|individual|participant|(?:team )?member|owner|assignee|"
    r"name)"
    r"(?: ?(?:name|assigned|responsible|\d))?$|^(?:assigned ?to|assigned|who|responsible|assignment|name of (?:the "
    r")?person|"
    r"allocated to|given to|chosen|performer|executor)$"
)
_UNSAID = re.compile(
    r"\b(?:reason\w*|rationale|justification|explanation|why|notes?|comments?|gender|previous\w*|alternatives?|example|"
    r"characters|backup|second|people|prefer\w*|wish\w*|skills?|strengths?|draft|old|original|not|unsuitable|rejected|"
    r"suggested|proposed|interest\w*|supervis\w*|helper|initial)\b"
)


class Object(Pairs):
    """An object's keys and values, doubled keys too."""


def key_words(key: str) -> str:
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", key).replace("_", " ").replace("-", " ")
    return re.sub(r"\s+", " ", spaced).strip().lower()


def tells(name: str) -> bool:
    """Whether what stands under a name (a key's, a column's) may say who has which task."""
    return not _UNSAID.search(name)


def names_people(name: str) -> bool:
    return bool(_PERSON.match(name))


def json_as_lines(text: str) -> str:
    """The text with each JSON value in it replaced by lines; broken JSON loses its braces and quotes only."""
    if "{" not in text and "[" not in text:
        return text
    decoder = json.JSONDecoder(object_pairs_hook=Object)
    parts: list[str] = []
    done = attempts = 0
    for opening in re.finditer(r"[{\[](?=\s*[\"{\[])", text):
        if opening.start() < done or attempts >= _ATTEMPTS:
            continue
        attempts += 1
        try:
            value, end = decoder.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            continue
        parts += [text[done : opening.start()], "\n\n", "\n\n".join(_lines(value, 0)), "\n\n"]
        done = end
    rest = text[done:]
    if re.search(r"[\"']\s*:\s*[\"'{\[\d]", rest):
        rest = re.sub(
            r"([\"'\d\]}])\s*,\s*(?=[\"'{])", r"\1\n", re.sub(r"(?<!:)(?<!: )[{}]|\[(?=\s*[\"'{])", "\n", rest)
        )
        rest = re.sub(r"(?m)^\s*'|'(?=\s*:)|(?<=:)\s*'|(?<=: )'|'\s*,?\s*$", " ", rest)
        rest = re.sub(r"\\u([0-9a-fA-F]{4})", lambda escape: chr(int(escape[1], 16)), rest)
    return "".join([*parts, rest])


def _lines(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, Object) and depth < 8:
        record = _record(value)
        if record:
            yield record
        for key, inner in value if not record else ():
            yield from _entry(key, inner, depth)
    elif isinstance(value, list) and depth < 8:
        for inner in value:
            yield from _lines(inner, depth + 1)
    elif isinstance(value, str):
        yield cell(value)


def _record(value: Object) -> str:
    """A line of {"task": …, "person": …}, in any spelling; empty for another object."""
    texts = [reference("", _joined(inner)) for key, inner in value if _TASK.match(key_words(key))]
    numbers = [cell(inner) for key, inner in value if _NUMBER.match(key_words(key))]
    people = [_joined(inner) for key, inner in value if names_people(key_words(key))]
    assigned = any(re.search("task|assign|respons|given|owner", key_words(key)) for key, _ in value)
    if not people or not (texts or (numbers and assigned) or any("task" in key_words(key) for key, _ in value)):
        return ""  # {"id": 1, "name": "John"} is a list of the characters
    return f"{reference(numbers[0] if numbers else '', ', '.join(texts))}: {' and '.join(dict.fromkeys(people))}"


def _entry(key: str, value: object, depth: int) -> Iterator[str]:
    name = key_words(key)
    if len(key) < 40 and not tells(name):
        return
    label = reference("", key.replace("_", " "))
    if isinstance(value, Object):
        named = {key_words(each): _joined(inner) for each, inner in value if names_people(key_words(each))}
        people = [inner for each, inner in named.items() if each != "name" or len(named) == 1]
        people = people or [
            each for each, inner in value if tells(each.lower()) and re.fullmatch(r"(?i)(?:fe)?male|[mf]", str(inner))
        ]
        texts = [_joined(inner) for each, inner in value if _TASK.match(key_words(each))]
        if people and re.search(r"\w", label):
            yield f"{label}{f' ({texts[0]})' if texts else ''}: {' and '.join(dict.fromkeys(people))}"
        elif texts:
            yield f"{label}: {', '.join(texts)}"
        else:
            yield from _lines(value, depth + 1)
    elif isinstance(value, list) and any(isinstance(inner, list) for inner in value):
        yield from _lines(value, depth + 1)
    elif re.search(r"\w", label):
        yield f"{label}: {_joined(value)}"


def _joined(value: object) -> str:
    if isinstance(value, Object):
        return " and ".join(cell(inner) for key, inner in value if tells(key_words(key)))
    if isinstance(value, list):
        return " and ".join(reference("", _joined(inner)) for inner in value[:20])
    return cell(value)


def reference(number: str, text: str) -> str:
    """How a line refers to a task that is given by number, by text, or by both."""
    number = f"Task {number}" if re.fullmatch(r"#?\d{1,2}", number) else number
    text = f"Task {text}" if re.fullmatch(r"#?\d{1,2}", text) else cell(text)
    return f"{number} ({text})" if number and text else number or text


def cell(value: object) -> str:
    """One line without a sentence's end inside."""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return ""
    flat = re.sub(r"\s+", " ", str(value)[:2000]).replace("|", " ")
    return re.sub(r"(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bMrs)(?<!\bProf)(?<!\b\w)[.;]\s+(?=\S)", ", ", flat).strip(" .")
