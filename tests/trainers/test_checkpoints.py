"""A training resumes from the newest checkpoint that is complete."""

import json

import pytest

from evenhand.trainers.run import STATE, find_checkpoint


@pytest.fixture
def two(tmp_path):
    """What counts of those that transformers leaves after steps 2 and 4."""
    for step in (2, 4):
        folder = tmp_path / f"checkpoint-{step}"
        folder.mkdir()
        (folder / "rng_state.pth").touch()
        (folder / STATE).write_text(json.dumps({"global_step": step}))
    return tmp_path


def test_the_newest_is_taken(two):
    assert find_checkpoint(two).name == "checkpoint-4"
    (two / "checkpoint-10").mkdir()
    assert find_checkpoint(two).name == "checkpoint-4"
    assert find_checkpoint(two / "nowhere") is None


@pytest.mark.parametrize("state", [None, "", '{"global_st', "garbage"])
def test_one_whose_state_was_not_written_to_its_end_is_passed_over(two, state):
    (two / "checkpoint-4" / STATE).unlink()
    if state is not None:
        (two / "checkpoint-4" / STATE).write_text(state)
    assert find_checkpoint(two).name == "checkpoint-2"


def test_each_process_needs_its_own_random_state(two, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert find_checkpoint(two) is None
    for rank in range(2):
        (two / "checkpoint-2" / f"rng_state_{rank}.pth").touch()
    assert find_checkpoint(two).name == "checkpoint-2"
