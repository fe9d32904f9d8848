"""The published files, as the dataset's loading script pins them."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evenhand.errors import EvenhandError
from evenhand.library import dataset_builder_class


def available_configs() -> tuple[str, ...]:
    """Return the configurations that can be loaded: those in the mirror, if one is named and holds any; else all."""
    script = _load_script()
    found = tuple(name for name in script.FILES if _is_available(script, name))
    return found or tuple(script.FILES)


def check_files(configs: Sequence[str]) -> tuple[str, ...]:
    """Return a note on the configurations that the mirror lacks where all others are asked.

    Raises EvenhandError that lists the files which the mirror lacks of these configurations.
    """
    script = _load_script()
    absent = [script.FILES[name][0] for name in configs if not _is_available(script, name)]
    if absent:
        listed = ", ".join(
            f"{script.MIRRORED.format(file=file)} (from {script.URL.format(file=file)})" for file in absent
        )
        raise EvenhandError(
            f"EVENHAND_SOURCES={os.environ['EVENHAND_SOURCES']} holds no {listed}. Put what you need there, choose "
            "other categories with --config, or unset EVENHAND_SOURCES to fetch them"
        )
    left_out = ", ".join(file for name, (file, _) in script.FILES.items() if name not in configs)
    if not left_out or tuple(configs) != available_configs():
        return ()
    return (f"the mirror that EVENHAND_SOURCES names holds no {left_out}: these categories are left out",)


def _load_script() -> Any:
    return sys.modules[dataset_builder_class("bbq").__module__]


def _is_available(script: Any, name: str) -> bool:
    path = script.mirrored(name)  # None where no mirror is named
    return path is None or Path(path).is_file()
