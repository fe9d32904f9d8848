"""A folder of faces, read: UTKFace files by their names, others by a table such as FairFace's."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path, PurePosixPath

from evenhand.benchmarks.mllm_stereotypes.faces.face import LEFT_OUT, RACES, Face, Faces, in_words
from evenhand.benchmarks.mllm_stereotypes.faces.labels import (
    RACE_OF_WORD,
    UTKFACE_NAME,
    Labels,
    as_word,
    labels_of_cells,
    labels_of_name,
)
from evenhand.benchmarks.mllm_stereotypes.faces.pictures import SUFFIXES, PictureError, decode
from evenhand.errors import EvenhandError, UsageError
from evenhand.row_files import read_rows

COLUMNS = ("file", "age", "gender", "race")

_NAMED, _LONGEST = 3, 80  # of those that a message gives as examples: how many, and characters of each

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
    names = _names(folder)
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
    try:
        decode(face.path)
    except PictureError as error:
        return error.reason
    return face


# A folder


def _names(folder: Path) -> list[str]:
    """Of everything in the folder, in no order."""
    accepted = "a folder of pictures of faces is accepted"
    try:
        return os.listdir(folder)
    except FileNotFoundError:
        raise UsageError(f"{folder} does not exist; {accepted}: name one") from None
    except NotADirectoryError:
        raise UsageError(
            f"{folder} is a file; {accepted}: name the folder, and give a list of faces as table"
        ) from None
    except OSError as error:
        raise EvenhandError(
            f"can't read {folder}: {error.strerror or error}; mend that, or name another folder"
        ) from error


def _of_names(folder: Path, names: Sequence[str]) -> Iterator[Found]:
    files = [name for name in names if not os.path.isdir(folder / name)]
    if not files:
        folders = f"no file but the folders {_some(names)}: name one of these" if names else "no file"
        raise UsageError(f"{folder} has {folders}; pictures named {UTKFACE_NAME} are accepted, or others with a table")
    for name in files:
        stem, suffix = os.path.splitext(name)
        yield name, (labels_of_name(stem) or "oddly_named") if suffix.casefold() in SUFFIXES else "other_file"


# A table


def _of_table(table: Path) -> Iterator[Found]:
    """Every row once. Rows of one file that say the same are one face; where they differ, none of them is believed."""
    read = read_rows(table, "face", "labelled faces", edited=True, known=COLUMNS)
    cells = [read.column(_column(table, read.columns, name)) for name in COLUMNS]
    rows: dict[str, list[Labels | None]] = defaultdict(list)
    for file, age, gender, race in zip(*cells):
        rows[_inside(as_word(file))].append(labels_of_cells(age, gender, race))
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
        f"({_some(columns)})"
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
    examples = f", for instance {_some(files)}" if files else ""
    reason = max(counts.keys() - {"repeated"}, key=lambda each: (counts[each], each))  # why the row repeated gave none
    advice = (_ADVICE if table is None else _ADVICE_ON_TABLES)[reason]
    if table is None:
        came = f"none of the {len(found):,} files in {folder}"
        accepted = f"JPEG, PNG, GIF and BMP pictures named {UTKFACE_NAME} (gender 0 or 1, race 0 to 3, age 18 to 65)"
        tables = [file for file in files if os.path.splitext(file)[1].casefold() in (".csv", ".tsv", ".parquet")]
        advice = f"give {_some(tables)} as table" if tables else advice
    else:
        came = f"none of the {len(found):,} rows of {table}"
        accepted = (
            f"rows whose file is a JPEG, PNG, GIF or BMP picture in {folder}, with an age of 18 to 65 (25, 20-29), a "
            f"gender (male, female) and a race ({', '.join(RACE_OF_WORD)})"
        )
        others = {labels.race for _, labels in found if isinstance(labels, Labels)} - {*RACES}
        examples += f", with other races: {_some(others)}" if others else ""
    return UsageError(f"{came} gives a face ({in_words(counts)}){examples}; accepted are {accepted}: {advice}")


def _some(names: Collection[str]) -> str:
    """The first by name; a file's name may be no text at all, and a cell a whole story."""
    shown = [name if name.strip() and name.isprintable() else ascii(name) for name in sorted(names)[:_NAMED]]
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…" for name in shown) + more
