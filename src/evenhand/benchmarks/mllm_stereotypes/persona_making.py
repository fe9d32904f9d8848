"""Paint pictures of persona traits, count the persons in each, and keep some (Jiang et al., section 4).

The output folder holds config.json, images.csv, and a folder for each trait with the pictures that were chosen. All
others are in `not_kept` inside it, as all are until the trait is finished. `not_kept` of a finished trait can be
deleted.
"""

from __future__ import annotations

import io
import os
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pandas as pd
from PIL import Image

from evenhand.benchmarks.mllm_stereotypes.persona_images import NOT_KEPT, PROMPTS, TRAITS, choose_traits, name_folder
from evenhand.benchmarks.mllm_stereotypes.persona_models import DiffusersPainter, TransformersDetector
from evenhand.benchmarks.mllm_stereotypes.pictures import PictureError, decode
from evenhand.errors import EvenhandError, UsageError, unknown_name
from evenhand.flow.episode import derive_seed
from evenhand.flow.run_folder import RunFolder
from evenhand.flow.runner import Step
from evenhand.report.tables import csv_text
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
"""Of images.csv, which has the pictures of finished traits. file: empty for a picture that the painter withheld.
persons_found: empty without a detector."""

OnProgress = Callable[[int, Step], None]
"""Called with the number of pictures in all, for each picture; one that had to be painted counts as replied."""


@dataclass(frozen=True)
class ImageSettings:
    """What to paint and keep. generate, keep: pictures of each trait. Raises UsageError for impossible settings."""

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


class Count(NamedTuple):
    """Numbers of a trait's pictures. with_persons: None without a detector."""

    trait: str
    painted: int
    withheld: int
    with_persons: int | None
    qualified: int
    kept: int


def derive_picture_seed(seed: int, trait: str, number: int) -> int:
    """Derive each picture's own seed, whatever the other traits and wherever a run was interrupted."""
    return derive_seed(seed, f"persona_images/{trait}/{number}", agent="painter")


def choose_pictures(numbers: Sequence[int], keep: int, seed: int, trait: str) -> list[int]:
    """Draw `keep` of the numbers of the pictures that qualify, or take all if they are fewer."""
    rng = random.Random(derive_seed(seed, f"persona_images/{trait}", agent="choice"))
    return rng.sample(numbers, min(keep, len(numbers)))


def make_persona_images(
    settings: ImageSettings,
    painter: DiffusersPainter,
    detector: TransformersDetector | None,
    output: Path,
    on_progress: OnProgress | None = None,
) -> list[Count]:
    """Paint, count persons, choose, and leave a folder for each trait in `output`; an interrupted run resumes.

    The same `output` takes further traits with the same settings. detector: not needed for people "any".
    Raises UsageError for a folder of other settings, or without a detector where one is needed; EvenhandError where no
    picture of a trait qualifies (the other traits are finished), and for failures on the way.
    """
    if settings.people == "any":
        detector = None
    elif detector is None:
        raise UsageError(f"people {settings.people!r} needs a detector; 'any' does without")
    maker = _Maker(settings, painter, detector, output, on_progress or (lambda pictures, step: None))
    with RunFolder.begin(output, maker):
        counts = [maker.make_trait(trait) for trait in settings.traits]
    if none := [each for each in counts if not each.kept]:
        painted = sum(each.painted for each in none)
        raise EvenhandError(
            f"none of the {painted:,} pictures of {', '.join(each.trait for each in none)} qualifies: only "
            f"{PEOPLE[settings.people]} do. Generate more of these --traits, or choose by other --people or another "
            f"--threshold, in another --output; these pictures, and those of other traits, are in {output}"
        )
    return counts


def list_warnings(counts: Sequence[Count], settings: ImageSettings) -> Iterator[str]:
    """Warn of traits of which fewer pictures are kept than wanted."""
    for each in counts:
        if each.kept < settings.keep:
            yield (
                f"{each.trait}: {each.kept:,} of {each.painted:,} pictures are kept, not {settings.keep:,}, since no "
                f"more qualify ({PEOPLE[settings.people]} do)"
            )


@dataclass
class _Maker:
    settings: ImageSettings
    painter: DiffusersPainter
    detector: TransformersDetector | None
    folder: Path
    on_progress: OnProgress

    def to_json(self) -> dict[str, Any]:
        """Return what must be the same where a run resumes: the settings other than its traits."""
        return {name: getattr(self.settings, name) for name in ("generate", "keep", "people", "seed")} | {
            "painter": self.painter.identity,
            "detector": self.detector.identity if self.detector else None,
        }

    def make_trait(self, trait: str) -> Count:
        """Paint the pictures of a trait and choose some, unless images.csv lists them and all that were kept exist."""
        path = self.folder / "images.csv"
        table = pd.read_csv(path, dtype=str, na_filter=False) if path.is_file() else pd.DataFrame(columns=COLUMNS)
        rows = table[table["trait"] == trait]
        kept = rows.loc[rows["kept"] == "true", "file"]
        if len(rows) and all((self.folder / file).is_file() for file in kept):
            self._report(finished=len(rows))
        else:
            rows = self._paint_trait(trait)
            table = pd.concat([table[table["trait"] != trait], rows])
            table = table.sort_values("trait", key=lambda traits: traits.map(TRAITS.index), kind="stable")
            write_whole(path, csv_text(COLUMNS, table[list(COLUMNS)].to_numpy().tolist()))
        return Count(
            trait,
            painted=len(rows),
            withheld=int((rows["file"] == "").sum()),
            with_persons=int((~rows["persons_found"].isin(["", "0"])).sum()) if self.detector else None,
            qualified=len(self._select_qualified(rows)),
            kept=int((rows["kept"] == "true").sum()),
        )

    def _paint_trait(self, trait: str) -> pd.DataFrame:
        """Paint what is missing, choose, and move the chosen pictures. Returns rows of images.csv."""
        seed, prompt = self.settings.seed, PROMPTS[trait].text
        rows = []
        for number in range(1, self.settings.generate + 1):
            own_seed = derive_picture_seed(seed, trait, number)
            image = found = self._find_picture(trait, number)
            if image is None and (image := self.painter.paint(prompt, own_seed)) is not None:
                image = image.convert("RGB")
                self._save_picture(trait, number, image)
            persons = self.detector.persons(image) if self.detector and image else ""
            file = self._name_file(trait, number, kept=False) if image else ""
            detector = self.detector.identity if self.detector else ""
            row = (trait, file, number, own_seed, prompt, persons, "false", self.painter.identity, detector)
            rows.append([str(cell) for cell in row])
            self._report(finished=1, replied=int(found is None))
        table = pd.DataFrame(rows, columns=COLUMNS)
        numbers = [int(number) for number in self._select_qualified(table)["number"]]
        for number in choose_pictures(numbers, self.settings.keep, seed, trait):
            source, place = (self.folder / self._name_file(trait, number, kept) for kept in (False, True))
            with explained(place):
                if source.is_file():  # else it is there already
                    os.replace(source, place)
            table.loc[number - 1, ["file", "kept"]] = [self._name_file(trait, number, kept=True), "true"]
        return table

    def _select_qualified(self, rows: pd.DataFrame) -> pd.DataFrame:
        if self.settings.people == "any":
            return rows[rows["file"] != ""]
        found = rows["persons_found"]
        return rows[found == "0" if self.settings.people == "none" else ~found.isin(["", "0"])]

    def _report(self, finished: int, replied: int = 0) -> None:
        total = len(self.settings.traits) * self.settings.generate
        self.on_progress(total, Step(finished=finished, replied=replied))

    def _name_file(self, trait: str, number: int, kept: bool) -> str:
        """Return "Art_Lover/0001.png", or "Art_Lover/not_kept/0001.png"."""
        return "/".join([name_folder(trait), *([] if kept else [NOT_KEPT]), f"{number:04d}.png"])

    def _find_picture(self, trait: str, number: int) -> Image.Image | None:
        """Return a picture that an earlier run left, unless it is damaged."""
        for kept in (False, True):
            with suppress(PictureError):
                return decode(self.folder / self._name_file(trait, number, kept))
        return None

    def _save_picture(self, trait: str, number: int, image: Image.Image) -> None:
        content = io.BytesIO()
        image.save(content, "PNG")
        path = self.folder / self._name_file(trait, number, kept=False)
        with explained(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content.getvalue())
