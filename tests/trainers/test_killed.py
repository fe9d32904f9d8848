"""A training whose process is killed, and started again, ends with the steps and the weights of an undisturbed one."""

import json
import os
import signal
import sys
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file

from evenhand.trainers import benchmark_rows
from evenhand.trainers.expected_score import ExpectedScoreOptions, ExpectedScoreTrainer
from evenhand.trainers.progress import unheard
from evenhand.trainers.social_contact import SocialContactOptions, SocialContactTrainer
from evenhand.trainers.training_folder import UNFINISHED
from tests.trainers.few_rows import FEW

SECONDS = 300
TRAINERS = {SocialContactOptions: SocialContactTrainer, ExpectedScoreOptions: ExpectedScoreTrainer}
SAVING = "adapter_config.json"  # the first file of the result: all steps are made, the last one is kept
AT_ONCE = {"dtype": "float32", "rank": 2, "limit": 8, "batch_size": 3, "accumulation": 1, "save_every": 1}
SIX_TO_MAKE = AT_ONCE | {"limit": 6, "measure_every": 0}  # 18 examples: an epoch of six steps
ENDS = {
    "by --max-steps, amid an epoch": (SocialContactOptions(**SIX_TO_MAKE, max_steps=2), 2),
    "by --epochs, amid one": (SocialContactOptions(**SIX_TO_MAKE, epochs=0.5), 3),
    "by --max-tokens": (SocialContactOptions(**SIX_TO_MAKE, max_tokens=1), 1),
    "by --patience": (  # nothing becomes less at this rate
        ExpectedScoreOptions(
            **AT_ONCE | {"batch_size": 1}, setting="6", patience=1, learning_rate=1e-12, measure_every=1, measured=2
        ),
        1,
    ),
}  # fmt: skip


def killed_at(where, options, output, n_threads):
    """In a process of its own. where: the file in the folder that is about to be written, or moved to its place."""
    path = str(output / where)

    def hook(event, arguments):
        moved = event == "os.rename" and str(arguments[1]) == path
        if moved or (event == "open" and str(arguments[0]) == path and arguments[2] & os.O_WRONLY):
            os.kill(os.getpid(), signal.SIGKILL)

    torch.set_num_threads(n_threads)  # others add up in another order
    benchmark_rows.contact_rows = FEW
    sys.addaudithook(hook)
    TRAINERS[type(options)]().tune(options, output, unheard)


@pytest.fixture
def outcome(processes, tiny_checkpoint, tmp_path):
    """outcome(options, *where) → steps, weights and the record of a training that was killed at each of these."""

    def call(options, *where):
        output, asked = tmp_path / f"killed {len(where)} times", replace(options, model=str(tiny_checkpoint))
        for each in where:
            one = processes.Process(target=killed_at, args=(each, asked, output, torch.get_num_threads()))
            one.start()
            one.join(SECONDS)
            assert one.exitcode == -signal.SIGKILL, each
        TRAINERS[type(options)]().tune(asked, output, unheard)
        record = json.loads((output / "training.json").read_text())
        return record, load_file(output / "adapter_model.safetensors")

    return call


def equal(first, second):
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


@pytest.mark.slow
@pytest.mark.parametrize("end", ENDS)
def test_no_step_is_made_beyond_the_last(outcome, end):
    """Killed while the result is saved, once or twice: a training that has ended is saved, however it ended."""
    options, steps = ENDS[end]
    whole, weights = outcome(options)
    assert whole["data"].get("groups", 6) > steps
    killed, of_killed = outcome(options, *[SAVING] * (2 if options.max_steps else 1))
    assert whole["steps"] == killed["steps"] == steps
    assert equal(weights, of_killed)
    assert killed["losses"] == whole["losses"]
    assert killed["measured"] == whole["measured"]
    assert killed["computed_tokens"] == whole["computed_tokens"]


@pytest.mark.slow
def test_killed_while_it_learns_it_ends_with_the_same_weights(outcome):
    """Dropout and the order of examples go on, too; of a checkpoint that is half there the one before is taken."""
    options = SocialContactOptions(**SIX_TO_MAKE, max_steps=4, dropout=0.3, merge=True)
    whole, weights = outcome(options)
    kept = [f"{UNFINISHED}/checkpoint-2/trainer_state.json", f"{UNFINISHED}/checkpoint-3/adapter_config.json"]
    killed, of_killed = outcome(options, *kept, "merged/config.json")
    assert whole["steps"] == killed["steps"] == 4
    assert killed["losses"] == whole["losses"]
    assert equal(weights, of_killed)
