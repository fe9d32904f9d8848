"""training.json, which a trainer leaves beside the weights: what it says of how they came."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from evenhand.paths import typed_path

RECORD = "training.json"
PUBLIC_ID_OF_EMBEDDED = "HuggingFaceTB/SmolLM2-135M-Instruct"


def training_record(model: str) -> dict[str, Any]:
    """Of a model that is a local folder; empty where there is none, or none that can be read."""
    try:
        record = json.loads((Path(model) / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def is_folder(model: str) -> bool:
    """Whether it names a local folder: a path that is there, or that no id on the Hub could be."""
    return Path(model).exists() or model.startswith((".", "/", "~")) or model.count("/") > 1


def without_folders(value: Any, path: bool = False) -> Any:
    """Of a path its last part, of a list that of each; what is no path stays. path: it is one, however it looks."""
    if isinstance(value, (list, tuple)):
        return [without_folders(each, path) for each in value]
    return Path(value).name if isinstance(value, str) and (path or is_folder(value)) else value


def from_anywhere(model: str) -> str:
    """The name by which it is found from any folder: a local folder's absolute path; what is none, as it came."""
    folder = typed_path(model)
    return os.path.abspath(folder) if folder.is_dir() else model


def base_of(record: dict[str, Any]) -> str | None:
    """What was tuned, as --model named it; of a local folder its absolute path."""
    base = record.get("base")
    model = base.get("model") if isinstance(base, dict) else None
    return model if isinstance(model, str) else None


def base_version(record: dict[str, Any]) -> str | None:
    """Commit, or fingerprint of the local folder, of what was tuned; None where it isn't known."""
    base = record.get("base")
    identity = base.get("identity") if isinstance(base, dict) else None
    version = identity.rpartition("@")[2].split(" ")[0] if isinstance(identity, str) else ""
    return version if version not in ("", "unknown") else None
