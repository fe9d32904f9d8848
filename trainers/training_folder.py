"""The folder of a training: one at a time, gone on with by the same command, refused to any other."""

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

ASKED = ".asked.json"  # in a folder whose training isn't finished
UNFINISHED = ".training"  # its checkpoints, which the training goes on from


@contextmanager
def begun(asked: Mapping[str, Any], output: Path, result: str) -> Iterator[None]:
    """The folder, locked; until all is trained it says what was asked for. result: the file that the end writes.

    What ends before anything was learned leaves the folder as it was, free for a corrected command. Of several
    processes the main one sees to it.
    """
    if not is_main():
        yield
        return
    from evenhand.flow.run_folder import RunFolder  # pandas takes long

    refuse_other(asked, output, result)
    new = not output.exists()
    with explained(output):
        output.mkdir(parents=True, exist_ok=True)
    with RunFolder(output).locked():
        refuse_other(asked, output, result)
        remove_remains(output)
        write_whole(output / ASKED, _text(asked))
        try:
            yield
        except BaseException:
            if not _learned_anything(output):
                _take_back(output, new)
            raise
        _tidy(output)


def begun_date(output: Path) -> str | None:
    """The date that chat templates were told when the training in this folder was begun."""
    try:
        date = json.loads((output / ASKED).read_text(encoding="utf-8"))["date"]
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return date if isinstance(date, str) else None


def check_place(output: Path) -> None:
    """Raises EvenhandError where nothing can be written there, by writing a file that has no name beside or in it."""
    with explained(output):
        there = next(each for each in (output, *output.absolute().parents) if each.exists())
        with tempfile.TemporaryFile(dir=there):
            pass


def refuse_other(asked: Mapping[str, Any], output: Path, result: str) -> None:
    """Raises UsageError for a folder that holds anything but the beginnings of this very training.

    Where this training was killed at its very end, what it had left to tidy is tidied first.
    """
    if not is_main():
        return
    from evenhand.flow.run_folder import RunFolder

    begun_as = output / ASKED
    if output.is_file():
        raise UsageError(f"{output} is a file; a folder is accepted as --output, one that is not there or is empty")
    if RunFolder(output).is_free():
        return
    finished = (output / result).is_file()
    if finished and begun_as.is_file() and not _others(begun_as, asked):
        with RunFolder(output).locked():
            remove_remains(output)
            _tidy(output)
        raise UsageError(
            f"{output} holds this training, finished; it was cut off while it tidied up, which is done now. To train "
            "again choose another --output"
        )
    if finished:
        raise UsageError(f"{output} holds a finished training; choose another --output")
    if not begun_as.is_file():
        raise UsageError(f"{output} exists and is not empty; choose another --output")
    others = _others(begun_as, asked)
    if others:
        raise UsageError(
            f"{output} holds a training with other options or other data that was cut off ({', '.join(others)}); "
            "repeat its command to go on, or choose another --output"
        )


def _tidy(output: Path) -> None:
    """Of a training that is finished, or never learned anything; what says that it isn't finished goes last."""
    from evenhand.flow.run_folder import LOCK

    shutil.rmtree(output / UNFINISHED, ignore_errors=True)
    (output / ASKED).unlink(missing_ok=True)
    (output / LOCK).unlink(missing_ok=True)


def _learned_anything(output: Path) -> bool:
    """Whether there is more than what begins a training: a checkpoint, or a part of one."""
    from evenhand.flow.run_folder import LOCK

    remove_remains(output)
    return any(not each.is_dir() and each.name not in (ASKED, LOCK) for each in output.rglob("*"))


def _take_back(output: Path, new: bool) -> None:
    """Of a folder without files of its own. new: it was made for this training."""
    for folder in [each for each in output.iterdir() if each.is_dir()]:
        shutil.rmtree(folder, ignore_errors=True)
    _tidy(output)
    if new:
        with suppress(OSError):
            output.rmdir()


def _others(begun_as: Path, asked: Mapping[str, Any]) -> list[str]:
    """Names of what is asked for otherwise now; what isn't known yet (the data, before they are read) is no other."""
    try:
        before = json.loads(begun_as.read_text(encoding="utf-8"))
    except ValueError:
        return ["it can't be read"]
    if not isinstance(before, dict):
        return ["it can't be read"]
    return [name for name, value in json.loads(_text(asked)).items() if before.get(name) != value]


def _text(asked: Mapping[str, Any]) -> str:
    return json.dumps(dict(asked), sort_keys=True) + "\n"
