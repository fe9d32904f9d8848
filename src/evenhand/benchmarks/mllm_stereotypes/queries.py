"""What a vision-language model is asked: prompts with pairs of faces, or with pictures of persona traits.

Built when they are needed, for faces are never shipped: occupation_gender, occupation_race, descriptor_gender,
descriptor_race (vision modality, Jiang et al., section 3.1), persona_gender, persona_race (language modality, 3.2).
"""

from __future__ import annotations

import hashlib
import os
import random
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import get_args

import datasets

from evenhand.benchmarks.mllm_stereotypes.configs import (
    CONFIGS,
    DATASET,
    OF_FACES,
    OF_PERSONAS,
    REHEARSAL,
    REHEARSAL_NOTE,
    SPLIT,
)
from evenhand.benchmarks.mllm_stereotypes.faces.face import Attribute, Face
from evenhand.benchmarks.mllm_stereotypes.faces.pairs import LIMIT, face_pairs
from evenhand.benchmarks.mllm_stereotypes.faces.queries import rows, unspliced_rows
from evenhand.benchmarks.mllm_stereotypes.faces.reading import read_faces
from evenhand.benchmarks.mllm_stereotypes.persona_images import read_persona_images
from evenhand.benchmarks.mllm_stereotypes.social_terms import Order, filled_in, orders
from evenhand.errors import EvenhandError, UsageError, unknown_name
from evenhand.flow.episode import derive_seed
from evenhand.library import DATASETS, fingerprint, load_dataset
from evenhand.paths import typed_path
from evenhand.whole_files import whole_file

__all__ = ["CONFIGS", "FEATURES", "load", "notes_of"]

_TEXT = datasets.Value("string")
FEATURES = datasets.Features(
    {
        **dict.fromkeys(("id", "pair", "scenario", "attribute", "instance", "prompt"), _TEXT),
        "candidates": datasets.Sequence(_TEXT),
        "swapped": datasets.Value("bool"),
        "image": datasets.Image(),
        "age": _TEXT,
        "shared": _TEXT,
        "rehearsal": datasets.Value("bool"),
    }
)


def load(
    config: str,
    split: str | None = None,
    *,
    faces: str | os.PathLike[str] | None = None,
    faces_table: str | os.PathLike[str] | None = None,
    images: str | os.PathLike[str] | None = None,
    pairs: int = LIMIT,
    order: Order = "paper",
    seed: int = 0,
    spliced: bool = True,
) -> datasets.Dataset | datasets.DatasetDict:
    """The rows of one of CONFIGS, with the columns of FEATURES.

    faces: a folder of UTKFace files, or of those that `faces_table` lists (see faces.reading beside this module), or
    "rehearsal". pairs: at most so many of each age and shared attribute (20 in the paper, section 4). images: a folder
    of pictures for each persona trait (see persona_images.reading); by default the drawings of `persona_images`. order:
    of a persona prompt's social terms: one drawn for each picture, as in the paper, or as many as there are terms, each
    of them in each place once. seed: of the draws of pairs, sides and orders. spliced: False leaves the faces' `image`
    null and gives their paths, `left` and `right`: nothing is decoded but to be sure that it can be.

    pair: what was shown: the faces, in whichever order, or the picture. candidates: left to right, or as listed.
    swapped: faces exchanged. age, shared: what both faces have; null for pictures. rehearsal: the faces are
    placeholders. What was left out is told in `info.description`.
    Raises UsageError for options that don't fit and pictures that can't be used; EvenhandError where spliced pictures
    can't be kept.
    """
    if split not in (None, SPLIT):
        raise UsageError(f"{DATASET} has no split {split!r}; {SPLIT!r} is accepted")
    if order not in get_args(Order):
        raise unknown_name("order", order, get_args(Order))
    if config in OF_FACES:
        if images is not None or order != "paper":
            raise UsageError(f"{config} shows faces: images and order are of {', '.join(OF_PERSONAS)}")
        if faces is None:
            raise UsageError(f"{config} needs faces, which are never shipped: name their folder (or {REHEARSAL!r})")
        asked, notes = _of_faces(config, faces, faces_table, pairs, seed, spliced)
    else:
        if faces is not None or faces_table is not None or pairs != LIMIT:
            raise UsageError(
                f"{config} shows pictures of things: faces, faces_table and pairs are of {', '.join(OF_FACES)}"
            )
        asked, notes = _of_personas(config, images, order, seed)
    features = FEATURES if spliced else datasets.Features({**FEATURES, "left": _TEXT, "right": _TEXT})
    columns = {name: [row.get(name) for row in asked] for name in features}
    built = datasets.Dataset.from_dict(
        columns,
        features=features,
        info=datasets.DatasetInfo(description="\n".join(notes), features=features),
        split=datasets.Split.TEST,
    )
    return built if split else datasets.DatasetDict({SPLIT: built})


def notes_of(built: datasets.Dataset) -> tuple[str, ...]:
    """What is to be said of rows that `load` made, alone or several put together."""
    return tuple(dict.fromkeys(line for line in (built.info.description or "").split("\n") if line))


def _prompts(config: str) -> datasets.Dataset:
    scenario, attribute = config.split("_")
    prompts = load_dataset(DATASET, scenario, split=SPLIT)
    return prompts.select([place for place, each in enumerate(prompts["attribute"]) if each == attribute])


def _in_order(candidates: object) -> str:
    """The groups as they are shown or listed: with another seed, another order is another query."""
    return "-".join(candidates)  # type: ignore[arg-type]


# Pairs of faces


def _of_faces(
    config: str,
    folder: str | os.PathLike[str],
    table: str | os.PathLike[str] | None,
    limit: int,
    seed: int,
    spliced: bool,
) -> tuple[list[dict[str, object]], tuple[str, ...]]:
    prompts = _prompts(config)
    attribute: Attribute = prompts[0]["attribute"]
    if folder == REHEARSAL:
        folder = DATASETS / DATASET / "sources" / "rehearsal_faces"
    faces = read_faces(typed_path(folder), None if table is None else typed_path(table))
    pairs = face_pairs(faces, attribute, seed, limit)
    rehearsal = any(_is_placeholder(face) for face in faces.records)
    kept = _Pictures() if spliced else None
    asked: list[dict[str, object]] = [
        {
            **row,
            "id": "/".join(
                (*(str(row[name]) for name in ("scenario", "instance", "pair")), _in_order(row["candidates"]))
            ),
            "image": kept.path(row["image"]) if kept else None,  # type: ignore[arg-type]
            "rehearsal": rehearsal,
        }
        for row in (rows if spliced else unspliced_rows)(pairs, prompts)
    ]
    return asked, (*faces.sentences(), *((REHEARSAL_NOTE,) if rehearsal else ()))


def _is_placeholder(face: Face) -> bool:
    """Whether it is one of our drawings, under whatever name and in whatever folder."""
    size, digest = face.path.stat().st_size, None
    if size in _placeholders():
        digest = hashlib.sha256(face.path.read_bytes()).hexdigest()
    return digest is not None and digest in _placeholders()[size]


@cache
def _placeholders() -> dict[int, set[str]]:
    """{size in bytes: SHA-256 of each placeholder}"""
    found: dict[int, set[str]] = {}
    for path in (DATASETS / DATASET / "sources" / "rehearsal_faces").iterdir():
        found.setdefault(path.stat().st_size, set()).add(hashlib.sha256(path.read_bytes()).hexdigest())
    return found


class _Pictures:
    """Spliced pictures as files, in the cache of datasets: once, however many prompts show them."""

    def __init__(self) -> None:
        cache = Path(datasets.config.HF_DATASETS_CACHE) / f"evenhand-{fingerprint(DATASETS / DATASET)}"
        self._folder = cache / "pictures"
        self._last: tuple[bytes, str] | None = None

    def path(self, png: bytes) -> str:
        if self._last is None or self._last[0] is not png:
            self._last = (png, str(self._kept(png)))
        return self._last[1]

    def _kept(self, png: bytes) -> Path:
        path = self._folder / f"{hashlib.sha256(png).hexdigest()}.png"
        try:
            if not path.is_file() or path.stat().st_size != len(png):  # a machine that broke down may leave it empty
                self._folder.mkdir(parents=True, exist_ok=True)
                with whole_file(path) as file:
                    file.write(png)
        except OSError as error:
            raise EvenhandError(
                f"can't keep a spliced picture in {self._folder}: {error.strerror or error}; make room there, or name "
                "another folder in the environment variable HF_DATASETS_CACHE"
            ) from error
        return path


# Pictures of persona traits


def _of_personas(
    config: str, folder: str | os.PathLike[str] | None, order: str, seed: int
) -> tuple[list[dict[str, object]], tuple[str, ...]]:
    pictures, notes = _drawings() if folder is None else _in_folder(typed_path(folder))
    prompts = {prompt["instance"]: prompt for prompt in _prompts(config)}
    place = {trait: number for number, trait in enumerate(prompts)}  # in the paper's order; folders have another
    asked = [
        row
        for trait, name, image in sorted(pictures, key=lambda picture: place[picture[0]])
        for row in _with_terms(prompts[trait], name, image, order, seed)
    ]
    return asked, notes


Picture = tuple[str, str, Mapping[str, object]]
"""Trait, name, and what a datasets.Image stores."""


def _drawings() -> tuple[list[Picture], tuple[str, ...]]:
    drawn = load_dataset(DATASET, "persona_images", split=SPLIT).cast_column("image", datasets.Image(decode=False))
    return [(row["instance"], row["id"], row["image"]) for row in drawn], ()


def _in_folder(folder: Path) -> tuple[list[Picture], tuple[str, ...]]:
    found = read_persona_images(folder)
    pictures: list[Picture] = [
        (each.trait, each.file, {"path": str(each.path.absolute()), "bytes": None}) for each in found.records
    ]
    return pictures, tuple(found.sentences())


def _with_terms(
    prompt: Mapping[str, object], name: str, image: Mapping[str, object], order: str, seed: int
) -> Iterator[dict[str, object]]:
    """One row for each order in which the social terms are listed."""
    attribute = str(prompt["attribute"])
    groups: tuple[str, ...] = tuple(prompt["candidates"])  # type: ignore[arg-type]
    rng = random.Random(derive_seed(seed, f"{attribute}/{name}", agent="terms"))
    for listed in orders(groups, rng, balanced=order == "balanced"):
        yield {
            "id": "/".join(("persona", attribute, str(prompt["instance"]), name, _in_order(listed))),
            "pair": name,
            "scenario": prompt["scenario"],
            "attribute": attribute,
            "instance": prompt["instance"],
            "prompt": filled_in(str(prompt["prompt"]), attribute, listed),
            "candidates": list(listed),
            "swapped": False,
            "image": image,
            "age": None,
            "shared": None,
            "rehearsal": False,
        }
