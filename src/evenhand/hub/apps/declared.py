"""What a metric takes: the columns of its features and `compute`'s keywords; and what its folder says of it."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import evaluate

Kind = Literal["text", "list of texts", "list of whole numbers", "text or number"]
PREDICTION = "prediction"
BETWEEN = "|"  # separates the values of a list in one cell
_ARGUMENT = re.compile(r"^ +([a-z_]+(?:, [a-z_]+)*): ", re.MULTILINE)
# How a docstring begins that describes a whole column, where the page describes one cell.
_FORM = re.compile(r"^(list of (lists, )?|optional (list, one per \w+|\{column: list\}): )")


@dataclass(frozen=True)
class Column:
    """kind: what a cell holds. about: what it means, in the metric's own words."""

    name: str
    kind: Kind
    about: str


@dataclass(frozen=True)
class Declared:
    """The columns of a metric.

    Attributes:
        prediction: the answers.
        references: what was asked; all are needed.
        beside: optional keyword columns.
        crossings: keywords that take {column: values}; a table names such a column "by:COLUMN".
    """

    prediction: Column
    references: tuple[Column, ...]
    beside: tuple[Column, ...]
    crossings: tuple[Column, ...]

    @property
    def needed(self) -> tuple[Column, ...]:
        return (self.prediction, *self.references)


def declared_columns(metric: evaluate.Metric) -> Declared:
    """Read a metric's columns from its features, its signature and the Args of its docstring."""
    features = metric.info.features
    parts = _ARGUMENT.split(metric.inputs_description.partition("Args:\n")[2].partition("Returns:\n")[0])
    described = {
        name: " ".join(text.split()) for names, text in zip(parts[1::2], parts[2::2]) for name in names.split(", ")
    }

    def column(name: str, kind: Kind, shown: str = "") -> Column:
        return Column(shown or name, kind, _FORM.sub("", described.get(name, "")))

    parameters = inspect.signature(metric._compute).parameters
    keywords = {
        name: "{column: list}" in described.get(name, "") for name, of in parameters.items() if of.default is None
    }
    return Declared(
        column("predictions", _kind(features["predictions"]), PREDICTION),
        tuple(column(name, _kind(feature)) for name, feature in features["references"].items()),
        tuple(column(name, "text or number") for name, crossed in keywords.items() if not crossed),
        tuple(column(name, "text or number", f"{name}:COLUMN") for name, crossed in keywords.items() if crossed),
    )


def _kind(feature: Any) -> Kind:
    """Of a feature of datasets: a Value, or a list of Values, which has a `feature`."""
    if not hasattr(feature, "feature"):
        return "text"
    return "list of whole numbers" if feature.feature.dtype.startswith("int") else "list of texts"


@dataclass(frozen=True)
class About:
    """about.json of a metric's folder, with its README and example.csv.

    Attributes:
        headline: keys of the result that are shown first.
        least, most: the range of a figure; None where it has no end.
        best: the value of no bias; direction: which way is better, in words.
        unit: behind a figure, such as " %".
        chance: what random answers score, by the headline figure's name ("biased_percentage", or "accuracy.overall"): a
            number, or the key of the result that holds it ("chance_score").
        example: what example.csv holds, in a sentence.
    """

    folder: Path
    headline: Sequence[str]
    least: float | None
    most: float | None
    best: float
    direction: str
    unit: str
    chance: Mapping[str, float | str]
    example: str

    @classmethod
    def read(cls, folder: Path) -> About:
        """folder: the metric's, in the package or in its Space."""
        return cls(folder, **json.loads((folder / "about.json").read_text(encoding="utf-8")))

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
        return (self.folder / "example.csv").read_text(encoding="utf-8")

    @cached_property
    def head(self) -> Mapping[str, str]:
        """The README's front matter: title, description."""
        from huggingface_hub import metadata_load

        return metadata_load(self.folder / "README.md") or {}
