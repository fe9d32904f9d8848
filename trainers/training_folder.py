"""The output directory of a training: locked, resumed by the same command, refused to any other."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from evenhand.errors import UsageError
from evenhand.trainers.processes import is_main
from evenhand.whole_files import explained, remove_remains, write_whole

ASKED = ".asked.json"  # the options, until the training is finished
UNFINISHED = ".training"  # checkpoints to resume from


@contextmanager
def begun(asked: Mapping[str, Any], output: Path, result: str) -> Iterator[None]:
    """Hold the folder, and tidy it at the end; of several processes the main one does so.

    What fails before anything was learned leaves the folder as it was. result: the file that a training ends with.
    """
    if not is_main():
        yield
        return
    from evenhand.flow.run_folder import LOCK, RunFolder  # imports pandas

    refuse_other(asked, output, result)
    new = not output.exists()
    with explained(output):
        output.mkdir(parents=True, exist_ok=True)
    with RunFolder(output).locked():
        refuse_other(asked, output, result)
        remove_remains(output)
        write_whole(output / ASKED, _to_json(asked))
        try:
            yield
        except BaseException:
            remove_remains(output)
            learned = (each for each in output.rglob("*") if not each.is_dir() and each.name not in (ASKED, LOCK))
            if not any(learned):
                for folder in (each for each in output.iterdir() if each.is_dir()):
                    shutil.rmtree(folder, ignore_errors=True)
                _tidy(output)
                if new:
                    with suppress(OSError):
                        output.rmdir()
            raise
        _tidy(output)


def begun_date(output: Path) -> str | None:
    """Return the date of chat templates with which the training in this folder was begun."""
    try:
        date = json.loads((output / ASKED).read_text(encoding="utf-8"))["date"]
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return date if isinstance(date, str) else None


def check_place(output: Path) -> None:
    """Raise EvenhandError where nothing can be written, by writing a temporary file there."""
    with explained(output):
        there = next(each for each in (output, *output.absolute().parents) if each.exists())
        with tempfile.TemporaryFile(dir=there):
            pass


def refuse_other(asked: Mapping[str, Any], output: Path, result: str) -> None:
    """Raise UsageError for a folder that holds anything but the beginning of this training."""
    if not is_main():
        return
    from evenhand.flow.run_folder import RunFolder

    if output.is_file():
        raise UsageError(f"--output {output} is a file; choose a folder that is new or empty")
    if RunFolder(output).is_free():
        return
    begun_as, finished = output / ASKED, (output / result).is_file()
    if finished and begun_as.is_file() and not _differing(begun_as, asked):
        with RunFolder(output).locked():  # interrupted while it was tidied
            remove_remains(output)
            _tidy(output)
    if finished:
        raise UsageError(f"{output} holds a finished training; choose another --output")
    if not begun_as.is_file():
        raise UsageError(f"{output} exists and is not empty; choose another --output")
    if differing := _differing(begun_as, asked):
        raise UsageError(
            f"{output} holds an interrupted training with other options or data ({', '.join(differing)}); repeat its "
            "command to resume it, or choose another --output"
        )


def _tidy(output: Path) -> None:
    from evenhand.flow.run_folder import LOCK

    shutil.rmtree(output / UNFINISHED, ignore_errors=True)
    for name in (ASKED, LOCK):  # the file that says that it isn't finished goes after the checkpoints
        (output / name).unlink(missing_ok=True)


def _differing(begun_as: Path, asked: Mapping[str, Any]) -> list[str]:
    """Return names of options with other values; what isn't known yet (data, before they are read) doesn't differ."""
    try:
        before = json.loads(begun_as.read_text(encoding="utf-8"))
    except ValueError:
        before = None
    if not isinstance(before, dict):
        return [f"{ASKED} can't be read"]
    return [name for name, value in json.loads(_to_json(asked)).items() if before.get(name) != value]


def _to_json(asked: Mapping[str, Any]) -> str:
    return json.dumps(dict(asked), sort_keys=True) + "\n"
