"""The checkpoints that a training goes on from: the newest that was written to its end."""

from __future__ import annotations

import json
from pathlib import Path

_NEEDED = ("optimizer.pt", "scheduler.pt", "training_args.bin", "trainer_state.json")
_WEIGHTS = ("adapter_model.safetensors", "model.safetensors", "model.safetensors.index.json")


def newest_complete(folder: Path) -> Path | None:
    """None where there is none. One without the state of its random numbers would go on otherwise, and isn't taken."""
    found = sorted(
        (each for each in folder.glob("checkpoint-*") if each.name.partition("-")[2].isdecimal()),
        key=lambda each: int(each.name.partition("-")[2]),
        reverse=True,
    )
    return next((each for each in found if _is_complete(each)), None)


def _is_complete(checkpoint: Path) -> bool:
    """trainer_state.json is written last, of all but the folder's name."""
    if not all((checkpoint / name).is_file() for name in _NEEDED) or not any(checkpoint.glob("rng_state*.pth")):
        return False
    if not any((checkpoint / name).is_file() for name in _WEIGHTS):
        return False
    try:
        state = json.loads((checkpoint / "trainer_state.json").read_text(encoding="utf-8"))
    except ValueError:
        return False
    return isinstance(state, dict) and checkpoint.name == f"checkpoint-{state.get('global_step')}"
