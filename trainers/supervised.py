"""Making a loss small that is of logits: of answers to be learned, a mean over the tokens of all of a step's."""

from __future__ import annotations

import os
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")  # TRL tells of each training otherwise

import datasets
import torch
from trl import SFTConfig, SFTTrainer

from evenhand.errors import UsageError
from evenhand.models.prefix_tree import Continuation
from evenhand.models.tree_masks import Unsupported
from evenhand.trainers.batches import Batch, Batching, PaddedBatching, TreeBatching, read_of
from evenhand.trainers.losses import AnswerLoss, Loss, divergence
from evenhand.trainers.method import Beginning, Made
from evenhand.trainers.processes import in_parts
from evenhand.trainers.tree_check import tree_fails

PLACES = 64  # within the prompts of a pass, at which the divergence from the base is taken


def answers(beginning: Beginning, examples: Sequence[Continuation]) -> Made:
    """The method of all recipes that know what is to be answered."""
    return by_loss(AnswerLoss(), beginning, examples)


def by_loss(loss: Loss, beginning: Beginning, examples: Sequence[Any]) -> Made:
    """Makes a loss of the logits small."""
    batching, note = _batching(beginning)
    trainer = Tuning(
        batching,
        loss,
        examples,
        beginning.options.divergence,
        model=beginning.base,
        args=SFTConfig(
            **beginning.arguments,
            dataset_kwargs={"skip_prepare_dataset": True},
            router_aux_loss_coef=0.0,  # of a mixture of experts: the loss is ours, and this one knows no trees
        ),
        processing_class=beginning.checkpoint.tokenizer,
        peft_config=beginning.lora,
        callbacks=list(beginning.callbacks),
    )
    if batching.name == TreeBatching.name and not in_parts():
        padded = PaddedBatching(_padding(beginning))
        if why := tree_fails(trainer.model, batching, padded, len(beginning.checkpoint.tokenizer)):
            note = _padded_instead(beginning, why)
            trainer.batching = padded
    return Made(trainer, trainer.batching.name, note)


class Tuning(SFTTrainer):  # type: ignore[misc]
    """TRL's, on batches and with a loss of ours."""

    def __init__(self, batching: Batching, loss: Loss, examples: Sequence[Any], coefficient: float, **settings: Any):
        """coefficient: of the divergence from the base model."""
        self.batching = batching
        self.loss = loss
        self.coefficient = coefficient
        self._base = deepcopy(settings["model"]).eval() if coefficient and settings["peft_config"] is None else None
        if self._base is not None and hasattr(self._base.config.get_text_config(), "output_router_logits"):
            self._base.config.get_text_config().output_router_logits = False  # as TRL has it in the tuned model
        places = datasets.Dataset.from_dict({"place": range(len(examples))})
        super().__init__(
            data_collator=lambda rows: self.batch([examples[row["place"]] for row in rows]),
            train_dataset=places,
            **settings,
        )

    def batch(self, examples: Sequence[Any]) -> Batch:
        """`labels`: of all; `passes`: the batch of each, where there are several."""
        passes = [self._pass(each) for each in self.loss.passes(examples)]
        return (
            passes[0]
            if len(passes) == 1
            else {
                "labels": torch.cat([each["labels"] for each in passes]),
                "passes": [each | {"share": 1 / len(passes)} for each in passes],
            }
        )

    def _pass(self, examples: Sequence[Any]) -> Batch:
        return self.batching.batch(read_of(examples), PLACES if self.coefficient else 0) | self.loss.batch(examples)

    def training_step(self, model: Any, inputs: Batch, num_items_in_batch: Any = None) -> torch.Tensor:
        """One pass after another, so that memory is needed for one; their gradients are added."""
        if "passes" not in inputs:
            return super().training_step(model, inputs, num_items_in_batch)
        losses = [super(Tuning, self).training_step(model, each, num_items_in_batch) for each in inputs["passes"]]
        return torch.stack(losses).sum()

    def compute_loss(
        self, model: Any, inputs: Batch, return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> torch.Tensor:
        """Of processes that share a step, each adds its part of the mean: they are averaged afterwards."""
        logits = self.batching.logits(model, inputs)
        loss = self.loss.summed(logits.answers, inputs)
        if num_items_in_batch is None:
            loss = loss / len(inputs["labels"])
        else:
            loss = loss / num_items_in_batch * self.accelerator.num_processes
        if self.coefficient and len(logits.prompts):
            apart = divergence(self._of_base(model, inputs), logits.prompts)
            share = inputs.get("share", 1.0) / self.args.gradient_accumulation_steps
            loss = loss + self.coefficient * apart * share
        return loss

    def _of_base(self, model: Any, inputs: Batch) -> torch.Tensor:
        """Logits within the prompts, before anything was learned."""
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


def _batching(beginning: Beginning) -> tuple[Batching, str]:
    """And why it is another than asked for."""
    padded = PaddedBatching(_padding(beginning))
    if beginning.options.packing == "padded":
        return padded, ""
    try:
        return TreeBatching(beginning.base), ""
    except Unsupported as error:
        return padded, _padded_instead(beginning, str(error))


def _padding(beginning: Beginning) -> int:
    tokenizer = beginning.checkpoint.tokenizer
    return next(token for token in (tokenizer.pad_token_id, tokenizer.eos_token_id, 0) if token is not None)


def _padded_instead(beginning: Beginning, why: str) -> str:
    """What to say of it. Raises UsageError where a tree was asked for."""
    if beginning.options.packing == "tree":
        raise UsageError(f"--packing tree: {beginning.checkpoint.path} can't be packed ({why}); --packing padded can")
    return f"batches are padded, since the model can't be given trees ({why})"
