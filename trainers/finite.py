"""A model whose weights are no numbers, or whose answers overflow, is found before it is saved as a trained one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.nn.functional import cross_entropy
from transformers import TrainerCallback, TrainerControl, TrainerState

from evenhand.errors import EvenhandError
from evenhand.models.prefix_tree import Continuation


class Finite(TrainerCallback):  # type: ignore[misc]
    """Looks after each step behind which something is saved or measured, and after the last.

    The loss of a step is of the weights before it: what the last step did would be seen in no loss.
    """

    def __init__(self, some: Sequence[Continuation], every: int):
        """some: of what is learned. every: steps between measurements; 0: none."""
        self._some = some
        self._every = every

    def on_step_end(
        self, args: Any, state: TrainerState, control: TrainerControl, model: Any = None, **kwargs: Any
    ) -> None:
        measured = bool(self._every) and state.global_step % self._every == 0
        if control.should_save or control.should_training_stop or measured:
            check_finite(model, self._some, state.global_step)


def check_finite(model: Any, some: Sequence[Continuation], step: int) -> None:
    """Raises EvenhandError where a tuned weight is no number, or some of what is learned has a loss that is none.

    some: each is read by itself; none where this process has no whole model.
    """
    weights = (each for each in model.parameters() if each.requires_grad)
    if not all(bool(torch.isfinite(each).all()) for each in weights):
        raise _astray("its weights hold what is no number", step)
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            losses = [_loss(model, each) for each in some]
    finally:
        model.train(was_training)
    if not all(map(torch.isfinite, losses)):
        raise _astray("its weights are so large that its answers overflow", step)


def _loss(model: Any, of: Continuation) -> torch.Tensor:
    read = torch.tensor([of.read], device=next(model.parameters()).device)
    logits = model(input_ids=read, use_cache=False).logits[0]
    return cross_entropy(logits[:-1].float(), read[0, 1:])


def _astray(what: str, step: int) -> EvenhandError:
    return EvenhandError(
        f"the model went astray at step {step}: {what}. It is not saved. A lower --learning-rate, --alpha or --clip, "
        "or --dtype float32, may help, with another --output"
    )
