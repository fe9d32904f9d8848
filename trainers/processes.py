"""Several processes that train one model, as `accelerate launch` and torchrun start them."""

from __future__ import annotations

import os

from evenhand.errors import UsageError


def is_main() -> bool:
    """Whether this process writes and reports: the first, or the only one."""
    return os.environ.get("RANK", "0") == "0"


def n_processes() -> int:
    return int(os.environ.get("WORLD_SIZE", "1"))


def in_parts() -> bool:
    """Whether processes hold the model's state in parts (FSDP, DeepSpeed)."""
    return any(os.environ.get(f"ACCELERATE_USE_{name}", "").lower() in ("true", "1") for name in ("FSDP", "DEEPSPEED"))


def check_measuring(measure_every: int) -> None:
    """Raise UsageError where the main process would wait for the others' parts, and they for it."""
    if measure_every and in_parts():
        raise UsageError(
            f"--measure-every {measure_every}: under FSDP and DeepSpeed no process has the whole model to measure; use "
            "--measure-every 0, and evenhand run after the training"
        )


def passes_each(accumulation: int) -> int:
    """Return the passes per step of each process, so that a step has the same examples however many share it."""
    n = n_processes()
    if accumulation % n:
        raise UsageError(f"--accumulation must be a multiple of {n}, the number of processes, got {accumulation}")
    return accumulation // n
