"""Annotation schemes: questions, the labels that answer them, and the instructions that annotators read.

Each scheme is a JSON file. Those of the papers and of evenhand's own datasets are in `schemes/`: LABE's labels of
language agency, Raj et al.'s comparison of two responses, Borah & Mihalcea's judgement of implicit bias.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from evenhand.errors import EvenhandError, UsageError, unknown_name
from evenhand.flow.episode import Prompt
from evenhand.row_files.opening import opened
from evenhand.tools.annotation.dataset_items import SHOWN, Shown

RESERVED = ("id", "entry", "question", "majority", "status", "default", "third")
"""Columns of the files that are written: no question or annotator may have such a name."""

_QUOTES = "'\"`‘’“”‚„«»"  # Table 8 prints ‘1’ and ‘na’ in quotes; spreadsheets put ' before a number kept as text
_MINUS = str.maketrans("\N{MINUS SIGN}\N{EN DASH}", "--")
_HERE = Path(__file__).parent
_VALIDATOR = Draft202012Validator(json.loads((_HERE / "scheme.schema.json").read_text(encoding="utf-8")))


@dataclass(frozen=True)
class Label:
    """An answer, its meaning, and other spellings. Case, quotes and ".0" after a number never matter."""

    name: str
    meaning: str
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class Question:
    """One column of labels."""

    name: str
    text: str


@dataclass(frozen=True)
class Scheme:
    """Questions that share one set of labels.

    Attributes:
        na: labels that exclude an entry, whoever gives one.
        sides: the labels for the left and the right one of two texts to compare; None where one text is judged.
        shown: what annotators see of the packaged dataset that the scheme is for.
    """

    name: str
    questions: tuple[Question, ...]
    labels: tuple[Label, ...]
    instructions: Prompt
    na: tuple[str, ...] = ()
    sides: tuple[str, str] | None = None
    shown: Shown | None = None

    @cached_property
    def _label_of(self) -> dict[str, str]:
        return {normalize(spelling): label.name for label in self.labels for spelling in (label.name, *label.also)}

    def read(self, cell: str) -> str | None:
        """Return the name of the label that an annotator wrote: "" for an empty cell, None for an unknown label."""
        spelling = normalize(cell)
        return self._label_of.get(spelling) if spelling else ""

    def accepted(self) -> str:
        """List the labels for errors: "agentic (1), neutral (0), …"."""
        return ", ".join(label.name + (f" ({', '.join(label.also)})" if label.also else "") for label in self.labels)


def normalize(cell: str) -> str:
    """Remove what tools and people add to a label: quotes, spaces, case, a typographic minus, the decimals of 1.0."""
    spelling = " ".join(cell.strip().strip(_QUOTES).casefold().split())
    try:
        number = float(spelling.translate(_MINUS))
    except ValueError:
        return spelling
    return str(int(number)) if number.is_integer() else spelling


def read_scheme(path: Path) -> Scheme:
    """Read a scheme from a JSON file. Raises UsageError for a file that can't be read or holds no valid scheme."""
    example = f"write it like {_HERE / 'schemes' / 'agency.json'}"
    try:
        with opened(path, (".json",), "labels") as file:
            record = json.loads(file.read().decode("utf-8-sig"))
    except EvenhandError as error:
        raise UsageError(f"can't read a scheme: {error}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is no JSON: {error}; {example}") from error
    if wrong := best_match(_VALIDATOR.iter_errors(record)):
        raise UsageError(f"{path} holds no scheme: {wrong.message} (at {wrong.json_path}); {example}")
    labels = {name: {"meaning": label} if isinstance(label, str) else label for name, label in record["labels"].items()}
    scheme = Scheme(
        name=record["name"],
        questions=tuple(Question(name, text) for name, text in record["questions"].items()),
        labels=tuple(Label(name, label["meaning"], tuple(label.get("also", ()))) for name, label in labels.items()),
        instructions=Prompt(record["instructions"]["text"], record["instructions"]["source"]),
        na=tuple(record.get("na", ())),
        sides=tuple(record["sides"]) if record.get("sides") else None,  # type: ignore[arg-type]
    )
    if problem := next(_find_problems(scheme), None):
        raise UsageError(f"{path} holds no scheme: {problem}")
    return scheme


def _find_problems(scheme: Scheme) -> Iterator[str]:
    """Name what would keep labels from being read back."""
    names = [question.name for question in scheme.questions] + [label.name for label in scheme.labels]
    spellings = [normalize(each) for label in scheme.labels for each in {label.name, *label.also}]
    for name in {question.name for question in scheme.questions} & {*RESERVED}:
        yield f"a question may not be named {name!r}: {', '.join(RESERVED)} are columns of evenhand"
    for name in names:
        if not name.strip() or name != name.strip() or names.count(name) > 1:
            yield f"the name {name!r} is empty, has surrounding blanks, or is used twice among questions and labels"
    for spelling in spellings:
        if not spelling or spellings.count(spelling) > 1:
            yield f"{spelling!r} spells no label, or more than one"
    for name in {*scheme.na, *(scheme.sides or ())}.difference(names):
        yield f"{name!r} of na or sides is no label; labels: {', '.join(label.name for label in scheme.labels)}"


SCHEMES: Mapping[str, Scheme] = {
    path.stem: Scheme(**vars(read_scheme(path)) | {"shown": SHOWN.get(path.stem)})
    for path in sorted((_HERE / "schemes").glob("*.json"))
}


def get_scheme(name: str) -> Scheme:
    """Return one of evenhand's schemes by name, or read one from a JSON file."""
    if name in SCHEMES:
        return SCHEMES[name]
    if not name.casefold().endswith(".json"):
        raise unknown_name("scheme", name, list(SCHEMES), "or a JSON file of your own")
    return read_scheme(Path(name))
