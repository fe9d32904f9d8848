"""What annotators are asked, as data: questions, labels with their meanings, instructions and their source."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from evenhand.errors import EvenhandError, UsageError
from evenhand.flow.episode import Prompt
from evenhand.row_files.opening import opened

RESERVED = ("id", "entry", "question", "majority", "status", "default", "third")
"""Columns of the files that are written: no question or annotator is named so."""

_QUOTES = "'\"`‘’“”‚„«»"  # Table 8 prints ‘1’ and ‘na’ in quotes, spreadsheets put one before a number kept as text
_MINUS = str.maketrans("\N{MINUS SIGN}\N{EN DASH}", "--")


@dataclass(frozen=True)
class Label:
    """An answer, what it means, and how else it may be spelled; case, quotes and ".0" after a number never matter."""

    name: str
    meaning: str
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class Question:
    """One column of labels."""

    name: str
    text: str


Row = Mapping[str, object]


@dataclass(frozen=True)
class Item:
    """One entry of a packaged dataset: what annotators see of it, and what they don't.

    label: the one that its row has, "" where there is none; picture: a PNG that is shown in place of texts.
    """

    id: str
    shown: Mapping[str, str]
    label: str = ""
    picture: bytes = b""


@dataclass(frozen=True)
class Shown:
    """What a scheme shows of the packaged dataset that it was made for, unless columns are named.

    config: the one that is judged unless another is named. reads: columns of the dataset. items: the entries that a row
    has, of the columns read; their labels go to the key as those of the scheme's first question. pictures: whether
    items have them.
    """

    dataset: str
    config: str
    reads: tuple[str, ...]
    items: Callable[[Row], Iterator[Item]]
    pictures: bool = False


@dataclass(frozen=True)
class Scheme:
    """Questions that all have the same labels.

    na: labels that take an entry out, whoever gives one. sides: the labels for the left and the right one of two texts
    that are shown side by side; None where one text is judged. shown: what to show of the dataset that it is for.
    """

    name: str
    questions: tuple[Question, ...]
    labels: tuple[Label, ...]
    instructions: Prompt
    na: tuple[str, ...] = ()
    sides: tuple[str, str] | None = None
    shown: Shown | None = None

    def __post_init__(self) -> None:
        """Raises UsageError for a scheme that could not be read back."""
        problem = next(_problems(self), None)
        if problem:
            raise UsageError(f"scheme {self.name!r}: {problem}")

    @cached_property
    def _name_of(self) -> dict[str, str]:
        return {plain(spelling): label.name for label in self.labels for spelling in (label.name, *label.also)}

    def read(self, cell: str) -> str | None:
        """The name of the label that an annotator wrote; "" for an empty cell, None for no label of this scheme."""
        spelled = plain(cell)
        return self._name_of.get(spelled) if spelled else ""

    def accepted(self) -> str:
        """ "agentic (1), neutral (0), …", for errors and instructions."""
        return ", ".join(label.name + (f" ({', '.join(label.also)})" if label.also else "") for label in self.labels)


def plain(cell: str) -> str:
    """A label without what tools and people add: quotes, spaces, case, a typographic minus, the decimals of 1.0."""
    spelled = " ".join(cell.strip().strip(_QUOTES).casefold().split())
    try:
        number = float(spelled.translate(_MINUS))
    except ValueError:
        return spelled
    return str(int(number)) if number.is_integer() else spelled


def is_number(cell: str) -> bool:
    return plain(cell).lstrip("-").isdigit()


def _problems(scheme: Scheme) -> Iterator[str]:
    names = [question.name for question in scheme.questions]
    labels = [label.name for label in scheme.labels]
    spellings = [plain(spelling) for label in scheme.labels for spelling in {label.name, *label.also}]
    if not names or len(labels) < 2:
        yield "it needs a question and two labels or more"
    for name in {*names} & {*RESERVED}:
        yield f"a question may not be named {name!r}, as columns of ours are ({', '.join(RESERVED)})"
    for name in [*names, *labels]:
        if not name.strip() or name != name.strip() or (names + labels).count(name) > 1:
            yield f"the name {name!r} is empty, has blanks around it, or stands twice among questions and labels"
    for spelling in spellings:
        if not spelling or spellings.count(spelling) > 1:
            yield f"{spelling!r} spells no label, or more than one"
    for name in (*scheme.na, *(scheme.sides or ())):
        if name not in labels:
            yield f"{name!r} of na or sides is no label; labels: {', '.join(labels)}"
    if scheme.sides and scheme.sides[0] == scheme.sides[1]:
        yield "sides need two labels"


_EXAMPLE = (
    '{"name": "tone", "questions": {"tone": "Is it warm?"}, "labels": {"yes": {"meaning": "it is", "also": ["1"]}, '
    '"no": "it is not", "na": "no sentence"}, "instructions": {"text": "…", "source": "…"}, "na": ["na"]}'
)


def read_scheme(path: Path) -> Scheme:
    """A scheme from JSON: name, questions (name: text), labels (name: meaning, or meaning and also), instructions (text
    and source) and, where there are any, na and sides. Raises UsageError showing an example where it is none.
    """
    try:
        with opened(path, (".json",), "labels") as file:
            record = json.loads(file.read().decode("utf-8-sig"))
    except EvenhandError as error:
        raise UsageError(f"can't read a scheme: {error}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is no JSON: {error}; a scheme is written like {_EXAMPLE}") from error
    try:
        return Scheme(
            name=_text(record["name"]),
            questions=tuple(Question(name, _text(text)) for name, text in record["questions"].items()),
            labels=tuple(_label(name, label) for name, label in record["labels"].items()),
            instructions=Prompt(_text(record["instructions"]["text"]), _text(record["instructions"]["source"])),
            na=_texts(record.get("na", [])),
            sides=_sides(record.get("sides")),
        )
    except (KeyError, TypeError, AttributeError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise UsageError(f"{path} holds no scheme: {what}; write it like {_EXAMPLE}") from error


def _label(name: str, record: object) -> Label:
    if isinstance(record, str):
        return Label(name, record)
    if not isinstance(record, dict):
        raise TypeError(f"label {name!r} is neither a meaning nor an object")
    return Label(name, _text(record["meaning"]), _texts(record.get("also", [])))


def _sides(record: object) -> tuple[str, str] | None:
    if record is None:
        return None
    names = _texts(record)
    if len(names) != 2:
        raise TypeError("sides are not two labels")
    return names[0], names[1]


def _texts(record: object) -> tuple[str, ...]:
    if not isinstance(record, list):
        raise TypeError(f"{record!r} is not a list of texts")
    return tuple(_text(each) for each in record)


def _text(record: object) -> str:
    if not isinstance(record, str):
        raise TypeError(f"{record!r} is not a text")
    return record
