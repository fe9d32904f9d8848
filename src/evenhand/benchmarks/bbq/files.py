"""The published files, as the dataset's loading script pins them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from evenhand.errors import EvenhandError
from evenhand.library import dataset_builder_class


def _script() -> Any:
    return sys.modules[dataset_builder_class("bbq").__module__]


def pinned() -> Mapping[str, tuple[str, str]]:
    """{configuration: (file, its sha256)}."""
    files: Mapping[str, tuple[str, str]] = _script().FILES
    return files


def at_hand() -> tuple[str, ...]:
    """Configurations whose file can be had: of a mirror those it holds (all where it holds none), else all."""
    found = tuple(name for name in pinned() if (path := _script().mirrored(name)) is None or Path(path).is_file())
    return found or tuple(pinned())


def check_at_hand(configs: Iterable[str]) -> None:
    """Raises EvenhandError that lists what a mirror lacks of these configurations."""
    paths = {pinned()[name][0]: _script().mirrored(name) for name in configs if name in pinned()}
    absent = [file for file, path in paths.items() if path is not None and not Path(path).is_file()]
    if absent:
        names = [(_script().MIRRORED.format(file=file), _script().URL.format(file=file)) for file in absent]
        listed = ", ".join(f"{place} (from {url})" for place, url in names)
        raise EvenhandError(
            f"EVENHAND_SOURCES={os.environ['EVENHAND_SOURCES']} holds no {listed}. Put what you need there, choose "
            "other categories with --config, or unset EVENHAND_SOURCES to fetch them"
        )


def notes(configs: Iterable[str]) -> tuple[str, ...]:
    """What is to be said of files that the mirror lacks."""
    files, asked = pinned(), tuple(configs)
    if asked != at_hand() or len(asked) == len(files):
        return ()
    absent = ", ".join(file for name, (file, _) in files.items() if name not in asked)
    return (f"the mirror that EVENHAND_SOURCES names holds no {absent}: these categories are left out",)
