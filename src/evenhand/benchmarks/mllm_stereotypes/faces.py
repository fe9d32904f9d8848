"""Faces with labels: UTKFace's by file name, others by a table such as FairFace's (Jiang et al., section 4)."""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from evenhand.benchmarks.mllm_stereotypes.options import GENDERS, RACES, Attribute
from evenhand.benchmarks.mllm_stereotypes.pictures import (
    FAULTS,
    describe_left_out,
    find_fault,
    is_picture,
    list_folder,
    list_some,
)
from evenhand.errors import UsageError
from evenhand.row_files import read_rows

# "below the general legal working age (under 18) and beyond the traditional retirement age (over 65)" (section 4)
YOUNGEST, OLDEST = 18, 65

LEFT_OUT: dict[str, str] = {
    "other_file": "no picture, by the ending of its name",
    "oddly_named": "a name that is not understood",
    "unlabelled": "an age or a gender that is not understood",
    "repeated": "listed before with the same labels",
    "contradictory": "listed again with other labels",
    "age": f"an age under {YOUNGEST} or over {OLDEST}, or a range that reaches beyond",
    "race": f"a race other than {', '.join(RACES)}",
    **FAULTS,
}
"""Why a file of a folder, or a row of a table, is not used."""

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
_ACCEPTED = "a folder of pictures of faces is accepted"


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
class Faces:
    """Faces sorted by file. left_out: the number of files or rows without a face, by reason; read: of all."""

    records: tuple[Face, ...]
    left_out: Mapping[str, int]
    read: int

    def sentences(self) -> tuple[str, ...]:
        """Say for a report how many were left out, and why."""
        if not self.left_out:
            return ()
        why = describe_left_out(self.left_out, LEFT_OUT)
        return (f"Faces left out: {sum(self.left_out.values()):,} of {self.read:,} ({why}).",)


Labels = tuple[str, str, str]
"""Age, gender, race."""

Found = tuple[str, Labels | str]
"""A file with its labels, or with the reason why it is left out."""


def read_faces(path: Path, table: Path | None = None) -> Faces:
    """Read the faces that the paper's filters keep: 18 to 65 years, four races, pictures that can be decoded.

    Without a table, the files of the folder that have UTKFace's names. table: a CSV, JSON or parquet file with the
    columns file (inside the folder, with slashes), age (years, or a range such as 20-29), gender (male, female) and
    race (RACE_OF_WORD), in any case.
    Raises UsageError for a folder or table that doesn't exist, doesn't fit or gives no face; EvenhandError for one that
    can't be read.
    """
    folder = Path(path)
    names = list_folder(folder, _ACCEPTED)
    found = list(_find_in_names(folder, names) if table is None else _find_in_table(Path(table)))
    faces = [_make_face(folder, *each) for each in found]
    left_out = Counter(each for each in faces if isinstance(each, str))
    records = sorted((each for each in faces if isinstance(each, Face)), key=lambda face: face.file)
    if not records:
        where = f"{len(found):,} files in {folder}" if table is None else f"{len(found):,} rows of {table}"
        examples = list_some([file for file, _ in found if file])
        why = describe_left_out(left_out, LEFT_OUT)
        raise UsageError(
            f"none of the {where} gives a face ({why}){examples and f', for instance {examples}'}; accepted are JPEG, "
            f"PNG, GIF and BMP pictures of faces of {YOUNGEST} to {OLDEST} years, named {UTKFACE_NAME}, or listed in a "
            f"table with the columns {', '.join(COLUMNS)} (races: {', '.join(RACE_OF_WORD)})"
        )
    return Faces(tuple(records), {reason: left_out[reason] for reason in LEFT_OUT if left_out[reason]}, len(found))


def _make_face(folder: Path, file: str, labels: Labels | str) -> Face | str:
    """Return the face, or the reason why there is none."""
    return labels if isinstance(labels, str) else find_fault(folder / file) or Face(folder, file, *labels)


def _find_in_names(folder: Path, names: Sequence[str]) -> Iterator[Found]:
    files = [name for name in names if not os.path.isdir(folder / name)]
    if not files:
        folders = f"no file but the folders {list_some(names)}: name one of these" if names else "no file"
        raise UsageError(f"{folder} has {folders}; pictures named {UTKFACE_NAME} are accepted, or others with a table")
    for name in files:
        found = _UTKFACE.fullmatch(os.path.splitext(name)[0])
        if found is None or not is_picture(name):
            yield name, "oddly_named" if is_picture(name) else "other_file"
        else:
            age, gender, race = map(int, found.groups())
            yield name, _check_labels(age, age, GENDERS[gender], (*RACES, "others")[race])


def _find_in_table(table: Path) -> Iterator[Found]:
    """Read every row. Rows of one file with the same labels are one face; with different labels none."""
    read = read_rows(table, "face", "labelled faces", edited=True, known=COLUMNS)
    cells = []
    for name in COLUMNS:
        columns = [column for column in read.columns if column.strip().casefold() == name]
        if len(columns) != 1:
            raise UsageError(
                f"{table} has {len(columns) or 'no'} column{'s' * (len(columns) > 1)} {name!r}; a table with "
                f"{', '.join(COLUMNS)}, one each, is accepted: rename its columns ({list_some(read.columns)})"
            )
        cells.append(read.words(columns[0]))
    rows: dict[str, list[Labels | str]] = defaultdict(list)
    for file, age, gender, race in zip(*cells):
        rows[_path_inside(file)].append(_parse_labels(age, gender, race))
    for file, labels in rows.items():
        if not file or len(set(labels)) > 1:
            yield from ((file, "contradictory" if file else "oddly_named") for _ in labels)
        else:
            yield file, labels[0]
            yield from ((file, "repeated") for _ in labels[1:])


def _path_inside(file: str) -> str:
    """Normalise a path inside the folder; "" for one that is none, or leads out of it."""
    path = PurePosixPath(file)
    outside = path.is_absolute() or ".." in path.parts or not path.parts
    return "" if outside or "\0" in file else str(path)


def _parse_labels(age: str, gender: str, race: str) -> Labels | str:
    years = _YEARS.fullmatch(age)
    first, last = (int(years[1]), int(years[2] or years[1])) if years else (OLDEST + 1, OLDEST + 1)
    if gender.casefold() not in GENDERS or not (years or _OR_MORE.fullmatch(age)) or first > last:
        return "unlabelled"
    return _check_labels(first, last, gender.casefold(), RACE_OF_WORD.get(race.casefold().replace("_", " "), race))


def _check_labels(first: int, last: int, gender: str, race: str) -> Labels | str:
    """Return the labels of a face that the paper's filters keep, or the reason why it is left out."""
    if first < YOUNGEST or last > OLDEST:
        return "age"
    return (str(first) if first == last else f"{first}-{last}", gender, race) if race in RACES else "race"
