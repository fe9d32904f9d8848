"""Build the rows that a model is asked: prompts with pairs of faces, or with pictures of persona traits.

They are built when needed, since faces are never shipped: occupation_gender, occupation_race, descriptor_gender,
descriptor_race (vision modality, Jiang et al., section 3.1), persona_gender, persona_race (language modality, 3.2).
"""

from __future__ import annotations

import hashlib
import os
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import get_args

import datasets

from evenhand.benchmarks.mllm_stereotypes import official
from evenhand.benchmarks.mllm_stereotypes.faces import Row, draw_pairs, make_rows, read_faces
from evenhand.benchmarks.mllm_stereotypes.options import (
    CONFIGS,
    DATASET,
    LIMIT,
    OF_FACES,
    OF_PERSONAS,
    PICTURES,
    REHEARSAL,
    REHEARSAL_NOTE,
    SPLIT,
    Attribute,
    Order,
)
from evenhand.benchmarks.mllm_stereotypes.persona_images import read_persona_images
from evenhand.benchmarks.mllm_stereotypes.pictures import splice, splice_as_published
from evenhand.errors import EvenhandError, UsageError, unknown_name
from evenhand.flow.episode import derive_seed
from evenhand.library import DATASETS, fingerprint, load_dataset
from evenhand.paths import typed_path
from evenhand.whole_files import whole_file

__all__ = ["CONFIGS", "FEATURES", "load", "read_notes"]

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
        "official": datasets.Value("bool"),
    }
)
PLACEHOLDERS = DATASETS / DATASET / "sources" / "rehearsal_faces"

# How a persona prompt's social terms are joined isn't printed. Table A6 has "a" before the slot for gender and none for
# race, whose answers are read by 'a white', 'a black', 'an Asian', 'an Indian' (Appendix A).
SLOT = "[SOCIAL TERMS]"
TERMS = {
    "gender": {"male": "male", "female": "female"},
    "race": {"white": "a white", "black": "a black", "Asian": "an Asian", "Indian": "an Indian"},
}

Folder = str | os.PathLike[str]
Picture = tuple[str, str, Mapping[str, object]]
"""Trait, name, and what a datasets.Image stores."""


def load(
    config: str,
    split: str | None = None,
    *,
    source: str = "evenhand",
    faces: Folder | None = None,
    faces_table: Folder | None = None,
    images: Folder | None = None,
    pairs: int = LIMIT,
    order: Order = "paper",
    seed: int = 0,
    spliced: bool = True,
) -> datasets.Dataset | datasets.DatasetDict:
    """Build the rows of one of CONFIGS, with the columns of FEATURES.

    Args:
        source: "official" builds the authors' queries: pairs without reuse of a face, each asked in one order, spliced
            with a bar between; their prompts, with social terms in braces; 200 pictures a trait at most.
        faces: a folder of UTKFace files, or of those that `faces_table` lists (see `faces.read_faces`), or "rehearsal".
        pairs: the most pairs of each age and shared attribute (20 in the paper, section 4).
        images: a folder of pictures for each persona trait; by default the drawings of `persona_images`.
        order: of a persona prompt's social terms: one drawn for each picture, as in the paper, or balanced: as many as
            there are terms, each of them in each place once.
        seed: of the pairs, sides and orders drawn.
        spliced: False leaves `image` of faces null and gives their paths, `left` and `right`.

    Returns rows with pair (what is shown: both faces, or the picture), candidates (left to right, or as listed),
    swapped (faces exchanged), age and shared (what both faces have; null for pictures), rehearsal (placeholders),
    official (of the authors' protocol).
    `info.description` says what was left out.
    Raises UsageError for options that don't fit and pictures that can't be used; EvenhandError where spliced pictures
    can't be stored.
    """
    if split not in (None, SPLIT):
        raise UsageError(f"{DATASET} has no split {split!r}; expected {SPLIT!r}")
    if order not in get_args(Order):
        raise unknown_name("order", order, get_args(Order))
    if source not in ("evenhand", "official"):
        raise unknown_name("source", source, ["evenhand", "official"])
    published = source == "official"
    if config in OF_FACES:
        if images is not None or order != "paper":
            raise UsageError(f"{config} shows faces: images and order are of {', '.join(OF_PERSONAS)}")
        if faces is None:
            raise UsageError(f"{config} needs faces, which are never shipped: --faces DIR (or --faces {REHEARSAL})")
        rows, notes = _build_face_rows(config, faces, faces_table, pairs, seed, published)
        rows = _splice(rows) if spliced else rows
    else:
        if faces is not None or faces_table is not None or pairs != LIMIT:
            raise UsageError(f"{config} shows things: faces, faces_table and pairs are of {', '.join(OF_FACES)}")
        rows, notes = _build_persona_rows(config, images, order, seed, published)
    features = FEATURES if spliced else datasets.Features({**FEATURES, "left": _TEXT, "right": _TEXT})
    kept = list(rows)
    built = datasets.Dataset.from_dict(
        {name: [row.get(name) for row in kept] for name in features},
        features=features,
        info=datasets.DatasetInfo(description="\n".join(notes), features=features),
        split=datasets.Split.TEST,
    )
    return built if split else datasets.DatasetDict({SPLIT: built})


def read_notes(built: datasets.Dataset) -> tuple[str, ...]:
    """Return the notes of rows that `load` built, alone or concatenated."""
    return tuple(dict.fromkeys(line for line in (built.info.description or "").split("\n") if line))


def _load_prompts(config: str) -> list[Row]:
    scenario, attribute = config.split("_")
    return [each for each in load_dataset(DATASET, scenario, split=SPLIT) if each["attribute"] == attribute]


def _make_id(row: Row, *names: str) -> str:
    """Join columns and the groups in order: with another seed, another order is another query."""
    columns = (*(str(row[name]) for name in names), "-".join(row["candidates"]))  # type: ignore[arg-type]
    return "/".join((*(["official"] if row["official"] else []), *columns))


# Pairs of faces


def _build_face_rows(
    config: str, folder: Folder, table: Folder | None, limit: int, seed: int, published: bool
) -> tuple[Iterable[Row], tuple[str, ...]]:
    attribute: Attribute = "gender" if config.endswith("gender") else "race"
    path = PLACEHOLDERS if folder == REHEARSAL else typed_path(folder)
    faces, notes = read_faces(path, None if table is None else typed_path(table))
    rehearsal = any(face.path.read_bytes() in _read_placeholders() for face in faces)
    prompts = _load_prompts(config)
    if published:
        prompts = [{**each, "prompt": official.SIDE_PROMPT.text.format(**each)} for each in prompts]
    pairs = draw_pairs(faces, attribute, seed, limit, reuse=not published)
    marks = {"rehearsal": rehearsal, "official": published}
    rows = [
        {**row, **marks, "id": _make_id(row | marks, "scenario", "instance", "pair")}
        for row in make_rows(pairs, prompts, (False,) if published else (False, True))
    ]
    return rows, (*notes, *((REHEARSAL_NOTE,) if rehearsal else ()))


@cache
def _read_placeholders() -> frozenset[bytes]:
    """Return our drawings, which are known whatever their name and folder."""
    return frozenset(path.read_bytes() for path in PLACEHOLDERS.iterdir())


def splice_faces(row: Mapping[str, object]) -> bytes:
    """Encode the two faces of a row side by side."""
    left, right = Path(str(row["left"])), Path(str(row["right"]))
    return splice_as_published(left, right) if row["official"] else splice(left, right)


def _splice(rows: Iterable[Row]) -> Iterator[Row]:
    """Add the spliced pictures, stored once each in the cache of datasets, however many prompts show them."""
    folder = Path(datasets.config.HF_DATASETS_CACHE) / f"evenhand-{fingerprint(DATASETS / DATASET)}" / "pictures"
    for row in rows:
        content = splice_faces(row)
        path = folder / f"{hashlib.sha256(content).hexdigest()}.{'jpg' if row['official'] else 'png'}"
        try:
            if not path.is_file() or path.stat().st_size != len(content):  # a crash may leave it empty
                folder.mkdir(parents=True, exist_ok=True)
                with whole_file(path) as file:
                    file.write(content)
        except OSError as error:
            what = f"can't keep a spliced picture in {folder}: {error.strerror or error}"
            raise EvenhandError(f"{what}; free space there, or set HF_DATASETS_CACHE to another folder") from error
        yield {**row, "image": str(path)}


# Pictures of persona traits


def _build_persona_rows(
    config: str, folder: Folder | None, order: Order, seed: int, published: bool
) -> tuple[Iterable[Row], tuple[str, ...]]:
    pictures: list[Picture]
    notes: tuple[str, ...] = ()
    if folder is None:
        drawn = load_dataset(DATASET, "persona_images", split=SPLIT).cast_column("image", datasets.Image(decode=False))
        pictures = [(row["instance"], row["id"], row["image"]) for row in drawn]
    else:
        images, notes = read_persona_images(typed_path(folder))
        pictures = [(each.trait, each.file, {"path": str(each.path.absolute()), "bytes": None}) for each in images]
    if published:
        pictures = _draw_pictures(pictures, seed)
    rows = (
        row
        for prompt in _load_prompts(config)
        for trait, name, image in pictures
        if trait == prompt["instance"]
        for row in _list_terms(
            {**prompt, "pair": name, "image": image, "swapped": False, "rehearsal": False, "official": published},
            order,
            seed,
        )
    )
    return rows, notes


def _draw_pictures(pictures: Iterable[Picture], seed: int) -> list[Picture]:
    """Draw the paper's number of pictures of each trait (section 4), or all of fewer; their order stays."""
    traits: dict[str, list[tuple[float, int, Picture]]] = defaultdict(list)
    for place, picture in enumerate(pictures):
        trait, name, _ = picture
        rng = random.Random(derive_seed(seed, f"{trait}/{name}", agent="pictures"))
        traits[trait].append((rng.random(), place, picture))
    kept = (each for of_trait in traits.values() for each in sorted(of_trait)[:PICTURES])
    return [picture for _, _, picture in sorted(kept, key=lambda each: each[1])]


def _list_terms(row: Row, order: Order, seed: int) -> Iterator[Row]:
    """Yield the row with its social terms in a random order; balanced: with each rotation of it, too."""
    attribute: Attribute = "gender" if row["attribute"] == "gender" else "race"
    groups = row["candidates"]
    rng = random.Random(derive_seed(seed, f"{attribute}/{row['pair']}", agent="terms"))
    # Only rng.random() is used, whose numbers Python keeps from version to version.
    shuffled: Sequence[str] = sorted(groups, key=lambda _: rng.random())  # type: ignore[call-overload]
    for first in range(len(shuffled) if order == "balanced" else 1):
        listed = [*shuffled[first:], *shuffled[:first]]
        if row["official"]:
            prompt = official.fill_terms(str(row["prompt"]), attribute, SLOT, listed)
        else:
            *before, last = (TERMS[attribute][group] for group in listed)
            terms = f"{', '.join(before)}{',' if len(before) > 1 else ''} or {last}"
            prompt = str(row["prompt"]).replace(SLOT, terms)
        asked = {**row, "candidates": listed, "prompt": prompt}
        yield {**asked, "id": _make_id(asked, "scenario", "attribute", "instance", "pair")}
