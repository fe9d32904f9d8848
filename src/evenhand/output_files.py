"""Check, before anything else is done, that a command may write its output file.

It never overwrites its inputs, nor writes into a run's folder. It replaces a file that the same command wrote earlier,
and any other only with --overwrite.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from evenhand.errors import UsageError
from evenhand.flow.run_folder import is_run_folder

ANOTHER = "choose another --output"


def add_overwrite(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--overwrite", action="store_true", help="write over a file of another kind, too")


def check_output(
    path: Path, inputs: Iterable[Path | str], kind: str, is_ours: Callable[[Path], bool], overwrite: bool = False
) -> str:
    """Check that `path` may be written. Returns a remark, " (written over an earlier one)", or "".

    Args:
        inputs: files that the command reads, or folders of them.
        kind: what it writes ("a merged table").
        is_ours: whether an existing file is of that kind.

    Raises:
        UsageError: where `path` must not be written, or can't be.
    """
    _check_place(path)
    refuse_input(path, inputs)
    if not os.path.lexists(path):
        return ""
    if not (overwrite or is_ours(path)):
        raise UsageError(f"{path} exists and is not {kind}; {ANOTHER}, or give --overwrite to lose what is in it")
    return " (written over an earlier one)"


def refuse_input(path: Path, inputs: Iterable[Path | str]) -> None:
    """Raise UsageError where `path` is one of the inputs, by any name or link."""
    for each in _files(inputs):
        if _is_same(path, each):
            same = "" if os.fspath(path) == os.fspath(each) else f", the same file as {path},"
            raise UsageError(f"{each}{same} is read here and can't be written over; {ANOTHER}")


def _check_place(path: Path) -> None:
    try:
        with suppress(FileNotFoundError, NotADirectoryError):
            os.lstat(path)
        around = {*path.absolute().parents, *path.resolve().parents}
    except (OSError, ValueError, RuntimeError) as error:  # too long, a character that no name has, links in a circle
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"{str(path)[:200]!r} can't be a file's name ({reason}); {ANOTHER}") from error
    if path.is_dir():
        raise UsageError(f"{path} is a folder; name a file in it as --output")
    if path.exists() and not path.is_file():
        raise UsageError(f"{path} is a pipe or a device, and no file; {ANOTHER}")
    if not path.parent.is_dir():
        raise UsageError(f"{path.parent} is no folder; make it, or {ANOTHER}")
    if not os.access(path.parent, os.W_OK):
        raise UsageError(f"{path.parent} can't be written to; {ANOTHER}")
    for folder in around:
        if is_run_folder(folder):
            raise UsageError(f"{path} is inside the run folder {folder}, where only its own command writes; {ANOTHER}")


def _files(inputs: Iterable[Path | str]) -> Iterator[Path]:
    for each in map(Path, inputs):
        yield each
        if each.is_dir():
            yield from (file for file in each.iterdir() if file.is_file())


def _is_same(one: Path, other: Path) -> bool:
    try:
        return os.path.samefile(one, other)
    except (OSError, ValueError):  # one of them is not there
        return False
