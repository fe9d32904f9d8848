"""A face with its labels, and the faces of a folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evenhand.benchmarks.mllm_stereotypes.picture_folders import OF_PICTURES, left_out_sentences

Attribute = Literal["gender", "race"]

GENDERS = ("male", "female")
RACES = ("white", "black", "Asian", "Indian")  # "due to dataset incompleteness" (Jiang et al., section 4)
GROUPS: dict[Attribute, tuple[str, ...]] = {"gender": GENDERS, "race": RACES}

# "below the general legal working age (under 18) and beyond the traditional retirement age (over 65)" (section 4)
YOUNGEST, OLDEST = 18, 65

# Why a file of a folder, or a row of a table, gives no face.
LEFT_OUT: dict[str, str] = {
    "other_file": "no picture, by the ending of its name",
    "oddly_named": "a name that is not understood",
    "unlabelled": "an age or a gender that is not understood",
    "repeated": "listed before with the same labels",
    "contradictory": "listed again with other labels",
    "age": f"an age under {YOUNGEST} or over {OLDEST}, or a range that reaches beyond",
    "race": f"a race other than {', '.join(RACES)}",
    **OF_PICTURES,
}


@dataclass(frozen=True)
class Face:
    """file: its name inside the folder, with slashes. age: in years ("25") or, in some tables, a range ("20-29")."""

    folder: Path
    file: str
    age: str
    gender: str
    race: str

    @property
    def path(self) -> Path:
        return self.folder / self.file

    def group(self, attribute: Attribute) -> str:
        return self.gender if attribute == "gender" else self.race

    def shared(self, attribute: Attribute) -> str:
        """The attribute that two faces of a pair have in common: race where they differ in gender, else gender."""
        return self.race if attribute == "gender" else self.gender


@dataclass(frozen=True)
class Faces:
    """The faces of a folder, by name, and what became of the others.

    read: files in the folder, or rows of the table; left_out: how many of these gave no face, by reason (the keys of
    LEFT_OUT that occurred); with `records` they add up to `read`.
    """

    records: tuple[Face, ...]
    left_out: Mapping[str, int]
    read: int

    def sentences(self) -> tuple[str, ...]:
        """What was left out and why, for a report."""
        return left_out_sentences("Faces", self.left_out, self.read, LEFT_OUT)
