"""A training goes on from the newest checkpoint that is whole; damaged ones are passed over, with a word."""

import json

import pytest
import torch
from safetensors.torch import save_file

from evenhand.trainers.run import find_checkpoint

WEIGHTS = "adapter_model.safetensors"


@pytest.fixture
def two(tmp_path):
    """As transformers leaves them after steps 2 and 4."""
    for step in (2, 4):
        folder = tmp_path / f"checkpoint-{step}"
        folder.mkdir()
        for name in ("optimizer.pt", "scheduler.pt", "training_args.bin", "rng_state.pth"):
            torch.save({"state": torch.zeros(8)}, folder / name)
        save_file({"weight": torch.zeros(64)}, folder / WEIGHTS)
        state = {"global_step": step, "max_steps": 6, "log_history": [], "stateful_callbacks": {}}
        (folder / "trainer_state.json").write_text(json.dumps(state))
    return tmp_path


def test_the_newest_whole_one_is_taken(two):
    assert find_checkpoint(two).name == "checkpoint-4"
    (two / "checkpoint-10").mkdir()
    assert find_checkpoint(two).name == "checkpoint-4"
    assert find_checkpoint(two / "nowhere") is None


def test_each_process_needs_its_own_random_numbers(two, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert find_checkpoint(two) is None
    for rank in range(2):
        torch.save({}, two / "checkpoint-2" / f"rng_state_{rank}.pth")
    assert find_checkpoint(two).name == "checkpoint-2"
