"""Callbacks of a training: tokens and time of each step, progress, measurements on held-out rows, and diverged weights.

What they record is in the trainer's own log, so that checkpoints keep it and a resumed training has all of it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch
from accelerate.utils import broadcast_object_list, gather_object
from transformers import PreTrainedModel, TrainerCallback, TrainerControl, TrainerState

from evenhand.errors import EvenhandError
from evenhand.models.prefix_tree import Continuation
from evenhand.trainers.packing import PaddedBatching, answer_log_probs
from evenhand.trainers.progress import Heard, OnProgress

COMPUTED, SECONDS, MEASURED = "computed tokens", "seconds", "measured"  # in the trainer's log
KINDS = ("learned", "otherwise")

Figures = Mapping[str, float]
Measure = Callable[[PreTrainedModel, Heard], Figures]
"""Measures a model in training; tells how many rows were asked, and of how many."""
Stop = Callable[[Sequence[Mapping[str, Any]]], bool]
"""Decides whether a training ends, from all measurements so far."""


class TokenCounter(TrainerCallback):  # type: ignore[misc]
    """Counts the tokens that the model's layers read in each step, over all processes, and times the step.

    budget: learned tokens after which the training ends, at the end of a step.
    """

    def __init__(self, budget: int | None = None):
        self._budget = budget
        self._tokens: dict[str, int] | None = None  # None between steps: what is measured there is no training
        self._mask: Any = None
        self._hooks: list[Any] = []

    def on_train_begin(self, args: Any, state: Any, control: Any, model: Any = None, **kwargs: Any) -> None:
        plain = base_of_adapter(model)
        embeddings = plain.get_input_embeddings()  # every pass begins with them, whatever calls whom around them
        reader = next(each for each in plain.modules() if any(child is embeddings for child in each.children()))
        self._hooks = [
            reader.register_forward_pre_hook(self._note_mask, with_kwargs=True),
            embeddings.register_forward_pre_hook(self._count),
        ]

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._tokens, self._begun = dict.fromkeys(KINDS, 0), time.perf_counter()

    def on_step_end(self, args: Any, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        found = gather_object([self._tokens])
        tokens = {kind: sum(each[kind] for each in found) for kind in KINDS}
        self._tokens = None
        seconds = time.perf_counter() - self._begun
        state.log_history.append({"step": state.global_step, COMPUTED: tokens, SECONDS: seconds})
        if self._budget is not None and sum_tokens(state.log_history)["learned"] >= self._budget:
            end(control)

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        for each in self._hooks:
            each.remove()

    def _note_mask(self, reader: torch.nn.Module, args: tuple[Any, ...], given: dict[str, Any]) -> None:
        self._mask = given.get("attention_mask")

    def _count(self, embeddings: torch.nn.Module, args: tuple[Any, ...]) -> None:
        mask, self._mask = self._mask, None
        if self._tokens is None:
            return
        padded = isinstance(mask, torch.Tensor) and mask.dim() == 2  # a tree's mask marks no padding
        n = int(mask[:, -args[0].shape[-1] :].sum()) if padded else args[0].numel()
        self._tokens["learned" if torch.is_grad_enabled() else "otherwise"] += n


class Watch(TrainerCallback):  # type: ignore[misc]
    """Tells the progress, measures every `every` steps, and ends the training by `stop` or where weights diverge.

    Measuring changes neither the model nor the random state. sample: of what is learned, to find weights whose answers
    overflow: the loss of a step is of the weights before it, so it would not show what the last step did.
    """

    def __init__(
        self, measure: Measure, every: int, sample: Sequence[Continuation], on_progress: OnProgress, stop: Stop | None
    ):
        self._measure, self._every, self._sample, self._stop = measure, every, sample, stop
        self._on_progress = on_progress

    def on_train_begin(self, args: Any, state: TrainerState, control: Any, model: Any = None, **kwargs: Any) -> None:
        if self._every and state.global_step == 0:
            self._record_measurement(state, model)

    def on_step_begin(self, args: Any, state: TrainerState, control: Any, **kwargs: Any) -> None:
        self._on_progress("training", state.global_step, state.max_steps)

    def on_step_end(
        self, args: Any, state: TrainerState, control: TrainerControl, model: Any = None, **kwargs: Any
    ) -> None:
        self._on_progress("training", state.global_step, state.max_steps)
        due = bool(self._every) and (state.global_step % self._every == 0 or control.should_training_stop)
        if due or control.should_save or control.should_training_stop:
            check_finite(model, self._sample, state.global_step)
        if due:
            self._record_measurement(state, model)
            if self._stop is not None:
                said = [state.is_world_process_zero and self._stop(read_measurements(state.log_history))]
                broadcast_object_list(said)  # only the main process has measured
                if said[0]:
                    end(control)

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **kwargs: Any) -> None:
        loss = (logs or {}).get("loss", 0.0)
        if not math.isfinite(loss):
            raise EvenhandError(
                f"the loss became {loss} at step {state.global_step}. Try a lower --learning-rate or --clip, or "
                "--dtype float32, with another --output"
                if state.global_step > 1
                else f"the loss is {loss} at the first step: the base's weights are not finite, or overflow in this "
                "--dtype; try --dtype float32"
            )

    def _record_measurement(self, state: TrainerState, model: Any) -> None:
        if not state.is_world_process_zero:
            return
        what = f"measuring after step {state.global_step}"
        was_training = model.training
        model.eval()
        try:
            figures = self._measure(base_of_adapter(model), lambda done, n: self._on_progress(what, done, n))
        finally:
            model.train(was_training)
        state.log_history.append({"step": state.global_step, MEASURED: dict(figures)})


def base_of_adapter(model: Any) -> Any:
    """Return the model itself, of a peft model the one that holds the adapter's layers."""
    return model.get_base_model() if hasattr(model, "get_base_model") else model


def end(control: TrainerControl) -> None:
    """End the training after this step, with a checkpoint that says so."""
    control.should_training_stop = control.should_save = True


def sum_tokens(log: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Sum the tokens of all steps: learned, in passes with a gradient; otherwise, in others (answers that are written,
    the base's logits), without what a copy of the base reads.
    """
    steps = [each[COMPUTED] for each in log if COMPUTED in each]
    return {kind: sum(each[kind] for each in steps) for kind in KINDS}


def read_measurements(log: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return `step` and the figures of each measurement."""
    return [{"step": each["step"], **each[MEASURED]} for each in log if MEASURED in each]


def check_finite(model: Any, sample: Sequence[Continuation], step: int) -> None:
    """Raise EvenhandError if a trained weight, or a log-probability of the sample, is not finite."""
    trained = (each for each in model.parameters() if each.requires_grad)
    what = ""
    if not all(bool(torch.isfinite(each).all()) for each in trained):
        what = "its weights are not finite"
    elif not all(math.isfinite(x) for one in sample for x in answer_log_probs(model, PaddedBatching(0), [one])[0]):
        what = "its weights are so large that its answers overflow"
    if what:
        raise EvenhandError(
            f"the model diverged at step {step}: {what}. It is not saved. Try a lower --learning-rate, --alpha or "
            "--clip, or --dtype float32, with another --output"
        )
