"""The folder of a run: config.json, images.csv, and a folder for each trait with its pictures.

A picture is painted into `not_kept` inside the trait's folder, and comes out of it when it is chosen. So a trait's
folder holds chosen pictures only, and none before the trait is finished. What is not chosen stays: it took as long to
paint, people may want to see what the detector threw out, and whoever needs the space can delete `not_kept` (a run that
goes on misses nothing but the pictures of traits that aren't finished).
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path

from PIL import Image

from evenhand.benchmarks.mllm_stereotypes.faces.pictures import PictureError, decode
from evenhand.benchmarks.mllm_stereotypes.persona_images.traits import folder_of
from evenhand.errors import EvenhandError, UsageError
from evenhand.flow.run_folder import RunFolder
from evenhand.row_files import as_text, read_rows
from evenhand.row_files.spreadsheets import csv_text, unescaped
from evenhand.whole_files import explained, remove_remains, whole_file, write_whole

CONFIG, TABLE, NOT_KEPT = "config.json", "images.csv", "not_kept"

Config = Mapping[str, str | int | None]


@dataclass(frozen=True)
class Row:
    """A line of images.csv.

    file: inside the run's folder, with slashes; empty for a picture that the painter withheld.
    persons_found: None where nobody looked. kept: None until the trait is finished.
    """

    trait: str
    file: str
    number: int
    seed: int
    prompt: str
    persons_found: int | None
    kept: bool | None
    painter: str
    detector: str


COLUMNS = tuple(each.name for each in fields(Row))
_KEPT = {"true": True, "false": False, "": None}


class PersonaFolder:
    """Every file is written whole: beside its place first, then moved there."""

    def __init__(self, path: Path):
        self.path = path

    @classmethod
    @contextmanager
    def begin(cls, path: Path, config: Config) -> Iterator[PersonaFolder]:
        """A new folder for a run of this configuration, or the one that was begun with the same; locked within.

        Raises UsageError for a folder of another configuration, or of something else.
        """
        folder = cls(path)
        folder._refuse_other(config)
        with explained(path):
            path.mkdir(parents=True, exist_ok=True)
        with RunFolder(path).locked():
            folder._refuse_other(config)
            remove_remains(path)
            if not (path / CONFIG).is_file():
                write_whole(path / CONFIG, json.dumps(dict(config), indent=2, ensure_ascii=False) + "\n")
            yield folder

    def _refuse_other(self, config: Config) -> None:
        path, file = self.path, self.path / CONFIG
        if file.is_file():
            begun = _read_config(file)
            other = [
                f"{name}: {begun.get(name)!r}, not {config.get(name)!r}"
                for name in sorted({*begun, *config})
                if begun.get(name) != config.get(name)
            ]
            if other:
                raise UsageError(
                    f"{path} holds pictures of other settings ({'; '.join(other)}). Choose another --output, or repeat "
                    "its settings to go on with it"
                )
        elif not (RunFolder(path).is_free() or file.is_file()):  # in this order: another process may begin meanwhile
            raise UsageError(
                f"{path} exists and is no folder of persona images that this began; choose another --output"
            )

    # Pictures

    def file(self, trait: str, number: int, kept: bool | None) -> str:
        """A picture's place in the folder: Art_Lover/0001.png, or Art_Lover/not_kept/0001.png."""
        return "/".join([folder_of(trait), *([] if kept else [NOT_KEPT]), f"{number:04d}.png"])

    def find(self, trait: str, number: int) -> Path | None:
        """Where the picture is, chosen or not; None where it is nowhere."""
        places = [self.path / self.file(trait, number, kept) for kept in (True, False)]
        return next(filter(Path.is_file, places), None)

    def load(self, trait: str, number: int) -> Image.Image | None:
        """A picture that was painted; None where it is not there, or damaged."""
        path = self.find(trait, number)
        try:
            return None if path is None else decode(path)
        except PictureError:
            return None

    def save(self, trait: str, number: int, image: Image.Image) -> None:
        """Among those that are not kept, so far. Raises EvenhandError where it can't be written."""
        content = io.BytesIO()
        image.save(content, "PNG")
        path = self.path / self.file(trait, number, kept=None)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(path) as file:
                file.write(content.getvalue())
        except OSError as error:
            raise _cannot_write(path, error) from error

    def move(self, trait: str, number: int, kept: bool) -> None:
        """To where it belongs, unless it is there, or was deleted."""
        place, other = (self.path / self.file(trait, number, each) for each in (kept, not kept))
        try:
            if other.is_file():
                place.parent.mkdir(parents=True, exist_ok=True)
                os.replace(other, place)
        except OSError as error:
            raise _cannot_write(place, error) from error

    # The table

    def read_table(self) -> dict[tuple[str, int], Row]:
        """By trait and number; empty where there is none yet. Raises EvenhandError for one that can't be read."""
        path = self.path / TABLE
        if not path.is_file():
            return {}
        try:
            read = read_rows(path, "picture", "pictures", known=COLUMNS)
            if tuple(read.columns) != COLUMNS:
                raise ValueError(f"its columns are not {', '.join(COLUMNS)}")
            rows = [_row(line) for line in zip(*(map(unescaped, map(as_text, read.cells(name))) for name in COLUMNS))]
        except (EvenhandError, ValueError, KeyError) as error:
            raise EvenhandError(
                f"{path} can't be read ({error}). Take it away and run the same command again: pictures that lie in "
                "the folder are not painted again"
            ) from error
        return {(row.trait, row.number): row for row in rows}

    def write_table(self, rows: Iterable[Row]) -> None:
        write_whole(self.path / TABLE, csv_text(COLUMNS, map(_cells, rows)))


def _row(line: Sequence[str]) -> Row:
    trait, file, number, seed, prompt, persons, kept, painter, detector = line
    found = int(persons) if persons else None
    return Row(trait, file, int(number), int(seed), prompt, found, _KEPT[kept], painter, detector)


def _cells(row: Row) -> list[str]:
    """In the order of the columns; None is nothing."""
    return [as_text(cell) for cell in vars(row).values()]


def _read_config(file: Path) -> dict[str, object]:
    try:
        config = json.loads(file.read_text(encoding="utf-8"))
        if not isinstance(config, dict):
            raise ValueError("no JSON object")
    except (OSError, ValueError, RecursionError) as error:
        raise EvenhandError(f"{file} can't be read ({error}); choose another --output") from error
    return config


def _cannot_write(path: Path, error: OSError) -> EvenhandError:
    return EvenhandError(
        f"can't write {path}: {error.strerror or error}. Mend that (a full disk, say) and run the same command again: "
        "what was painted is kept"
    )
