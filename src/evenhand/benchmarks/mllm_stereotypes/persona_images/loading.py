"""What painters and detectors have in common: where a checkpoint is, and on what it runs."""

from __future__ import annotations

import torch

from evenhand.models.errors import ModelError
from evenhand.paths import typed_path


def local_or_hub(name: str, kind: str) -> str:
    """A local folder's path, or the Hub id as it came. Raises ModelError for a path at which no folder is."""
    path = typed_path(name)
    if path.is_dir():
        return str(path)
    if name.startswith((".", "/", "~")):
        raise ModelError(f"{kind} folder {name!r} does not exist; accepted: a Hub id, or a local folder")
    return name


def device() -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"
