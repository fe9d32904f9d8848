"""Several processes that train one model, as `accelerate launch` and torchrun start them."""

from __future__ import annotations

import os

from evenhand.errors import UsageError


def is_main() -> bool:
    """Whether this process is the one that writes and tells; it is where there is only one."""
    return os.environ.get("RANK", "0") == "0"


def n_processes() -> int:
    return int(os.environ.get("WORLD_SIZE", "1"))


def passes_each(accumulation: int) -> int:
    """Passes a step that each process makes, so that a step has the same examples however many share it.

    Raises UsageError where they can't be shared evenly.
    """
    n = n_processes()
    if accumulation % n:
        raise UsageError(
            f"{n} processes can't share --accumulation {accumulation} passes a step evenly; a multiple of {n} is "
            "accepted (with a smaller --batch-size a step has as many examples as before)"
        )
    return accumulation // n
