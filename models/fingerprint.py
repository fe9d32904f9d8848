"""A short hash that tells one local checkpoint from another."""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Iterable
from pathlib import Path

from evenhand.caches import cache_folder
from evenhand.errors import EvenhandError
from evenhand.whole_files import write_whole

_WEIGHTS = (".safetensors", ".gguf")
_SMALL = (".json", ".jinja", ".txt", ".model")
_OF_EMBEDDED = {"b179c9523d0e6a0f": "1bde6799af9024ea"}
"""The embedded model's GGUF file: published results know it by the hash of what was unpacked from it."""
_SETTLED = 2e9  # nanoseconds: a file that changes again so soon may keep its time of change


def fingerprint(folder: Path) -> str:
    """Hash of every byte of a checkpoint's configuration, tokenizer and weights: 16 hex digits."""
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.suffix in (*_WEIGHTS, *_SMALL) and path.is_file():
            digest.update(f"{path.name} {hash_file(path)}\n".encode())
    return digest.hexdigest()[:16]


def fingerprint_of_gguf(file: Path) -> str:
    """Hash of every byte of a GGUF file: 16 hex digits."""
    found = hash_file(file)[:16]
    return _OF_EMBEDDED.get(found, found)


def hash_file(path: Path) -> str:
    """SHA-256 of a file; of weights it is kept in the cache folder until the file's size or time of change differs."""
    status = path.stat()
    state = f"{path.resolve()} {status.st_ino} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"
    kept = cache_folder() / "sha256" / hashlib.sha256(state.encode()).hexdigest()
    keeps = path.suffix in _WEIGHTS and time.time_ns() - status.st_ctime_ns > _SETTLED
    if keeps:
        with contextlib.suppress(OSError, ValueError):
            if len(known := kept.read_text("ascii")) == 64:
                return known
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if keeps:
        with contextlib.suppress(OSError, EvenhandError):
            kept.parent.mkdir(parents=True, exist_ok=True)
            write_whole(kept, found)
    return found


def fingerprint_of_texts(texts: Iterable[str]) -> str:
    """Hash of texts that decide what a model answers: 16 hex digits."""
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode() + b"\0")
    return digest.hexdigest()[:16]
