"""An episode is a generator: it yields requests, receives their replies, and returns predictions."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Sequence
from dataclasses import dataclass

from evenhand.models.request import Reply, Request

Value = str | int | float | bool | list[str] | list[float] | None
Prediction = dict[str, Value]
"""A flat record that the metric takes; `id` is unique, and an answer that could not be read is None, never guessed."""

Episode = Generator[Sequence[Request], Sequence[Reply], list[Prediction]]
"""One row's conversation. All requests of one yield are answered, in order, before the episode goes on."""


@dataclass(frozen=True)
class Prompt:
    """A prompt as data, with where it is printed."""

    text: str
    source: str


def run_name(run: int) -> str:
    """Name a run in ids of its requests and predictions; "" for the first."""
    return f"/run-{run}" if run else ""


def derive_seed(run_seed: int, row: str, step: int = 0, agent: str = "default") -> int:
    """The seed of one request: runs, rows, steps and agents differ, and no batch position comes into it."""
    digest = hashlib.sha256(repr((run_seed, row, step, agent)).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1  # fits a signed 64-bit integer
