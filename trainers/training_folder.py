"""The folder of a training: one at a time, gone on with by the same command, refused to any other."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evenhand.errors import UsageError
from evenhand.trainers.processes import is_main
from evenhand.whole_files import explained, remove_remains, write_whole

ASKED = ".asked.json"  # in a folder whose training isn't finished


@contextmanager
def begun(asked: Mapping[str, Any], output: Path, result: str) -> Iterator[None]:
    """The folder, locked; until all is trained it says what was asked for. result: the file that the end writes.

    Of several processes the main one sees to it.
    """
    if not is_main():
        yield
        return
    from evenhand.flow.run_folder import LOCK, RunFolder  # pandas takes long

    refuse_other(asked, output, result)
    with explained(output):
        output.mkdir(parents=True, exist_ok=True)
    with RunFolder(output).locked():
        refuse_other(asked, output, result)
        remove_remains(output)
        write_whole(output / ASKED, _text(asked))
        yield
        (output / ASKED).unlink()
        (output / LOCK).unlink()


def refuse_other(asked: Mapping[str, Any], output: Path, result: str) -> None:
    """Raises UsageError for a folder that holds anything but the beginnings of this very training."""
    if not is_main():
        return
    from evenhand.flow.run_folder import RunFolder

    begun_as = output / ASKED
    if RunFolder(output).is_free():
        return
    if (output / result).is_file():
        raise UsageError(f"{output} holds a finished training; choose another --output")
    if not begun_as.is_file():
        raise UsageError(f"{output} exists and is not empty; choose another --output")
    others = _others(begun_as, asked)
    if others:
        raise UsageError(
            f"{output} holds a training with other options or other data that was cut off ({', '.join(others)}); "
            "repeat its command to go on, or choose another --output"
        )


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
