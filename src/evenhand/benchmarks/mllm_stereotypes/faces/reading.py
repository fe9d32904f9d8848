"""A folder of faces, read: UTKFace files by their names, others by a table such as FairFace's."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from evenhand.benchmarks.mllm_stereotypes.faces.face import LEFT_OUT, RACES, Face, Faces
from evenhand.benchmarks.mllm_stereotypes.faces.labels import (
    RACE_OF_WORD,
    UTKFACE_NAME,
    Labels,
    labels_of_cells,
    labels_of_name,
)
from evenhand.benchmarks.mllm_stereotypes.faces.pictures import is_picture, unusable
from evenhand.benchmarks.mllm_stereotypes.picture_folders import in_words, names_in, some
from evenhand.errors import UsageError
from evenhand.row_files import read_rows

COLUMNS = ("file", "age", "gender", "race")

_ACCEPTED = "a folder of pictures of faces is accepted"

Found = tuple[str, Labels | str]
"""A file's name and its labels, or the reason why it has none."""


def read_faces(path: Path, table: Path | None = None) -> Faces:
    """The faces of a folder that the paper's filters keep: 18 to 65 years, four races; each is decoded once to be sure.

    Without a table, the files in the folder itself that UTKFace's names label. table: a CSV, JSON or parquet file with
    the columns file (inside the folder, with slashes), age (years, or a range such as 20-29, kept where all of it is
    within 18 to 65), gender (male, female) and race (RACE_OF_WORD has the words that are understood; others are left
    out), whatever their case. Neither the order of files nor that of rows matters.
    Raises UsageError for a folder or table that does not exist or does not fit, and for one that gives no face;
    EvenhandError where the system does not let us read.
    """
    folder = Path(path)
    names = names_in(folder, _ACCEPTED, "name the folder, and give a list of faces as table")
    found = list(_of_names(folder, names) if table is None else _of_table(Path(table)))
    records: list[Face] = []
    left_out: Counter[str] = Counter()
    for file, labels in found:
        face = _face(folder, file, labels)
        if isinstance(face, Face):
            records.append(face)
        else:
            left_out[face] += 1
    counts = {reason: left_out[reason] for reason in LEFT_OUT if left_out[reason]}
    if not records:
        raise _no_face(folder, table, found, counts)
    return Faces(tuple(sorted(records, key=lambda face: face.file)), counts, len(found))


def _face(folder: Path, file: str, labels: Labels | str) -> Face | str:
    """The face, or the reason why there is none."""
    if isinstance(labels, str):
        return labels
    if labels.age is None:
        return "age"
    if labels.race not in RACES:
        return "race"
    face = Face(folder, file, labels.age, labels.gender, labels.race)
    return unusable(face.path) or face


# A folder


def _of_names(folder: Path, names: Sequence[str]) -> Iterator[Found]:
    files = [name for name in names if not os.path.isdir(folder / name)]
    if not files:
        folders = f"no file but the folders {some(names)}: name one of these" if names else "no file"
        raise UsageError(f"{folder} has {folders}; pictures named {UTKFACE_NAME} are accepted, or others with a table")
    for name in files:
        stem, _ = os.path.splitext(name)
        yield name, (labels_of_name(stem) or "oddly_named") if is_picture(name) else "other_file"


# A table


def _of_table(table: Path) -> Iterator[Found]:
    """Every row once. Rows of one file that say the same are one face; where they differ, none of them is believed."""
    read = read_rows(table, "face", "labelled faces", edited=True, known=COLUMNS)
    cells = [read.words(_column(table, read.columns, name)) for name in COLUMNS]
    rows: dict[str, list[Labels | None]] = defaultdict(list)
    for file, age, gender, race in zip(*cells):
        rows[_inside(file)].append(labels_of_cells(age, gender, race))
    for file, labels in rows.items():
        if not file:
            yield from ((file, "oddly_named") for _ in labels)
        elif len(set(labels)) > 1:
            yield from ((file, "contradictory") for _ in labels)
        else:
            yield file, labels[0] or "unlabelled"
            yield from ((file, "repeated") for _ in labels[1:])


def _column(table: Path, columns: Sequence[str], name: str) -> str:
    found = [column for column in columns if column.strip().casefold() == name]
    if len(found) == 1:
        return found[0]
    what = f"{len(found)} columns {name!r}" if found else f"no column {name!r}"
    raise UsageError(
        f"{table} has {what}; a table with {', '.join(COLUMNS)}, one each, is accepted: rename its columns "
        f"({some(columns)})"
    )


def _inside(file: str) -> str:
    """The name without detours; "" for one that is none, or leads out of the folder: a table may come from anyone."""
    path = PurePosixPath(file)
    outside = path.is_absolute() or ".." in path.parts or not path.parts
    return "" if outside or "\0" in file else str(path)


# Nothing to use

_ADVICE = {  # where most are left out for that reason
    "other_file": "name the folder that holds the pictures",
    "oddly_named": "name another folder, or give a table of the faces' labels",
    "unlabelled": "mend the table's ages and genders",
    "contradictory": "list each file once",
    "age": "add faces of other ages",
    "race": "add faces of these races",
    "missing": "get the pictures themselves",
    "size": "crop the pictures to the faces, or make them smaller",
    "broken": "get the pictures again, whole",
}
_ADVICE_ON_TABLES = _ADVICE | {
    "oddly_named": "name files inside the folder",
    "missing": "name the folder from which the table's files are named",
}


def _no_face(folder: Path, table: Path | None, found: Sequence[Found], counts: dict[str, int]) -> UsageError:
    files = [file for file, _ in found if file]
    examples = f", for instance {some(files)}" if files else ""
    reason = max(counts.keys() - {"repeated"}, key=lambda each: (counts[each], each))  # why the row repeated gave none
    advice = (_ADVICE if table is None else _ADVICE_ON_TABLES)[reason]
    if table is None:
        came = f"none of the {len(found):,} files in {folder}"
        accepted = f"JPEG, PNG, GIF and BMP pictures named {UTKFACE_NAME} (gender 0 or 1, race 0 to 3, age 18 to 65)"
        tables = [file for file in files if os.path.splitext(file)[1].casefold() in (".csv", ".tsv", ".parquet")]
        advice = f"give {some(tables)} as table" if tables else advice
    else:
        came = f"none of the {len(found):,} rows of {table}"
        accepted = (
            f"rows whose file is a JPEG, PNG, GIF or BMP picture in {folder}, with an age of 18 to 65 (25, 20-29), a "
            f"gender (male, female) and a race ({', '.join(RACE_OF_WORD)})"
        )
        others = {labels.race for _, labels in found if isinstance(labels, Labels)} - {*RACES}
        examples += f", with other races: {some(others)}" if others else ""
    return UsageError(
        f"{came} gives a face ({in_words(counts, LEFT_OUT)}){examples}; accepted are {accepted}: {advice}"
    )
