"""Whether the disk has room for what a training writes, said before it begins."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

from torch import nn

from evenhand.errors import EvenhandError
from evenhand.trainers.options import TuningOptions

KEPT = 3  # checkpoints that are there at once: two are kept, and the oldest goes when a new one is written
OF_ADAM = 2  # further figures that AdamW keeps of each weight


def check_disk(output: Path, unfinished: Path, model: nn.Module, options: TuningOptions, steps: int) -> None:
    """Raises EvenhandError where output's disk has less free than `needed`; what is in unfinished is there already."""
    need = needed(model, options, steps) - sum(each.stat().st_size for each in unfinished.rglob("*") if each.is_file())
    free = shutil.disk_usage(output).free
    if need > free:
        less = ", leave --merge out" if options.merge else ""
        raise EvenhandError(
            f"this training writes up to {_gigabytes(need)}, and the disk of {output} has {_gigabytes(free)} free: "
            f"make room there{less}, or choose another --output"
        )


def needed(model: nn.Module, options: TuningOptions, steps: int) -> int:
    """Bytes: of checkpoints on the way, of what is saved at the end, and of merged weights."""
    weights = list(model.parameters())
    learned: int = sum(each.nbytes for each in weights if each.requires_grad)
    checkpoints = min(KEPT, math.ceil(steps / options.save_every))
    merged: int = sum(each.nbytes for each in weights) if options.merge else 0
    return checkpoints * (1 + OF_ADAM) * learned + learned + merged


def _gigabytes(n: int) -> str:
    return f"{n / 1e9:.2f} GB"
