"""A short hash that tells one local checkpoint from another without reading all of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

_SAMPLES = 64
_SAMPLE_BYTES = 16_384
_WEIGHTS = {".safetensors", ".gguf"}
_SMALL = {".json", ".jinja", ".txt", ".model"}


def fingerprint(folder: Path) -> str:
    """Hash of a checkpoint's configuration, tokenizer, and evenly spaced samples of its weights: 16 hex digits.

    Training changes weights everywhere, so samples tell a trained checkpoint from its base.
    """
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.suffix in _WEIGHTS:
            size = path.stat().st_size
            digest.update(f"{path.name} {size}\n".encode())
            with path.open("rb") as file:
                for i in range(_SAMPLES):
                    file.seek(i * max(0, size - _SAMPLE_BYTES) // (_SAMPLES - 1))
                    digest.update(file.read(_SAMPLE_BYTES))
        elif path.suffix in _SMALL and path.is_file():
            digest.update(f"{path.name}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def fingerprint_of_texts(texts: Iterable[str]) -> str:
    """Hash of texts that decide what a model answers: 16 hex digits."""
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode() + b"\0")
    return digest.hexdigest()[:16]
