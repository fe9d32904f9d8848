"""Faces with labels, UTKFace's by file name, others by a table such as FairFace's; and pairs of them that differ in one
attribute, with their rows (Jiang et al., sections 3.1 and 4).
"""

from __future__ import annotations

import os
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path, PurePosixPath

from evenhand.benchmarks.mllm_stereotypes.options import GENDERS, GROUPS, LIMIT, RACES, Attribute
from evenhand.benchmarks.mllm_stereotypes.pictures import (
    NO_PICTURE,
    describe_left_out,
    find_fault,
    is_picture,
    list_folder,
    list_some,
)
from evenhand.errors import UsageError, unknown_name
from evenhand.flow.episode import derive_seed
from evenhand.row_files import read_rows

# "below the general legal working age (under 18) and beyond the traditional retirement age (over 65)" (section 4)
YOUNGEST, OLDEST = 18, 65

# Why a file of a folder, or a row of a table, is not used.
ODDLY_NAMED = "a name that is not understood"
UNLABELLED = "an age or a gender that is not understood"
OTHER_AGE = f"an age under {YOUNGEST} or over {OLDEST}, or a range that reaches beyond"
OTHER_RACE = f"a race other than {', '.join(RACES)}"

# As UTKFace's page has it: gender 0 male, 1 female; race 0 white, 1 black, 2 Asian, 3 Indian, 4 others. The cropped
# faces end in .jpg.chip.jpg, and some names have a blank or lack a dot after the date.
UTKFACE_NAME = "[age]_[gender]_[race]_[date&time].jpg"
_UTKFACE = re.compile(r"([0-9]{1,3})_([01])_([0-4])_[0-9][ -~]*")

# FairFace's words and the paper's. FairFace's Middle Eastern and Latino_Hispanic have no counterpart.
RACE_OF_WORD = {
    "white": "white", "black": "black", "indian": "Indian",
    "asian": "Asian", "east asian": "Asian", "southeast asian": "Asian",
}  # fmt: skip
_YEARS = re.compile(r"([0-9]{1,3})(?:\s*[-–]\s*([0-9]{1,3}))?")
_OR_MORE = re.compile(r"(?:more than|over)\s*[0-9]{1,3}|[0-9]{1,3}\s*\+", re.IGNORECASE)

COLUMNS = ("file", "age", "gender", "race")

Row = dict[str, object]
Labels = tuple[str, str, str]
"""Age, gender, race."""


@dataclass(frozen=True)
class Face:
    """file: its name inside the folder, with slashes. age: in years ("25") or a range ("20-29")."""

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
        """Return the group of the other attribute, which both faces of a pair have."""
        return self.race if attribute == "gender" else self.gender


@dataclass(frozen=True)
class Pair:
    """Two faces in the order drawn. id: what they share and who they are, the same in either order."""

    id: str
    attribute: Attribute
    left: Face
    right: Face


# Reading


def read_faces(path: Path, table: Path | None = None) -> tuple[list[Face], tuple[str, ...]]:
    """Read the faces that the paper's filters keep: 18 to 65 years, four races, pictures that can be decoded.

    Args:
        path: a folder of pictures. Without a table, those with UTKFace's names are read.
        table: a CSV, JSON or parquet file with the columns file (inside the folder, with slashes), age (years, or a
            range such as 20-29), gender (male, female) and race (RACE_OF_WORD), in any case.

    Returns the faces sorted by file, and for a report a note on how many were left out and why, if any.
    Raises UsageError for a folder or table that doesn't exist, doesn't fit or gives no face; EvenhandError for one that
    can't be read.
    """
    folder = Path(path)
    names = list_folder(folder, "expected a folder of pictures of faces")
    found = list(_find_in_names(folder, names) if table is None else _find_in_table(Path(table)))
    faces, reasons = [], []
    for file, labels in found:
        fault = labels if isinstance(labels, str) else find_fault(folder / file)
        if fault:
            reasons.append(fault)
        else:
            faces.append(Face(folder, file, *labels))
    why = describe_left_out(reasons)
    if not faces:
        where = f"{len(found):,} files in {folder}" if table is None else f"{len(found):,} rows of {table}"
        examples = list_some([file for file, _ in found if file])
        raise UsageError(
            f"none of the {where} gives a face ({why}){examples and f', for instance {examples}'}; accepted are JPEG, "
            f"PNG, GIF and BMP pictures of faces of {YOUNGEST} to {OLDEST} years, named {UTKFACE_NAME}, or listed in a "
            f"table with the columns {', '.join(COLUMNS)} (races: {', '.join(RACE_OF_WORD)})"
        )
    note = f"Faces left out: {len(reasons):,} of {len(found):,} ({why})."
    return sorted(faces, key=lambda face: face.file), (note,) if reasons else ()


def _find_in_names(folder: Path, names: Sequence[str]) -> Iterator[tuple[str, Labels | str]]:
    """Yield each file with its labels, or with the reason why it has none."""
    files = [name for name in names if not os.path.isdir(folder / name)]
    if not files:
        folders = f"no file but the folders {list_some(names)}: name one of these" if names else "no file"
        raise UsageError(f"{folder} has {folders}; expected pictures named {UTKFACE_NAME}, or others with a table")
    for name in files:
        found = _UTKFACE.fullmatch(os.path.splitext(name)[0])
        if found is None or not is_picture(name):
            yield name, ODDLY_NAMED if is_picture(name) else NO_PICTURE
        else:
            age, gender, race = map(int, found.groups())
            yield name, _check_labels(age, age, GENDERS[gender], (*RACES, "others")[race])


def _find_in_table(table: Path) -> Iterator[tuple[str, Labels | str]]:
    """Yield each row as `_find_in_names` does. Rows of one file with the same labels are one face; with others none."""
    read = read_rows(table, "face", "labelled faces", edited=True, known=COLUMNS)
    cells = []
    for name in COLUMNS:
        columns = [column for column in read.columns if column.strip().casefold() == name]
        if len(columns) != 1:
            raise UsageError(
                f"{table} has {len(columns) or 'no'} column{'s' * (len(columns) > 1)} {name!r}; expected "
                f"{', '.join(COLUMNS)}, one of each: rename its columns ({list_some(read.columns)})"
            )
        cells.append(read.words(columns[0]))
    rows: dict[str, list[Labels | str]] = defaultdict(list)
    for file, age, gender, race in zip(*cells):
        path = PurePosixPath(file)
        outside = path.is_absolute() or ".." in path.parts or not path.parts or "\0" in file
        rows["" if outside else str(path)].append(_parse_labels(age, gender, race))
    for file, labels in rows.items():
        if not file or len(set(labels)) > 1:
            yield from ((file, "listed again with other labels" if file else ODDLY_NAMED) for _ in labels)
        else:
            yield file, labels[0]
            yield from ((file, "listed before with the same labels") for _ in labels[1:])


def _parse_labels(age: str, gender: str, race: str) -> Labels | str:
    years = _YEARS.fullmatch(age)
    first, last = (int(years[1]), int(years[2] or years[1])) if years else (OLDEST + 1, OLDEST + 1)
    if gender.casefold() not in GENDERS or not (years or _OR_MORE.fullmatch(age)) or first > last:
        return UNLABELLED
    return _check_labels(first, last, gender.casefold(), RACE_OF_WORD.get(race.casefold().replace("_", " "), race))


def _check_labels(first: int, last: int, gender: str, race: str) -> Labels | str:
    """Return the labels of a face that the paper's filters keep, or the reason why it is left out."""
    if first < YOUNGEST or last > OLDEST:
        return OTHER_AGE
    return (str(first) if first == last else f"{first}-{last}", gender, race) if race in RACES else OTHER_RACE


# Pairs


def split_pair_id(pair: str) -> tuple[str, str]:
    """Return the files of a pair's faces: of the group that is first in GROUPS, and of the other."""
    one, other = pair.split("/", 3)[3].split("//")
    return one, other


def draw_pairs(
    faces: Iterable[Face], attribute: Attribute, seed: int, limit: int = LIMIT, reuse: bool = True
) -> list[Pair]:
    """Draw up to `limit` pairs of each age and shared attribute, for race of each two races there; by age.

    Of k faces of one group and m of the other, min(limit, k·m) of the k·m pairs are drawn, none twice; a face may be in
    several. Without reuse, as in the paper, min(limit, k, m) are drawn, and a face is in one at most. The sides are
    drawn, too. Each draw has its own seed: faces of other ages or groups don't change it, and the pairs of a smaller
    limit are the first of a larger one's.
    Raises UsageError for an unknown attribute, a limit below 1, and faces without a pair.
    """
    if attribute not in GROUPS:
        raise unknown_name("attribute", attribute, list(GROUPS))
    if limit < 1:
        raise UsageError(f"the limit of pairs must be 1 or more (the paper: {LIMIT}), got {limit}")
    cells: dict[tuple[int, str, str], dict[str, list[Face]]] = defaultdict(lambda: defaultdict(list))
    for face in sorted(faces, key=lambda face: face.file):
        cell = int(face.age.split("-")[0]), face.age, face.shared(attribute)
        cells[cell][face.group(attribute)].append(face)
    pairs = []
    for (_, age, shared), of_cell in sorted(cells.items()):
        for first, second in combinations(GROUPS[attribute], 2):
            key = f"{attribute}/{age}/{shared}"
            rng = random.Random(derive_seed(seed, f"{key}/{first}/{second}", agent="faces"))
            draw = _draw if reuse else _draw_once
            for one, other in draw(of_cell[first], of_cell[second], limit, rng):
                # A name inside a folder never has two slashes in a row: they separate the two names.
                pair_id = f"{key}/{one.file}//{other.file}"
                left, right = (one, other) if rng.random() < 0.5 else (other, one)
                pairs.append(Pair(pair_id, attribute, left, right))
    if not pairs:
        counts = Counter(face.group(attribute) for face in faces)
        listed = ", ".join(f"{group}: {counts[group]:,}" for group in GROUPS[attribute])
        raise UsageError(
            f"no pair among {counts.total():,} faces ({listed}); a pair for {attribute} takes two faces of the same "
            f"age and {'race' if attribute == 'gender' else 'gender'} that differ in {attribute}: add such faces"
        )
    return pairs


def _draw(ones: Sequence[Face], others: Sequence[Face], limit: int, rng: random.Random) -> Iterator[tuple[Face, Face]]:
    """Yield the first combinations of a shuffle, without listing all: some ages have 100,000s of them.

    Only rng.random() is used, whose numbers Python keeps from version to version.
    """
    n = len(ones) * len(others)
    moved: dict[int, int] = {}  # what the shuffle has put in another's place so far
    for place in range(min(limit, n)):
        chosen = place + int(rng.random() * (n - place))
        combination = moved.get(chosen, chosen)
        moved[chosen] = moved.get(place, place)
        one, other = divmod(combination, len(others))
        yield ones[one], others[other]


def _draw_once(
    ones: Sequence[Face], others: Sequence[Face], limit: int, rng: random.Random
) -> Iterator[tuple[Face, Face]]:
    """Yield pairs of two shuffles: the smaller group bounds their number. Only rng.random() is used, as above."""
    shuffled = [sorted(faces, key=lambda _: rng.random()) for faces in (ones, others)]
    yield from list(zip(*shuffled))[:limit]


def make_rows(
    pairs: Iterable[Pair], prompts: Iterable[Mapping[str, object]], orders: Sequence[bool] = (False, True)
) -> Iterator[Row]:
    """Yield each pair with each prompt of its attribute, by default twice: as drawn, and swapped. No file is opened.

    prompts: with scenario, attribute, instance and prompt. orders: values of `swapped`. Columns: pair, these four,
    candidates (left to right), swapped, left, right (paths), age, shared.
    """
    asked = [{name: each[name] for name in ("scenario", "attribute", "instance", "prompt")} for each in prompts]
    for pair in pairs:
        for prompt in (each for each in asked if each["attribute"] == pair.attribute):
            for swapped in orders:
                left, right = (pair.right, pair.left) if swapped else (pair.left, pair.right)
                yield {
                    "pair": pair.id,
                    **prompt,
                    "candidates": [left.group(pair.attribute), right.group(pair.attribute)],
                    "swapped": swapped,
                    "left": str(left.path),
                    "right": str(right.path),
                    "age": left.age,
                    "shared": left.shared(pair.attribute),
                }
