"""A folder of persona images, read: one folder a trait, from scripts/generate_persona_images.py or anywhere else."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from evenhand.benchmarks.mllm_stereotypes.faces.pictures import is_picture, unusable
from evenhand.benchmarks.mllm_stereotypes.persona_images.folder import NOT_KEPT
from evenhand.benchmarks.mllm_stereotypes.persona_images.traits import TRAITS, folder_of, trait_of
from evenhand.benchmarks.mllm_stereotypes.picture_folders import (
    OF_PICTURES,
    in_words,
    left_out_sentences,
    names_in,
    printable,
    some,
)
from evenhand.errors import UsageError

# Why something in a trait's folder, or a picture beside these folders, is not read.
LEFT_OUT: dict[str, str] = {
    "outside": "a picture outside the traits' folders",
    "folder": f"a folder inside a trait's (other than {NOT_KEPT})",
    "other_file": "no picture, by the ending of its name",
    "oddly_named": "a name that can't be printed",
    **OF_PICTURES,
}

_ACCEPTED = (
    f"a folder with one folder of JPEG, PNG, GIF or BMP pictures a trait is accepted ({folder_of(TRAITS[0])}, "
    f"{folder_of(TRAITS[1])}, …: {len(TRAITS)} in all)"
)


@dataclass(frozen=True)
class PersonaImage:
    """trait: as the dataset has it. file: inside the folder that was read, with slashes."""

    trait: str
    file: str
    path: Path


@dataclass(frozen=True)
class PersonaImages:
    """The pictures of a folder, by trait and file, and what became of the rest.

    read: of all that lies in the traits' folders (not_kept apart), and of pictures beside them; left_out: how many of
    these are not used, by reason (the keys of LEFT_OUT that occurred); with `records` they add up to `read`.
    missing_traits: those without a picture. other_folders: names of folders that are no trait's, which nobody opened.
    """

    records: tuple[PersonaImage, ...]
    left_out: Mapping[str, int]
    read: int
    missing_traits: tuple[str, ...]
    other_folders: tuple[str, ...] = ()

    def sentences(self) -> tuple[str, ...]:
        """What was left out and why, for a report."""
        said = list(left_out_sentences("Persona images", self.left_out, self.read, LEFT_OUT))
        if self.other_folders:
            said.append(f"Folders that name no trait: {len(self.other_folders):,} ({some(self.other_folders)}).")
        if self.missing_traits:
            named = ", ".join(self.missing_traits)
            said.append(f"Traits without a picture: {len(self.missing_traits)} of {len(TRAITS)} ({named}).")
        return tuple(said)


def read_persona_images(folder: Path) -> PersonaImages:
    """The pictures in a folder's folders that are named for a trait; each is decoded once to be sure.

    Names of folders are compared without regard to case, blanks, underscores and hyphens being alike; two folders of
    one trait are read as one. What lies deeper, such as not_kept, is not read.
    Raises UsageError for a folder that does not exist or gives no picture of a trait; EvenhandError where the system
    does not let us read.
    """
    folder = Path(folder)
    names = names_in(folder, _ACCEPTED)
    folders = {name for name in names if os.path.isdir(folder / name)}
    of_traits = {name: trait for name in folders if (trait := trait_of(name))}
    others = tuple(sorted(map(printable, folders - {*of_traits})))
    records: list[PersonaImage] = []
    left_out = Counter(["outside" for name in names if name not in folders and is_picture(name)])
    unfinished = False
    for name, trait in of_traits.items():
        for entry in names_in(folder / name, _ACCEPTED):
            if entry.casefold() == NOT_KEPT and os.path.isdir(folder / name / entry):
                unfinished = True
                continue
            reason = _reason(folder / name, entry)
            if reason:
                left_out[reason] += 1
            else:
                records.append(PersonaImage(trait, f"{name}/{entry}", folder / name / entry))
    counts = {reason: left_out[reason] for reason in LEFT_OUT if left_out[reason]}
    if not records:
        raise _no_picture(folder, names, of_traits, others, counts, unfinished)
    missing = tuple(trait for trait in TRAITS if trait not in {image.trait for image in records})
    records.sort(key=lambda image: (image.trait, image.file))
    return PersonaImages(tuple(records), counts, len(records) + left_out.total(), missing, others)


def _reason(folder: Path, name: str) -> str | None:
    """Why something in a trait's folder is not used; None for a picture."""
    if os.path.isdir(folder / name):
        return "folder"
    if not is_picture(name):
        return "other_file"
    if not (folder.name + name).isprintable():  # bytes that are no text could be neither shown nor stored
        return "oddly_named"
    return unusable(folder / name)


def _no_picture(
    folder: Path,
    names: Collection[str],
    of_traits: Mapping[str, str],
    others: Collection[str],
    counts: Mapping[str, int],
    unfinished: bool,
) -> UsageError:
    if of_traits:
        came = f"the {_counted(len(of_traits), 'folder')} of traits in {folder} ({some(of_traits)}) hold no picture"
        advice = "put pictures there"
    elif others:
        came = f"no folder in {folder} is named for a trait ({some(others)})"
        advice = "name the folders for the traits"
    else:
        came = f"{folder} has no folder, but {_counted(len(names), 'file')}" if names else f"{folder} is empty"
        advice = "put pictures into folders named for the traits"
    came += f" ({in_words(counts, LEFT_OUT)})" if counts else ""
    if unfinished:
        advice = f"those in {NOT_KEPT} are not read: run generate_persona_images to its end, or choose other --people"
    elif not of_traits and trait_of(folder.absolute().name):
        advice = f"{folder.name} is a trait's own folder: name the one that holds it"
    return UsageError(f"{came}; {_ACCEPTED}: {advice}")


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}" + ("" if n == 1 else "s")
