"""How many tokens a training computes, whatever its method: the measure by which methods are given the same budget.

A prefix that stands once in a tree-packed pass counts once, padding never. The figures stand in the trainer's own log,
so that a checkpoint keeps them and a training that goes on has them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from accelerate.utils import gather_object
from transformers import TrainerCallback, TrainerControl, TrainerState

from evenhand.errors import EvenhandError

COMPUTED = "computed tokens"  # in the trainer's log


@dataclass(frozen=True)
class Computed:
    """Tokens that the tuned model read in the steps. learned: in passes with a gradient; otherwise: in others (answers
    that are written, what the base says), of all weights without what a copy of the base reads.
    """

    learned: int = 0
    otherwise: int = 0

    def __add__(self, other: Computed) -> Computed:
        return Computed(self.learned + other.learned, self.otherwise + other.otherwise)


class ComputedTokens(TrainerCallback):  # type: ignore[misc]
    """Counts what the model's layers are given, of all processes. most: learned tokens after which the training ends,
    at the end of a step; None: however many.
    """

    def __init__(self, most: int | None = None):
        self._most = most
        self._now = Computed()
        self._counting = False
        self._mask: Any = None
        self._hooks: list[Any] = []

    def on_train_begin(
        self, args: Any, state: TrainerState, control: TrainerControl, model: Any = None, **kwargs: Any
    ) -> None:
        plain = model.get_base_model() if hasattr(model, "get_base_model") else model
        embeddings = plain.get_input_embeddings()  # every pass begins with them, whatever calls whom around them
        reads = next(each for each in plain.modules() if any(child is embeddings for child in each.children()))
        self._hooks = [
            reads.register_forward_pre_hook(self._note_mask, with_kwargs=True),
            embeddings.register_forward_pre_hook(self._count),
        ]

    def on_step_begin(self, args: Any, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        self._now, self._counting = Computed(), True

    def on_step_end(self, args: Any, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        self._counting = False  # what is measured between steps is no training
        step = sum(gather_object([self._now]), Computed())
        if not step.learned:
            raise EvenhandError(
                f"no token that step {state.global_step} learned from was counted: this model reads them in a way that "
                "evenhand does not know, and neither --max-tokens nor what training.json says of them would hold"
            )
        state.log_history.append({"step": state.global_step, COMPUTED: [step.learned, step.otherwise]})
        if self._most is not None and computed(state.log_history).learned >= self._most:
            control.should_training_stop = True

    def on_train_end(self, args: Any, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        for each in self._hooks:
            each.remove()

    def _note_mask(self, reads: torch.nn.Module, args: tuple[Any, ...], given: dict[str, Any]) -> None:
        self._mask = given.get("attention_mask")

    def _count(self, embeddings: torch.nn.Module, args: tuple[Any, ...]) -> None:
        mask, self._mask = self._mask, None
        if not self._counting:
            return
        tokens = _read(args[0], mask)
        self._now += Computed(learned=tokens) if torch.is_grad_enabled() else Computed(otherwise=tokens)


def _read(tokens: torch.Tensor, mask: Any) -> int:
    """A mask of (rows, places) tells padding; that of a tree has none."""
    if isinstance(mask, torch.Tensor) and mask.dim() == 2:
        return int(mask[:, -tokens.shape[-1] :].sum())
    return int(tokens.numel())


def computed(log_history: Iterable[Mapping[str, Any]]) -> Computed:
    """All that was computed in the steps."""
    return sum((Computed(*log[COMPUTED]) for log in log_history if COMPUTED in log), Computed())
