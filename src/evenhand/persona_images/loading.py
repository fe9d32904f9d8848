"""What painters and detectors have in common: where a checkpoint is, on what it runs, why it can't be had."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from evenhand.models.errors import ModelError


def local_or_hub(name: str, kind: str) -> str:
    """A local folder's path, or the Hub id as it came. Raises ModelError for a path at which no folder is."""
    path = Path(name).expanduser()
    if path.is_dir():
        return str(path)
    if name.startswith((".", "/", "~")):
        raise ModelError(f"{kind} folder {name!r} does not exist; accepted: a Hub id, or a local folder")
    return name


def device() -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


@contextmanager
def explained(what: str, advice: str) -> Iterator[None]:
    """What the libraries raise, said in a line: "could not {what}: the reason. {advice}"."""
    try:
        yield
    except ModelError:
        raise
    except Exception as error:  # what libraries raise for a damaged checkpoint may be nearly anything
        raise ModelError(f"could not {what}: {first_line(error)}. {advice}") from error


def first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0].rstrip(".") or type(error).__name__
