"""A training goes on from the newest checkpoint that is whole; damaged ones are passed over, with a word."""

import json

import pytest
import torch
from safetensors.torch import save_file

from evenhand.trainers.checkpoints import newest_complete

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
    assert newest_complete(two).name == "checkpoint-4"
    (two / "checkpoint-10").mkdir()
    assert newest_complete(two).name == "checkpoint-4"
    assert newest_complete(two / "nowhere") is None


@pytest.mark.parametrize("file", ["rng_state.pth", "optimizer.pt", "scheduler.pt", "trainer_state.json", WEIGHTS])
@pytest.mark.parametrize("damage", ["missing", "empty", "cut short", "garbage"])
def test_a_damaged_one_is_passed_over_with_a_word(two, file, damage):
    path = two / "checkpoint-4" / file
    whole = path.read_bytes()
    path.unlink()
    if damage != "missing":
        path.write_bytes({"empty": b"", "cut short": whole[: len(whole) // 2], "garbage": b"garbage"}[damage])
    said = []
    assert newest_complete(two, said.append).name == "checkpoint-2"
    what = "weights" if (file, damage) == (WEIGHTS, "missing") else file
    assert said == [f"checkpoint-4 is not gone on from: its {what} is missing or damaged"]


@pytest.mark.parametrize("state", [{"global_step": 4}, {"global_step": 3}, []])
def test_a_state_of_another_step_or_without_its_parts_is_damaged(two, state):
    (two / "checkpoint-4" / "trainer_state.json").write_text(json.dumps(state))
    assert newest_complete(two).name == "checkpoint-2"


def test_each_process_needs_its_own_random_numbers(two, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert newest_complete(two) is None
    for rank in range(2):
        torch.save({}, two / "checkpoint-2" / f"rng_state_{rank}.pth")
    assert newest_complete(two).name == "checkpoint-2"
