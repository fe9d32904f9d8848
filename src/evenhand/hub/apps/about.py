"""What a metric's folder says of it beside its code: about.json, example.csv and the head of its README."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

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
