"""What a metric declares: the columns that it takes, by its features and `compute`'s keywords, and what its folder says
of it beside its code (about.json, example.csv and the head of its README).
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import evaluate

Kind = Literal["text", "list of texts", "list of whole numbers", "text or number"]
PREDICTION = "prediction"

_ENTRY = re.compile(r"^( +)([a-z_]+(?:, [a-z_]+)*): (.*)$")


@dataclass(frozen=True)
class Column:
    """kind: what a cell holds. about: what it means, in the metric's own words."""

    name: str
    kind: Kind
    about: str


@dataclass(frozen=True)
class Declared:
    """prediction: the answers. references: what was asked, each needed. beside: keyword columns, each optional.
    crossings: keywords that take {column: values}; a table names such a column "by:COLUMN".
    """

    prediction: Column
    references: tuple[Column, ...]
    beside: tuple[Column, ...]
    crossings: tuple[Column, ...]

    @property
    def needed(self) -> tuple[Column, ...]:
        return (self.prediction, *self.references)


def declared(metric: evaluate.Metric) -> Declared:
    features = metric.info.features
    told = _documented(metric.inputs_description)
    keywords = [
        name
        for name, each in inspect.signature(metric._compute).parameters.items()
        if name not in ("self", "predictions", "references") and each.default is None
    ]
    crossed = [name for name in keywords if "{column: list}" in told.get(name, "")]
    return Declared(
        prediction=Column(PREDICTION, _kind(features["predictions"]), _one(told.get("predictions", ""))),
        references=tuple(Column(name, _kind(of), told.get(name, "")) for name, of in features["references"].items()),
        beside=tuple(
            Column(name, "text or number", _without_form(told.get(name, "")))
            for name in keywords
            if name not in crossed
        ),
        crossings=tuple(Column(f"{name}:COLUMN", "text or number", _without_form(told[name])) for name in crossed),
    )


def _kind(feature: Any) -> Kind:
    """Of a feature of datasets: a Value, or a list of these, which has a `feature`."""
    if not hasattr(feature, "feature"):
        return "text"
    return "list of whole numbers" if feature.feature.dtype.startswith("int") else "list of texts"


def _documented(description: str) -> Mapping[str, str]:
    """{name: what is said of it} of the docstring's Args, those of references' keys, too."""
    args = description.partition("Args:\n")[2].partition("Returns:\n")[0]
    return {name: text for names, text in _entries(args) for name in names}


def _entries(args: str) -> Iterator[tuple[list[str], str]]:
    """An entry goes on in lines that are further in than its name, unless one begins there."""
    names: list[str] = []
    words: list[str] = []
    for line in args.splitlines():
        begins = _ENTRY.match(line)
        if begins:
            if names:
                yield names, " ".join(words)
            names, words = begins[2].split(", "), [begins[3]]
        else:
            words.append(line.strip())
    if names:
        yield names, " ".join(words).strip()


def _one(text: str) -> str:
    """Of a row what is said of the column: "list of answer texts; …" is "answer texts; …"."""
    return re.sub(r"^list of (lists, )?", "", text)


def _without_form(text: str) -> str:
    """Without "optional list, one per row: ", which is so of every such column."""
    return re.sub(r"^optional (?:list, one per \w+|\{column: list\}): ", "", text)


EXAMPLE, ABOUT = "example.csv", "about.json"


@dataclass(frozen=True)
class About:
    """headline: keys of the result that are shown first. least, most: between which they lie; None where there is no
    end. best: the value of no bias; direction: which way is better, in words. unit: behind a figure, as " %".
    chance: what random answers score, by the headline figure's name ("biased_percentage", or "accuracy.overall"): a
    number, or the key of the result that holds it ("chance_score"). example: what example.csv holds, in a sentence.
    """

    folder: Path
    headline: tuple[str, ...]
    least: float | None
    most: float | None
    best: float
    direction: str
    unit: str
    chance: Mapping[str, float | str]
    example: str

    @property
    def digits(self) -> int:
        """Of figures, after the point."""
        return 3 if self.most is not None and self.most <= 1 else 1

    @property
    def range(self) -> str:
        """ "-1 to 1", "0 upwards"."""
        return f"{self.least:g} to {self.most:g}" if self.most is not None else f"{self.least:g} upwards"

    @cached_property
    def table(self) -> str:
        """The example, as CSV."""
        return (self.folder / EXAMPLE).read_text(encoding="utf-8")

    @cached_property
    def head(self) -> Mapping[str, str]:
        """The README's front matter: title, description."""
        from huggingface_hub import metadata_load

        return metadata_load(self.folder / "README.md") or {}


def about(folder: Path) -> About:
    """Of a metric's folder, in the package or in its Space."""
    told = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    return About(folder=folder, headline=tuple(told.pop("headline")), **told)
