"""Paint pictures of persona traits, count the persons in each, and keep some (Jiang et al., section 4).

The folder of a run holds config.json, images.csv, and a folder for each trait. A picture is saved in `not_kept` inside
its trait's folder and moved out when it is chosen: a trait's folder holds chosen pictures only, and none before the
trait is finished. Whoever needs the space can delete `not_kept` of a finished trait.
"""

from __future__ import annotations

import io
import os
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from PIL import Image

from evenhand.benchmarks.mllm_stereotypes.persona_images import NOT_KEPT, PROMPTS, TRAITS, choose_traits, name_folder
from evenhand.benchmarks.mllm_stereotypes.persona_models import Detector, Painter
from evenhand.benchmarks.mllm_stereotypes.pictures import PictureError, decode
from evenhand.errors import EvenhandError, UsageError, unknown_name
from evenhand.flow.episode import derive_seed
from evenhand.flow.run_folder import RunFolder
from evenhand.flow.runner import Step
from evenhand.report.tables import Cell, Table, csv_text, unescaped
from evenhand.row_files import as_text, read_rows
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
                f"to keep {self.keep} of {self.generate} pictures came; 1 or more are kept, of at least as many that "
                f"are generated (the paper: {KEPT} of {GENERATED})"
            )


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
            persons = "not counted" if each.with_persons is None else f"{each.with_persons:,}"
            texts = (each.trait, f"{each.painted:,}", persons, f"{each.qualified:,}", f"{each.kept:,}")
            rows.append(tuple(map(Cell, texts)))
        withheld = sum(each.withheld for each in self.counts)
        note = f"Qualified are {PEOPLE[self.wanted.people]}."
        note += f" Withheld by the painter's safety checker: {withheld:,}." if withheld else ""
        return Table("Persona images", ("trait", "painted", "with persons", "qualified", "kept"), tuple(rows), note)


def derive_picture_seed(seed: int, trait: str, number: int) -> int:
    """Derive each picture's own seed, whatever the other traits and wherever a run was interrupted."""
    return derive_seed(seed, f"persona_images/{trait}/{number}", agent="painter")


def choose(persons: Mapping[int, int | None], people: People, keep: int, seed: int, trait: str) -> frozenset[int]:
    """Draw `keep` of the pictures that qualify, or take all if they are fewer. persons: found in each, by number."""
    qualified = sorted(number for number, found in persons.items() if _qualifies(found, people))
    rng = random.Random(derive_seed(seed, f"persona_images/{trait}", agent="choice"))
    return frozenset(rng.sample(qualified, min(keep, len(qualified))))


def _qualifies(persons: int | None, people: People) -> bool:
    return people == "any" or (persons is not None and (persons == 0) == (people == "none"))


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
        raise UsageError(f"no detector came, which people {wanted.people!r} needs; 'any' does without")
    settings = _Settings(wanted, painter.identity, detector.identity if detector else None)
    with RunFolder.begin(output, settings):
        maker = _Maker(wanted, painter, detector, PersonaFolder(output), on_progress or (lambda pictures, step: None))
        made = Made(wanted, tuple(map(maker.make_trait, wanted.traits)))
    if none := [each for each in made.counts if not each.kept]:
        painted = sum(each.painted for each in none)
        raise EvenhandError(
            f"none of the {painted:,} pictures of {', '.join(each.trait for each in none)} qualifies: only "
            f"{PEOPLE[wanted.people]} do. Generate more of these --traits, or choose by other --people or another "
            f"--threshold, in another --output; these pictures, and those of other traits, are in {output}"
        )
    return made


class _Settings(NamedTuple):
    """What must be the same where a run goes on, other than its traits."""

    wanted: Wanted
    painter: str
    detector: str | None

    def to_json(self) -> dict[str, Any]:
        names = ("generate", "keep", "people", "seed")
        return {name: getattr(self.wanted, name) for name in names} | {
            "painter": self.painter,
            "detector": self.detector,
        }


@dataclass(frozen=True)
class Row:
    """A line of images.csv.

    file: inside the run's folder; empty for a picture that the painter withheld. persons_found: None without a
    detector. kept: None until the trait is finished.
    """

    trait: str
    file: str
    number: int
    seed: int
    prompt: str
    persons_found: int | None
    kept: bool | None
    painter: str
    detector: str


COLUMNS = tuple(each.name for each in fields(Row))
_KEPT = {"true": True, "false": False, "": None}


class PersonaFolder:
    """The pictures and the table of a run's folder."""

    def __init__(self, path: Path):
        self.path = path

    def name_file(self, trait: str, number: int, kept: bool | None) -> str:
        """Return "Art_Lover/0001.png", or "Art_Lover/not_kept/0001.png"."""
        return "/".join([name_folder(trait), *([] if kept else [NOT_KEPT]), f"{number:04d}.png"])

    def find(self, trait: str, number: int) -> Path | None:
        """Find a picture, kept or not."""
        places = [self.path / self.name_file(trait, number, kept) for kept in (True, False)]
        return next(filter(Path.is_file, places), None)

    def load(self, trait: str, number: int) -> Image.Image | None:
        """Load a picture; None where it is missing or damaged."""
        path = self.find(trait, number)
        try:
            return None if path is None else decode(path)
        except PictureError:
            return None

    def save(self, trait: str, number: int, image: Image.Image) -> None:
        """Save a picture among those that are not kept yet. Raises EvenhandError where that fails."""
        content = io.BytesIO()
        image.save(content, "PNG")
        path = self.path / self.name_file(trait, number, kept=None)
        with explained(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content.getvalue())

    def move(self, trait: str, number: int, kept: bool) -> None:
        """Move a picture to its place, unless it is there or was deleted."""
        place, other = (self.path / self.name_file(trait, number, each) for each in (kept, not kept))
        with explained(place):
            if other.is_file():
                place.parent.mkdir(parents=True, exist_ok=True)
                os.replace(other, place)

    def read_table(self) -> dict[tuple[str, int], Row]:
        """Read images.csv by trait and number; empty before it is written. Raises EvenhandError for a damaged one."""
        path = self.path / "images.csv"
        if not path.is_file():
            return {}
        try:
            read = read_rows(path, "picture", "pictures", known=COLUMNS)
            if tuple(read.columns) != COLUMNS:
                raise ValueError(f"its columns are not {', '.join(COLUMNS)}")
            lines = zip(*(map(unescaped, map(as_text, read.cells(name))) for name in COLUMNS))
            rows = [_parse_row(*line) for line in lines]
        except (EvenhandError, ValueError, KeyError) as error:
            raise EvenhandError(
                f"{path} can't be read ({error}). Take it away and run the same command again: pictures that lie in "
                "the folder are not painted again"
            ) from error
        return {(row.trait, row.number): row for row in rows}

    def write_table(self, rows: Iterable[Row]) -> None:
        lines = ([as_text(cell) for cell in vars(row).values()] for row in rows)
        write_whole(self.path / "images.csv", csv_text(COLUMNS, lines))


def _parse_row(
    trait: str, file: str, number: str, seed: str, prompt: str, persons: str, kept: str, painter: str, detector: str
) -> Row:
    found = int(persons) if persons else None
    return Row(trait, file, int(number), int(seed), prompt, found, _KEPT[kept], painter, detector)


@dataclass
class _Maker:
    wanted: Wanted
    painter: Painter
    detector: Detector | None
    folder: PersonaFolder
    on_progress: OnProgress

    def __post_init__(self) -> None:
        self.rows = self.folder.read_table()

    def make_trait(self, trait: str) -> Count:
        """Paint what is missing, and choose."""
        numbers = range(1, self.wanted.generate + 1)
        for number in numbers:
            painted = False
            row = self.rows.get((trait, number))
            # What was not kept may have been deleted; what was kept is painted again.
            if row is None or (row.kept is not False and self.folder.find(trait, number) is None):
                self.rows[trait, number], painted = self._make_picture(trait, number)
                self._write_table()
            self.on_progress(len(self.wanted.traits) * len(numbers), Step(finished=1, replied=int(painted)))
        found = {number: self.rows[trait, number].persons_found for number in numbers if self.rows[trait, number].file}
        chosen = choose(found, self.wanted.people, self.wanted.keep, self.wanted.seed, trait)
        for number in found:
            kept = number in chosen
            self.folder.move(trait, number, kept)
            file = self.folder.name_file(trait, number, kept)
            self.rows[trait, number] = replace(self.rows[trait, number], kept=kept, file=file)
        self._write_table()
        return Count(
            trait,
            painted=len(numbers),
            withheld=len(numbers) - len(found),
            with_persons=None if self.detector is None else sum(bool(persons) for persons in found.values()),
            qualified=sum(_qualifies(persons, self.wanted.people) for persons in found.values()),
            kept=len(chosen),
        )

    def _make_picture(self, trait: str, number: int) -> tuple[Row, bool]:
        """Return one picture's row, and whether it had to be painted."""
        prompt, seed = PROMPTS[trait].text, derive_picture_seed(self.wanted.seed, trait, number)
        image = self.folder.load(trait, number)
        is_new = image is None
        if image is None:
            image = self.painter.paint(prompt, seed)
            if image is not None:
                image = image.convert("RGB")
                self.folder.save(trait, number, image)
        row = Row(
            trait,
            "" if image is None else self.folder.name_file(trait, number, kept=None),
            number,
            seed,
            prompt,
            persons_found=None if image is None or self.detector is None else self.detector.persons(image),
            kept=False if image is None else None,
            painter=self.painter.identity,
            detector=self.detector.identity if self.detector else "",
        )
        return row, is_new

    def _write_table(self) -> None:
        """Write all traits' rows, also of traits that this run was not asked for."""
        rows = [row for row in self.rows.values() if row.trait in PROMPTS]
        self.folder.write_table(sorted(rows, key=lambda row: (TRAITS.index(row.trait), row.number)))
