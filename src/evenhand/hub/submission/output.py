"""A submission in a folder, to be looked at or sent by hand; nothing that others put there is written over."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from evenhand.errors import UsageError
from evenhand.flow.run_folder import is_run_folder
from evenhand.hub.contents import matches
from evenhand.whole_files import explained, write_whole

_RECORDS = "every_eval_ever/data/evenhand"
OURS = (".eval_results/evenhand-*.yaml", f"{_RECORDS}/*/*/*.json", f"{_RECORDS}/*/*/*.jsonl")


def check_folder(folder: Path) -> None:
    """Raises UsageError for what is no folder, a run's, or one in which anything lies that no submission wrote."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is no folder; choose another --output")
    if any(is_run_folder(each) for each in (folder, *folder.absolute().parents)):
        raise UsageError(f"{folder} is inside a run folder, where only its own command writes; choose another --output")
    if folder.is_dir():
        others = [
            path.relative_to(folder).as_posix()
            for path in folder.rglob("*")
            if (path.is_symlink() or not path.is_dir()) and not _is_ours(path, folder)
        ]
        if others:
            raise UsageError(f"{folder} holds other files ({sorted(others)[0]} …); choose another --output")


def _is_ours(path: Path, folder: Path) -> bool:
    return path.is_file() and not path.is_symlink() and matches(path.relative_to(folder).as_posix(), OURS)


def write(files: Mapping[str, bytes], folder: Path) -> None:
    """Files of an earlier submission that are not among them stay."""
    check_folder(folder)
    for name, content in files.items():
        path = folder / name
        with explained(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
