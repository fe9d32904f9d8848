"""training.json, which a trainer leaves beside the weights: how they were trained."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from evenhand.paths import typed_path

RECORD = "training.json"
PUBLIC_ID_OF_EMBEDDED = "HuggingFaceTB/SmolLM2-135M-Instruct"


def training_record(model: str) -> dict[str, Any]:
    """Read the record of a local model folder; empty where there is none that can be read."""
    try:
        record = json.loads((Path(model) / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def is_folder(model: str) -> bool:
    """Whether it names a local folder: a path that is there, or that no id on the Hub could be."""
    return Path(model).exists() or model.startswith((".", "/", "~")) or model.count("/") > 1


def without_folders(value: Any, path: bool = False) -> Any:
    """Keep the last part of paths, in lists too; other values stay. path: treat any text as a path."""
    if isinstance(value, (list, tuple)):
        return [without_folders(each, path) for each in value]
    return Path(value).name if isinstance(value, str) and (path or is_folder(value)) else value


def from_anywhere(model: str) -> str:
    """Make a local folder's path absolute; other names stay."""
    folder = typed_path(model)
    return os.path.abspath(folder) if folder.is_dir() else model


def base_of(record: dict[str, Any]) -> str | None:
    """Return the base model, as --model named it, a local folder by its absolute path."""
    base = record.get("base")
    model = base.get("model") if isinstance(base, dict) else None
    return model if isinstance(model, str) else None


def base_version(record: dict[str, Any]) -> str | None:
    """Return the base model's commit, or its folder's fingerprint; None where it isn't known."""
    base = record.get("base")
    identity = base.get("identity") if isinstance(base, dict) else None
    version = identity.rpartition("@")[2].split(" ")[0] if isinstance(identity, str) else ""
    return version if version not in ("", "unknown") else None
