"""Checkpoints: what libraries raise for those that they can't load or run, said in a line, and what stands for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from transformers import PreTrainedConfig

from evenhand.models.errors import ModelError
from evenhand.models.fingerprint import fingerprint


@contextmanager
def explained(what: str, advice: str) -> Iterator[None]:
    """Raises ModelError: "could not {what}: the first line of the reason. {advice}"."""
    try:
        yield
    except ModelError:
        raise
    except Exception as error:  # what libraries raise for a damaged checkpoint may be nearly anything
        reason = str(error).strip().split("\n")[0].rstrip(".") or type(error).__name__
        raise ModelError(f"could not {what}: {reason}. {advice}") from error


def identity(path: str, name: str | None, revision: str | None, config: PreTrainedConfig, dtype: str) -> str:
    """What stands for a checkpoint in stores and reports: its name, what it holds, and the dtype."""
    commit = fingerprint(Path(path)) if Path(path).is_dir() else getattr(config, "_commit_hash", None)
    return f"{name or path}@{commit or revision or 'unknown'} {dtype}"
