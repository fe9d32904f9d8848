"""The checkpoints that a training goes on from: the newest that was written to its end, and can be read."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from transformers.trainer_pt_utils import safe_globals

from evenhand.trainers.processes import n_processes

_PICKLED = ("optimizer.pt", "scheduler.pt")
_NEEDED = (*_PICKLED, "training_args.bin", "trainer_state.json")
_WEIGHTS = ("adapter_model.safetensors", "model.safetensors", "model.safetensors.index.json")
_STATE = {"global_step": int, "max_steps": int, "log_history": list, "stateful_callbacks": dict}
_UNREADABLE = (OSError, ValueError, RuntimeError, EOFError, KeyError, pickle.UnpicklingError, SafetensorError)


def newest_complete(folder: Path, on_damaged: Callable[[str], None] = lambda said: None) -> Path | None:
    """None where there is none. One without the state of its random numbers would go on otherwise, and isn't taken.

    on_damaged: told of each that is passed over.
    """
    found = sorted(
        (each for each in folder.glob("checkpoint-*") if each.name.partition("-")[2].isdecimal()),
        key=lambda each: int(each.name.partition("-")[2]),
        reverse=True,
    )
    for each in found:
        damaged = _damaged(each)
        if damaged is None:
            return each
        on_damaged(f"{each.name} is not gone on from: its {damaged} is missing or damaged")
    return None


def _damaged(checkpoint: Path) -> str | None:
    """Name of a file that is not there, or can't be read as transformers will; trainer_state.json is written last."""
    n = n_processes()
    random = [f"rng_state_{process}.pth" for process in range(n)] if n > 1 else ["rng_state.pth"]
    for name in (*_NEEDED, *random):
        if not (checkpoint / name).is_file():
            return name
    weights = next((name for name in _WEIGHTS if (checkpoint / name).is_file()), None)
    if weights is None:
        return "weights"
    readers: dict[str, Callable[[Path], Any]] = {name: _unpickled for name in (*_PICKLED, *random)}
    readers |= {"trainer_state.json": _check_state, weights: _check_weights}
    for name, reader in readers.items():
        try:
            reader(checkpoint / name)
        except _UNREADABLE:
            return name
    return None


def _unpickled(path: Path) -> None:
    """Mapped, not read: the optimizer's state may be as large as the weights."""
    with safe_globals():
        torch.load(path, map_location="cpu", weights_only=True, mmap=True)


def _check_weights(path: Path) -> None:
    if path.suffix == ".json":
        for shard in set(json.loads(path.read_text(encoding="utf-8"))["weight_map"].values()):
            _check_weights(path.with_name(shard))
        return
    with safe_open(path, framework="pt") as file:  # it compares the length with what the header says
        file.keys()


def _check_state(path: Path) -> None:
    """Raises ValueError where the state is of another step, or lacks what is read of it."""
    state = json.loads(path.read_text(encoding="utf-8"))
    whole = isinstance(state, dict) and all(isinstance(state.get(name), kind) for name, kind in _STATE.items())
    if not whole or path.parent.name != f"checkpoint-{state['global_step']}":
        raise ValueError("no state of this step")
