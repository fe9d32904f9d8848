"""Paint pictures of persona traits, count the persons in each, and keep some (Jiang et al., section 4).

The output folder holds config.json and a folder for each trait with the pictures to use. Those that don't qualify are
in `not_kept` inside it, so that an interrupted run paints no picture twice.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from evenhand.benchmarks.mllm_stereotypes.persona_images import NOT_KEPT, PROMPTS, TRAITS, choose_traits, name_folder
from evenhand.benchmarks.mllm_stereotypes.persona_models import DiffusersPainter, TransformersDetector
from evenhand.errors import EvenhandError, UsageError, unknown_name
from evenhand.flow.episode import derive_seed
from evenhand.flow.run_folder import RunFolder
from evenhand.flow.runner import Step
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
class ImageSettings:
    """What to paint and keep, of each trait: `keep` pictures, of `generate` at most.

    Raises UsageError for impossible settings.
    """

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
    """Numbers of a trait's pictures. withheld: by the painter's safety checker."""

    trait: str
    painted: int
    withheld: int
    kept: int


def derive_picture_seed(seed: int, trait: str, number: int) -> int:
    """Derive each picture's own seed, whatever the other traits and wherever a run was interrupted."""
    return derive_seed(seed, f"persona_images/{trait}/{number}", agent="painter")


def make_persona_images(
    settings: ImageSettings,
    painter: DiffusersPainter,
    detector: TransformersDetector | None,
    output: Path,
    on_progress: OnProgress | None = None,
) -> list[Count]:
    """Paint pictures of each trait until enough qualify; an interrupted run resumes.

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


@dataclass
class _Maker:
    settings: ImageSettings
    painter: DiffusersPainter
    detector: TransformersDetector | None
    folder: Path
    on_progress: OnProgress

    def to_json(self) -> dict[str, Any]:
        """Return what must be the same where a run resumes: the settings other than its traits."""
        settings = {name: value for name, value in asdict(self.settings).items() if name != "traits"}
        detector = self.detector.identity if self.detector else None
        return settings | {"painter": self.painter.identity, "detector": detector}

    def make_trait(self, trait: str) -> Count:
        settings, folder = self.settings, self.folder / name_folder(trait)
        kept = number = withheld = 0
        while kept < settings.keep and number < settings.generate:
            number += 1
            places = {True: folder / f"{number:04d}.png", False: folder / NOT_KEPT / f"{number:04d}.png"}
            qualifies = next((each for each, path in places.items() if path.is_file()), None)
            is_new = qualifies is None
            if qualifies is None:
                image = self.painter.paint(PROMPTS[trait].text, derive_picture_seed(settings.seed, trait, number))
                withheld += image is None
                if image is not None:
                    image, content = image.convert("RGB"), io.BytesIO()
                    persons = self.detector.persons(image) if self.detector else 0
                    qualifies = settings.people == "any" or (persons == 0) == (settings.people == "none")
                    image.save(content, "PNG")
                    with explained(folder):
                        places[qualifies].parent.mkdir(parents=True, exist_ok=True)
                    write_whole(places[qualifies], content.getvalue())
            kept += bool(qualifies)
            self.on_progress(len(settings.traits) * settings.generate, Step(finished=1, replied=int(is_new)))
        if number < settings.generate:  # enough qualified
            self.on_progress(len(settings.traits) * settings.generate, Step(finished=settings.generate - number))
        return Count(trait, number, withheld, kept)
