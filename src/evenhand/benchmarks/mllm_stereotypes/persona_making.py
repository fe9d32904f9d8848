"""Paint pictures of persona traits, count the persons in each, and keep some (Jiang et al., section 4).

The folder of a run holds config.json, images.csv, and a folder for each trait. A picture is saved in `not_kept` inside
its trait's folder and moved out when it is chosen: a trait's folder holds chosen pictures only, and none before the
trait is finished. Whoever needs the space can delete `not_kept` of a finished trait.
"""

from __future__ import annotations

import io
import os
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pandas as pd
from PIL import Image

from evenhand.benchmarks.mllm_stereotypes.persona_images import NOT_KEPT, PROMPTS, TRAITS, choose_traits, name_folder
from evenhand.benchmarks.mllm_stereotypes.persona_models import Detector, Painter
from evenhand.benchmarks.mllm_stereotypes.pictures import PictureError, decode
from evenhand.errors import EvenhandError, UsageError, unknown_name
from evenhand.flow.episode import derive_seed
from evenhand.flow.run_folder import RunFolder
from evenhand.flow.runner import Step
from evenhand.report.tables import Cell, Table, count, csv_text
from evenhand.whole_files import explained, write_whole

GENERATED, KEPT = 400, 200  # of each trait (section 4)

People = Literal["none", "keep", "any"]
# The paper retains "images containing person(s)". A person in the picture would answer the question whose it is, so the
# default here is pictures without: a deviation.
PEOPLE: dict[People, str] = {
    "none": "pictures without a person",
    "keep": "pictures with a person or more",
    "any": "all pictures",
}
COLUMNS = ("trait", "file", "number", "seed", "prompt", "persons_found", "kept", "painter", "detector")
"""Of images.csv. file: empty for a picture that the painter withheld. persons_found: empty without a detector. kept:
empty until the trait is finished."""
_KEPT = {"true": True, "false": False, "": None}

OnProgress = Callable[[int, Step], None]
"""Called with the number of pictures in all, for each picture; one that had to be painted counts as replied."""


@dataclass(frozen=True)
class Wanted:
    """What is painted and kept. generate, keep: pictures of each trait. Raises UsageError for what can't be had."""

    traits: tuple[str, ...] = TRAITS
    generate: int = GENERATED
    keep: int = KEPT
    people: People = "none"
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "traits", choose_traits(self.traits))
        if self.people not in PEOPLE:
            raise unknown_name("choice of people", self.people, list(PEOPLE))
        if not 1 <= self.keep <= self.generate:
            raise UsageError(
                f"keep must be between 1 and generate (the paper: {KEPT} of {GENERATED}), got {self.keep} of "
                f"{self.generate} pictures"
            )


class Picture(NamedTuple):
    """What is known of a picture. persons: None where none were counted. kept: None until the trait is finished."""

    withheld: bool
    persons: int | None
    kept: bool | None

    def qualifies(self, people: People) -> bool:
        if people == "any":
            return not self.withheld
        return self.persons is not None and (self.persons == 0) == (people == "none")


@dataclass(frozen=True)
class Count:
    """Numbers of a trait's pictures. with_persons: None without a detector."""

    trait: str
    painted: int
    withheld: int
    with_persons: int | None
    qualified: int
    kept: int


@dataclass(frozen=True)
class Made:
    """What the folder holds now, by trait."""

    wanted: Wanted
    counts: tuple[Count, ...]

    def warnings(self) -> tuple[str, ...]:
        return tuple(
            f"{each.trait}: {each.kept:,} of {each.painted:,} pictures are kept, not {self.wanted.keep:,}, since no "
            f"more qualify ({PEOPLE[self.wanted.people]} do)"
            for each in self.counts
            if each.kept < self.wanted.keep
        )

    def table(self) -> Table:
        rows = []
        for each in self.counts:
            persons = Cell("not counted") if each.with_persons is None else count(each.with_persons)
            rows.append((Cell(each.trait), count(each.painted), persons, count(each.qualified), count(each.kept)))
        withheld = sum(each.withheld for each in self.counts)
        note = f"Qualified are {PEOPLE[self.wanted.people]}."
        note += f" Withheld by the painter's safety checker: {withheld:,}." if withheld else ""
        return Table("Persona images", ("trait", "painted", "with persons", "qualified", "kept"), tuple(rows), note)


def derive_picture_seed(seed: int, trait: str, number: int) -> int:
    """Derive each picture's own seed, whatever the other traits and wherever a run was interrupted."""
    return derive_seed(seed, f"persona_images/{trait}/{number}", agent="painter")


def choose(pictures: Mapping[int, Picture], people: People, keep: int, seed: int, trait: str) -> frozenset[int]:
    """Draw `keep` of the pictures that qualify, by number, or take all if they are fewer."""
    qualified = sorted(number for number, picture in pictures.items() if picture.qualifies(people))
    rng = random.Random(derive_seed(seed, f"persona_images/{trait}", agent="choice"))
    return frozenset(rng.sample(qualified, min(keep, len(qualified))))


def make_persona_images(
    wanted: Wanted, painter: Painter, detector: Detector | None, output: Path, on_progress: OnProgress | None = None
) -> Made:
    """Paint, count persons, choose, and leave a folder for each trait in `output`; an interrupted run resumes.

    The same `output` takes further traits with the same settings. detector: not needed for people "any".
    Raises UsageError for a folder of other settings, or without a detector where one is needed; EvenhandError where no
    picture of a trait qualifies (the other traits are finished), and for failures on the way.
    """
    if wanted.people == "any":
        detector = None
    elif detector is None:
        raise UsageError(f"people {wanted.people!r} needs a detector; 'any' does without")
    maker = _Maker(wanted, painter, detector, output, on_progress or (lambda pictures, step: None))
    with RunFolder.begin(output, maker):
        maker.pictures = read_table(output)
        made = Made(wanted, tuple(map(maker.make_trait, wanted.traits)))
    if none := [each for each in made.counts if not each.kept]:
        painted = sum(each.painted for each in none)
        raise EvenhandError(
            f"none of the {painted:,} pictures of {', '.join(each.trait for each in none)} qualifies: only "
            f"{PEOPLE[wanted.people]} do. Generate more of these --traits, or choose by other --people or another "
            f"--threshold, in another --output; these pictures, and those of other traits, are in {output}"
        )
    return made


def read_table(folder: Path) -> dict[tuple[str, int], Picture]:
    """Read images.csv by trait and number; empty before it is written. Raises EvenhandError for a damaged one."""
    path = folder / "images.csv"
    if not path.is_file():
        return {}
    try:
        table = pd.read_csv(path, dtype=str, na_filter=False)
        if tuple(table.columns) != COLUMNS:
            raise ValueError(f"its columns are not {', '.join(COLUMNS)}")
        return {
            (row["trait"], int(row["number"])): Picture(
                not row["file"], int(row["persons_found"]) if row["persons_found"] else None, _KEPT[row["kept"]]
            )
            for row in table.to_dict("records")
            if row["trait"] in TRAITS
        }
    except (OSError, ValueError, KeyError) as error:
        raise EvenhandError(
            f"{path} can't be read ({error}). Remove it and run the same command again: pictures in the folder are not "
            "painted again"
        ) from error


@dataclass
class _Maker:
    wanted: Wanted
    painter: Painter
    detector: Detector | None
    folder: Path
    on_progress: OnProgress
    pictures: dict[tuple[str, int], Picture] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return what must be the same where a run resumes: the settings other than its traits."""
        return {name: getattr(self.wanted, name) for name in ("generate", "keep", "people", "seed")} | {
            "painter": self.painter.identity,
            "detector": self.detector.identity if self.detector else None,
        }

    def make_trait(self, trait: str) -> Count:
        """Paint what is missing, and choose."""
        numbers = range(1, self.wanted.generate + 1)
        for number in numbers:
            painted = False
            known = self.pictures.get((trait, number))
            # What was not kept may have been deleted; what was kept is painted again.
            if known is None or (known.kept is not False and self._find(trait, number) is None):
                self.pictures[trait, number], painted = self._make_picture(trait, number)
                self._write_table()
            self.on_progress(len(self.wanted.traits) * len(numbers), Step(finished=1, replied=int(painted)))
        found = {number: self.pictures[trait, number] for number in numbers}
        chosen = choose(found, self.wanted.people, self.wanted.keep, self.wanted.seed, trait)
        for number, picture in found.items():
            self._move(trait, number, number in chosen)
            self.pictures[trait, number] = picture._replace(kept=number in chosen)
        self._write_table()
        return Count(
            trait,
            painted=len(numbers),
            withheld=sum(picture.withheld for picture in found.values()),
            with_persons=None if self.detector is None else sum(bool(picture.persons) for picture in found.values()),
            qualified=sum(picture.qualifies(self.wanted.people) for picture in found.values()),
            kept=len(chosen),
        )

    def _make_picture(self, trait: str, number: int) -> tuple[Picture, bool]:
        """Return what is known of a picture, and whether it had to be painted."""
        try:
            path = self._find(trait, number)
            image = None if path is None else decode(path)
        except PictureError:  # a damaged file
            image = None
        is_new = image is None
        if image is None:
            image = self.painter.paint(PROMPTS[trait].text, derive_picture_seed(self.wanted.seed, trait, number))
            if image is None:
                return Picture(withheld=True, persons=None, kept=False), True
            image = image.convert("RGB")
            self._save(trait, number, image)
        return Picture(False, self.detector.persons(image) if self.detector else None, kept=None), is_new

    def _name_file(self, trait: str, number: int, kept: bool | None) -> str:
        """Return "Art_Lover/0001.png", or "Art_Lover/not_kept/0001.png"."""
        return "/".join([name_folder(trait), *([] if kept else [NOT_KEPT]), f"{number:04d}.png"])

    def _find(self, trait: str, number: int) -> Path | None:
        places = (self.folder / self._name_file(trait, number, kept) for kept in (True, False))
        return next(filter(Path.is_file, places), None)

    def _save(self, trait: str, number: int, image: Image.Image) -> None:
        content = io.BytesIO()
        image.save(content, "PNG")
        path = self.folder / self._name_file(trait, number, kept=None)
        with explained(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content.getvalue())

    def _move(self, trait: str, number: int, kept: bool) -> None:
        """Move a picture to its place, unless it is there or was deleted."""
        place, other = (self.folder / self._name_file(trait, number, each) for each in (kept, not kept))
        with explained(place):
            if other.is_file():
                place.parent.mkdir(parents=True, exist_ok=True)
                os.replace(other, place)

    def _write_table(self) -> None:
        """Write all traits' rows, also of traits that this run was not asked for."""
        lines = []
        for trait, number in sorted(self.pictures, key=lambda key: (TRAITS.index(key[0]), key[1])):
            withheld, persons, kept = self.pictures[trait, number]
            cells = {
                "trait": trait,
                "file": "" if withheld else self._name_file(trait, number, kept),
                "number": number,
                "seed": derive_picture_seed(self.wanted.seed, trait, number),
                "prompt": PROMPTS[trait].text,
                "persons_found": "" if persons is None else persons,
                "kept": "" if kept is None else str(kept).lower(),
                "painter": self.painter.identity,
                "detector": self.detector.identity if self.detector else "",
            }
            lines.append([str(cells[name]) for name in COLUMNS])
        write_whole(self.folder / "images.csv", csv_text(COLUMNS, lines))
