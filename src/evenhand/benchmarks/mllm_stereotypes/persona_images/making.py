"""From traits to chosen pictures: each is painted from a seed of its own, looked at, and kept or not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from PIL import Image

from evenhand.benchmarks.mllm_stereotypes.persona_images.choosing import (
    GENERATED,
    KEPT,
    PEOPLE,
    People,
    choose,
    qualifies,
)
from evenhand.benchmarks.mllm_stereotypes.persona_images.detecting import Detector
from evenhand.benchmarks.mllm_stereotypes.persona_images.folder import Config, PersonaFolder, Row
from evenhand.benchmarks.mllm_stereotypes.persona_images.painting import Painter
from evenhand.benchmarks.mllm_stereotypes.persona_images.traits import PROMPTS, TRAITS, chosen_traits
from evenhand.errors import EvenhandError, UsageError, unknown_name
from evenhand.flow.episode import derive_seed
from evenhand.flow.runner import Step
from evenhand.report.tables import Cell, Table

OnProgress = Callable[[int, Step], None]
"""Told of the number of pictures in all, and of each that is done; one that had to be painted was a reply."""


@dataclass(frozen=True)
class Wanted:
    """What is painted and kept. generate, keep: pictures of each trait. Raises UsageError for what can't be had."""

    traits: tuple[str, ...] = TRAITS
    generate: int = GENERATED
    keep: int = KEPT
    people: People = "none"
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "traits", chosen_traits(self.traits))
        if self.people not in PEOPLE:
            raise unknown_name("choice of people", self.people, list(PEOPLE))
        if not 1 <= self.keep <= self.generate:
            raise UsageError(
                f"to keep {self.keep} of {self.generate} pictures came; 1 or more are kept, of at least as many that "
                f"are generated (the paper: {KEPT} of {GENERATED})"
            )


@dataclass(frozen=True)
class Count:
    """Of a trait's pictures. with_persons: None where nobody looked."""

    trait: str
    painted: int
    withheld: int
    with_persons: int | None
    qualified: int
    kept: int


@dataclass(frozen=True)
class Made:
    """What lies in the folder now, by trait."""

    wanted: Wanted
    counts: tuple[Count, ...]

    def warnings(self) -> tuple[str, ...]:
        few = [each for each in self.counts if each.kept < self.wanted.keep]
        return tuple(
            f"{each.trait}: {each.kept:,} of {each.painted:,} pictures are kept, not {self.wanted.keep:,}, since no "
            f"more qualify ({PEOPLE[self.wanted.people]} do)"
            for each in few
        )

    def table(self) -> Table:
        def cells(each: Count) -> tuple[Cell, ...]:
            persons = "not counted" if each.with_persons is None else f"{each.with_persons:,}"
            numbers = (f"{n:,}" for n in (each.qualified, each.kept))
            return tuple(map(Cell, (each.trait, f"{each.painted:,}", persons, *numbers)))

        withheld = sum(each.withheld for each in self.counts)
        return Table(
            "Persona images",
            ("trait", "painted", "with persons", "qualified", "kept"),
            tuple(map(cells, self.counts)),
            f"Qualified are {PEOPLE[self.wanted.people]}."
            + (f" Withheld by the painter's safety checker: {withheld:,}." if withheld else ""),
        )


def picture_seed(seed: int, trait: str, number: int) -> int:
    """One a picture: neither the other traits nor where a run was interrupted comes into it."""
    return derive_seed(seed, f"persona_images/{trait}/{number}", agent="painter")


def make_persona_images(
    wanted: Wanted, painter: Painter, detector: Detector | None, output: Path, on_progress: OnProgress | None = None
) -> Made:
    """Paint, look, choose, and leave a folder a trait in `output`; a run that was interrupted goes on where it stopped.

    The same `output` takes further traits, with all other settings the same. detector: not needed, nor used, for people
    "any".
    Raises UsageError for a folder of other settings, or without a detector where one is needed; EvenhandError where no
    picture of a trait qualifies (the others' are chosen all the same), and for what failed on the way.
    """
    if wanted.people == "any":
        detector = None
    elif detector is None:
        raise UsageError(f"no detector came, which people {wanted.people!r} needs; 'any' does without")
    config: Config = {
        "generate": wanted.generate,
        "keep": wanted.keep,
        "people": wanted.people,
        "seed": wanted.seed,
        "painter": painter.identity,
        "detector": detector.identity if detector else None,
    }
    with PersonaFolder.begin(output, config) as folder:
        run = _Run(wanted, painter, detector, folder, on_progress or (lambda pictures, step: None))
        made = Made(wanted, tuple(map(run.trait, wanted.traits)))
    if none := [each for each in made.counts if not each.kept]:
        painted = sum(each.painted for each in none)
        raise EvenhandError(
            f"none of the {painted:,} pictures of {', '.join(each.trait for each in none)} qualifies: only "
            f"{PEOPLE[wanted.people]} do. Generate more of these --traits, or choose by other --people or another "
            f"--threshold, in another --output; these pictures, and those of other traits, are in {output}"
        )
    return made


class _Run:
    def __init__(
        self, wanted: Wanted, painter: Painter, detector: Detector | None, folder: PersonaFolder, progress: OnProgress
    ):
        self.wanted, self.painter, self.detector = wanted, painter, detector
        self.folder, self.progress = folder, progress
        self.rows = folder.read_table()

    def trait(self, trait: str) -> Count:
        """Bring one trait to its end."""
        numbers = range(1, self.wanted.generate + 1)
        pictures = len(self.wanted.traits) * self.wanted.generate
        for number in numbers:
            painted = False
            if not self._is_done(trait, number):
                row, painted = self._row(trait, number)
                self.rows[trait, number] = row
                self._write()
            self.progress(pictures, Step(finished=1, replied=int(painted)))
        found = {number: self.rows[trait, number].persons_found for number in numbers if self.rows[trait, number].file}
        chosen = choose(found, self.wanted.people, self.wanted.keep, self.wanted.seed, trait)
        for number in found:
            kept = number in chosen
            self.folder.move(trait, number, kept)
            row = self.rows[trait, number]
            self.rows[trait, number] = replace(row, kept=kept, file=self.folder.file(trait, number, kept))
        self._write()
        return Count(
            trait,
            painted=len(numbers),
            withheld=len(numbers) - len(found),
            with_persons=None if self.detector is None else sum(bool(persons) for persons in found.values()),
            qualified=sum(qualifies(persons, self.wanted.people) for persons in found.values()),
            kept=len(chosen),
        )

    def _is_done(self, trait: str, number: int) -> bool:
        """Looked at, and not lost since: what was not kept may be deleted, what was kept is painted again."""
        row = self.rows.get((trait, number))
        return row is not None and (row.kept is False or self.folder.find(trait, number) is not None)

    def _row(self, trait: str, number: int) -> tuple[Row, bool]:
        """One picture's row, and whether it had to be painted."""
        prompt, seed = PROMPTS[trait].text, picture_seed(self.wanted.seed, trait, number)
        image = self.folder.load(trait, number)
        painted = image is None
        if image is None:
            image = self._painted(trait, number, prompt, seed)
        persons = None if image is None or self.detector is None else self.detector.persons(image)
        row = Row(
            trait,
            self.folder.file(trait, number, kept=None) if image else "",
            number,
            seed,
            prompt,
            persons,
            None if image else False,
            self.painter.identity,
            self.detector.identity if self.detector else "",
        )
        return row, painted

    def _painted(self, trait: str, number: int, prompt: str, seed: int) -> Image.Image | None:
        image = self.painter.paint(prompt, seed)
        if image is not None:
            image = image.convert("RGB")
            self.folder.save(trait, number, image)
        return image

    def _write(self) -> None:
        """By trait and number, also of traits that this run was not asked for."""
        known = [key for key in self.rows if key[0] in PROMPTS]
        self.folder.write_table(self.rows[key] for key in sorted(known, key=lambda key: (TRAITS.index(key[0]), key[1])))
