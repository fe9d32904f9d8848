"""What transformers raises for checkpoints that it can't load, said in a line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from huggingface_hub.errors import StrictDataclassError
from safetensors import SafetensorError

from evenhand.models.errors import ModelError

_REASONS = (OSError, ValueError, KeyError, TypeError, ImportError, RuntimeError, SafetensorError, StrictDataclassError)


@contextmanager
def explained(path: str, accepted: str) -> Iterator[None]:
    """Raises ModelError with the first line of the reason, and what is accepted."""
    try:
        yield
    except _REASONS as error:
        reason = str(error).strip().split("\n")[0].rstrip(".") or type(error).__name__
        raise ModelError(f"could not load model {path!r}: {reason}. Accepted: {accepted}") from error
