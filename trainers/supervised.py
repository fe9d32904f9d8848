"""Supervised training by TRL's SFTTrainer, with batches packed as trees and any loss of the logits."""

from __future__ import annotations

import os
from collections.abc import Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any

os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")  # TRL reports each training otherwise

import datasets
import torch
from trl import SFTConfig, SFTTrainer

from evenhand.errors import UsageError
from evenhand.models.tree_masks import Unsupported
from evenhand.trainers.losses import AnswerLoss, Loss, divergence
from evenhand.trainers.packing import (
    Batch,
    Batching,
    PaddedBatching,
    TreeBatching,
    continuations_of,
    find_tree_fault,
)
from evenhand.trainers.processes import in_parts

if TYPE_CHECKING:
    from evenhand.trainers.run import Setup

PLACES = 64  # within the prompts of a pass, where the divergence from the base is computed


def make_supervised(setup: Setup, examples: Sequence[Any], loss: Loss | None = None) -> Supervised:
    """Make the trainer that minimizes a loss, by default that of the examples' answers."""
    tokenizer = setup.checkpoint.tokenizer
    padding = next(token for token in (tokenizer.pad_token_id, tokenizer.eos_token_id, 0) if token is not None)
    batching: Batching = PaddedBatching(padding)
    fault = ""
    if setup.options.packing != "padded":
        try:
            batching = TreeBatching(setup.base)
        except Unsupported as error:
            fault = str(error)
    trainer = Supervised(
        batching,
        loss or AnswerLoss(),
        examples,
        setup.options.divergence,
        model=setup.base,
        args=SFTConfig(
            **setup.arguments,
            dataset_kwargs={"skip_prepare_dataset": True},
            router_aux_loss_coef=0.0,  # a mixture of experts' further loss knows no trees
        ),
        processing_class=tokenizer,
        peft_config=setup.lora,
        callbacks=list(setup.callbacks),
    )
    if batching.name == "tree" and not in_parts():
        fault = find_tree_fault(trainer.model, batching, PaddedBatching(padding), len(tokenizer))
    if fault:
        if setup.options.packing == "tree":
            raise UsageError(f"--packing tree: {setup.checkpoint.path} can't be packed ({fault}); use --packing padded")
        trainer.batching = PaddedBatching(padding)
        trainer.note = f"batches are padded, since the model can't read trees ({fault})"
    return trainer


class Supervised(SFTTrainer):  # type: ignore[misc]
    """SFTTrainer with a batching, a loss and a divergence from the base of its own."""

    note = ""

    def __init__(self, batching: Batching, loss: Loss, examples: Sequence[Any], coefficient: float, **settings: Any):
        """coefficient: of the divergence from the base model."""
        self.batching, self.loss, self.coefficient = batching, loss, coefficient
        self._base = deepcopy(settings["model"]).eval() if coefficient and settings["peft_config"] is None else None
        if self._base is not None and hasattr(self._base.config.get_text_config(), "output_router_logits"):
            self._base.config.get_text_config().output_router_logits = False  # as TRL sets it in the trained model
        super().__init__(
            data_collator=lambda rows: self.batch([examples[row["place"]] for row in rows]),
            train_dataset=datasets.Dataset.from_dict({"place": range(len(examples))}),
            **settings,
        )

    @property
    def packing(self) -> str:
        return self.batching.name

    def batch(self, examples: Sequence[Any]) -> Batch:
        """Make a batch: `labels` of all examples, and `passes`, the batch of each pass, where there are several."""
        passes = [
            self.batching.batch(continuations_of(some), PLACES if self.coefficient else 0) | self.loss.batch(some)
            for some in self.loss.passes(examples)
        ]
        if len(passes) == 1:
            return passes[0]
        labels = torch.cat([each["labels"] for each in passes])
        return {"labels": labels, "passes": [each | {"share": 1 / len(passes)} for each in passes]}

    def training_step(self, model: Any, inputs: Batch, num_items_in_batch: Any = None) -> torch.Tensor:
        """Make one pass after another, so that memory is needed for one; their gradients are added."""
        if "passes" not in inputs:
            return super().training_step(model, inputs, num_items_in_batch)
        losses = [super(Supervised, self).training_step(model, each, num_items_in_batch) for each in inputs["passes"]]
        return torch.stack(losses).sum()

    def compute_loss(
        self, model: Any, inputs: Batch, return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> torch.Tensor:
        """Compute the mean loss; of several processes each its part, which are averaged afterwards."""
        logits = self.batching.logits(model, inputs)
        loss = self.loss.summed(logits.answers, inputs)
        if num_items_in_batch is None:
            loss = loss / len(inputs["labels"])
        else:
            loss = loss / num_items_in_batch * self.accelerator.num_processes
        if self.coefficient and len(logits.prompts):
            apart = divergence(self._base_logits(model, inputs), logits.prompts)
            share = inputs.get("share", 1.0) / self.args.gradient_accumulation_steps
            loss = loss + self.coefficient * apart * share
        return loss

    def _base_logits(self, model: Any, inputs: Batch) -> torch.Tensor:
        """Compute the base's logits within the prompts: of the copy, or with the adapter off."""
        plain = self.accelerator.unwrap_model(model)
        was_training = plain.training
        with torch.no_grad():
            if self._base is not None:
                return self.batching.logits(self._base.to(plain.device), inputs).prompts
            with plain.disable_adapter():
                plain.eval()
                try:
                    return self.batching.logits(plain, inputs).prompts
                finally:
                    plain.train(was_training)
