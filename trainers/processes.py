"""Several processes that train one model, as `accelerate launch` and torchrun start them."""

from __future__ import annotations

import os

from evenhand.errors import UsageError


def is_main() -> bool:
    """Whether this process is the one that writes and tells; it is where there is only one."""
    return os.environ.get("RANK", "0") == "0"


def n_processes() -> int:
    return int(os.environ.get("WORLD_SIZE", "1"))


def launched_otherwise() -> str:
    """What to say where `accelerate launch` did otherwise than its configuration has it, without a word; no full stop.

    Nothing where all is as it was asked for.
    """
    if "ACCELERATE_MIXED_PRECISION" not in os.environ:  # it sets that for every process
        return ""
    if "WORLD_SIZE" not in os.environ:
        several = "MASTER_PORT" in os.environ
        return (
            "accelerate launch was told of several processes and started this one alone, which learns the same by "
            "itself; on CPUs torchrun --nproc_per_node N -m evenhand.cli train … starts several"
            if several
            else ""
        )
    import torch

    if n_processes() == 1 or torch.accelerator.is_available():
        return ""
    return f"no GPU was found: {n_processes()} processes train on this machine's CPU, and share its cores"


def in_parts() -> bool:
    """Whether `accelerate launch` was told that processes hold the model's state in parts (FSDP, DeepSpeed)."""
    return any(os.environ.get(f"ACCELERATE_USE_{name}", "").lower() in ("true", "1") for name in ("FSDP", "DEEPSPEED"))


def check_measuring(measure_every: int) -> None:
    """Raises UsageError where the main process would wait for the others' parts, and they for it."""
    if measure_every and in_parts():
        raise UsageError(
            f"--measure-every {measure_every}: under FSDP and DeepSpeed no process has the whole model to measure it "
            "on the way; --measure-every 0 is accepted, and what was learned is measured afterwards (evenhand run)"
        )


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
