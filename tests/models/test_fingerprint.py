"""What identifies a local checkpoint: every byte of its files, wherever they lie."""

import os
import time

import pytest

from evenhand.models import fingerprint as module
from evenhand.models.fingerprint import fingerprint, hash_file

MB = 1 << 20


@pytest.fixture
def checkpoint(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(os.urandom(4 * MB))
    return folder


@pytest.mark.parametrize("place", [0, 1, 12_345, MB + 7, 3 * MB - 1, 4 * MB - 1])
def test_any_byte_counts(checkpoint, place):
    before, weights = fingerprint(checkpoint), checkpoint / "model.safetensors"
    changed = bytearray(weights.read_bytes())
    changed[place] ^= 1
    weights.write_bytes(changed)
    assert fingerprint(checkpoint) != before


def test_98_percent_zeroed_between_samples(checkpoint):
    """What evenly spaced samples of 16 KB didn't see."""
    before, weights = fingerprint(checkpoint), checkpoint / "model.safetensors"
    changed = bytearray(weights.read_bytes())
    for i in range(63):
        start = i * (4 * MB - 16_384) // 63 + 16_384
        end = (i + 1) * (4 * MB - 16_384) // 63
        changed[start:end] = bytes(end - start)
    weights.write_bytes(changed)
    assert fingerprint(checkpoint) != before


def test_names_and_other_files(checkpoint):
    """Files that decide answers count, with their names; notes, pickles and pipes don't."""
    before = fingerprint(checkpoint)
    (checkpoint / "README.md").write_text("changed")
    (checkpoint / "optimizer.pt").write_bytes(b"changed")
    os.mkfifo(checkpoint / "pipe.safetensors")
    assert fingerprint(checkpoint) == before
    (checkpoint / "chat_template.jinja").write_text("{{ messages }}")
    with_template = fingerprint(checkpoint)
    assert with_template != before
    (checkpoint / "model.safetensors").rename(checkpoint / "other.safetensors")
    assert fingerprint(checkpoint) != with_template


def test_large_files_are_read_once(checkpoint, monkeypatch):
    """Until size or time of change differ; a file that has just changed may change again unseen, so it isn't kept."""
    weights = checkpoint / "model.safetensors"
    read = []
    digest = module.hashlib.file_digest
    monkeypatch.setattr(module.hashlib, "file_digest", lambda *a: read.append(1) or digest(*a))
    first = hash_file(weights)
    assert hash_file(weights) == first
    assert len(read) == 2
    now = time.time_ns()
    monkeypatch.setattr(module.time, "time_ns", lambda: now + 10**10)
    for _ in range(3):
        assert hash_file(weights) == first
    assert len(read) == 3
    os.utime(weights, ns=(now, now - 10**12))
    assert hash_file(weights) == first
    assert len(read) == 4


def test_a_cache_that_can_not_be_used(checkpoint, monkeypatch, tmp_path):
    weights = checkpoint / "model.safetensors"
    first = hash_file(weights)
    monkeypatch.setattr(module.time, "time_ns", lambda: time.perf_counter_ns() + 2**62)
    (tmp_path / "cache").write_text("a file")
    assert hash_file(weights) == first
    (tmp_path / "cache").unlink()
    hash_file(weights)
    [kept] = (tmp_path / "cache" / "sha256").iterdir()
    kept.write_text("half a hash")
    assert hash_file(weights) == first
