"""What becomes of a model while it is trained: measured before the first step, every so many, and after the last.

The figures stand in the trainer's own log, so that a checkpoint keeps them and a training that goes on has them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from accelerate.utils import broadcast_object_list
from transformers import PreTrainedModel, TrainerCallback, TrainerControl, TrainerState

from evenhand.trainers.progress import Heard, OnProgress

Figures = Mapping[str, float]
Measure = Callable[[PreTrainedModel, Heard], Figures]
"""Figures of a model that is being trained, by name; the model computes as it will when it is asked. It tells how many
rows were asked, and of how many."""

Stop = Callable[[Sequence["AtStep"]], bool]
"""Whether a training ends here, by all that was measured in it."""

MEASURED = "measured"  # in the trainer's log


@dataclass(frozen=True)
class AtStep:
    """step: how many were made before."""

    step: int
    figures: Figures


class OverSteps(TrainerCallback):  # type: ignore[misc]
    """Measures every `every` steps, in the main process; the model is as it was afterwards, and so is all chance.

    stop: asked after each measurement but the first.
    """

    def __init__(self, measure: Measure, every: int, on_progress: OnProgress, stop: Stop | None = None):
        self._measure = measure
        self._every = every
        self._on_progress = on_progress
        self._stop = stop

    def on_train_begin(
        self, args: Any, state: TrainerState, control: TrainerControl, model: Any = None, **kwargs: Any
    ) -> None:
        if state.global_step == 0:
            self._at(state, model)

    def on_step_end(
        self, args: Any, state: TrainerState, control: TrainerControl, model: Any = None, **kwargs: Any
    ) -> None:
        if state.global_step % self._every == 0 or control.should_training_stop:  # the last step, or an early end
            self._at(state, model)
            if self._stop is not None and _as_the_main_says(self._stop(measured(state.log_history))):
                control.should_training_stop = True

    def _at(self, state: TrainerState, model: Any) -> None:
        if not state.is_world_process_zero:
            return
        what = f"measuring after step {state.global_step}"
        asked = model.get_base_model() if hasattr(model, "get_base_model") else model
        was_training = model.training
        model.eval()
        try:
            figures = dict(self._measure(asked, lambda done, rows: self._on_progress(what, done, rows)))
        finally:
            model.train(was_training)
        state.log_history.append({"step": state.global_step, MEASURED: figures})


def _as_the_main_says(stop: bool) -> bool:
    """Only the main process has measured."""
    said = [stop]
    broadcast_object_list(said)
    return said[0]


def measured(log_history: Iterable[Mapping[str, Any]]) -> tuple[AtStep, ...]:
    """All that was measured, in order of steps."""
    return tuple(AtStep(log["step"], log[MEASURED]) for log in log_history if MEASURED in log)
