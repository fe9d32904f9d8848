"""A training's last step leaves a checkpoint that says so: gone on with, it makes no further one.

transformers takes a batch and makes a step before it looks whether any is left, and forgets that a callback ended it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from transformers import TrainerCallback, TrainerControl, TrainerState

ENDED = "ended"  # in the trainer's log


class Ending(TrainerCallback):  # type: ignore[misc]
    """Comes after all that may end a training, whether by its steps, its tokens or what was measured."""

    def on_step_end(self, args: Any, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        if control.should_training_stop:
            state.log_history.append({"step": state.global_step, ENDED: True})
            control.should_save = True


def ended_at(checkpoint: Path) -> bool:
    """Whether the training ended with the step after which this whole checkpoint was written."""
    state = json.loads((checkpoint / "trainer_state.json").read_text(encoding="utf-8"))
    return any(ENDED in log for log in state["log_history"])
