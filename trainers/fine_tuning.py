"""Fine-tuning of causal language models on answers to prompts, by TRL and peft.

Examples are tokens as the backend that scores reads them, so that training reads what scoring reads; the loss is of the
answers alone, a mean over the tokens of all of a step's.
"""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")  # TRL tells of each training otherwise

import datasets
import torch
from peft import LoraConfig
from transformers import AutoModelForCausalLM, PreTrainedModel, PrinterCallback, TrainerCallback, set_seed
from trl import SFTConfig, SFTTrainer

from evenhand.errors import EvenhandError, UsageError
from evenhand.models.loading import Checkpoint
from evenhand.models.prefix_tree import Continuation
from evenhand.models.tree_masks import Unsupported
from evenhand.trainers.batches import Batch, Batching, PaddedBatching, TreeBatching
from evenhand.trainers.checkpoints import newest_complete
from evenhand.trainers.options import TuningOptions
from evenhand.trainers.over_steps import AtStep, Measure, OverSteps, measured
from evenhand.trainers.processes import passes_each
from evenhand.trainers.progress import OnProgress, unheard

UNFINISHED = ".training"  # in the output folder: the checkpoints of a training that goes on


@dataclass(frozen=True)
class Tuned:
    """losses: of each step. seconds: since this process began. packing: that was used; note: why another was asked for.

    state: of weights that several processes hold in parts; None where the model has its own.
    """

    model: Any
    losses: tuple[float, ...]
    steps: int
    seconds: float
    packing: str
    note: str = ""
    measured: tuple[AtStep, ...] = ()
    state: dict[str, Any] | None = None


class Tuning(SFTTrainer):  # type: ignore[misc]
    """TRL's, on batches of ours."""

    def __init__(self, batching: Batching, **settings: Any):
        self.batching = batching
        super().__init__(data_collator=lambda rows: batching.batch([_example(row) for row in rows]), **settings)

    def compute_loss(
        self, model: Any, inputs: Batch, return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> torch.Tensor:
        """Of processes that share a step, each adds its part of the mean: they are averaged afterwards."""
        loss = self.batching.summed_loss(model, inputs)
        n = len(inputs["labels"]) if num_items_in_batch is None else num_items_in_batch
        return loss / n * (self.accelerator.num_processes if num_items_in_batch is not None else 1)


class _Watch(TrainerCallback):  # type: ignore[misc]
    """Tells how far the training is, keeps its losses, and ends it where there is none."""

    def __init__(self, on_progress: OnProgress):
        self.on_progress = on_progress

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.on_progress("training", state.global_step, state.max_steps)

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **kwargs: Any) -> None:
        loss = (logs or {}).get("loss")
        if loss is not None and not math.isfinite(loss):
            raise EvenhandError(
                f"the loss became {loss} at step {state.global_step}: nothing can be learned from here. "
                "A lower --learning-rate or --clip, or --dtype float32, may help, with another --output"
            )


def fine_tune(
    checkpoint: Checkpoint,
    examples: Sequence[Continuation],
    options: TuningOptions,
    output: Path,
    on_progress: OnProgress = unheard,
    measure: Measure | None = None,
) -> Tuned:
    """The tuned model. A training that was cut off goes on from its newest whole checkpoint in output/.training.

    measure: taken before the first step, every options.measure_every and after the last; None: nothing is.
    Raises UsageError where there is nothing to learn from, and EvenhandError where memory or the loss gives out.
    """
    if not examples:
        raise UsageError("there is no example to learn from; choose another setting, or a higher --limit")
    watching = [OverSteps(measure, options.measure_every, on_progress)] if measure and options.measure_every else []
    unfinished = output / UNFINISHED
    trainer, note = prepared(checkpoint, examples, options, unfinished, on_progress, watching)
    done = newest_complete(unfinished)
    with _memory_explained(options):
        result = trainer.train(resume_from_checkpoint=str(done) if done else None)
    sharded = trainer.is_fsdp_enabled or trainer.is_deepspeed_enabled
    return Tuned(
        trainer.accelerator.unwrap_model(trainer.model),
        tuple(float(log["loss"]) for log in trainer.state.log_history if "loss" in log),
        trainer.state.global_step,
        result.metrics["train_runtime"],
        trainer.batching.name,
        note,
        measured(trainer.state.log_history),
        trainer.accelerator.get_state_dict(trainer.model_wrapped) if sharded else None,
    )


def prepared(
    checkpoint: Checkpoint,
    examples: Sequence[Continuation],
    options: TuningOptions,
    folder: Path,
    on_progress: OnProgress,
    callbacks: Sequence[TrainerCallback] = (),
) -> tuple[Tuning, str]:
    """TRL's trainer with the model loaded, and why its batches are not as asked for, if they aren't.

    folder: of its checkpoints; it is made, but nothing is written there before the first.
    """
    set_seed(options.seed)
    on_progress("loading the model", 0, 0)
    base = checkpoint.weights(AutoModelForCausalLM)
    batching, note = _batching(base, checkpoint, options)
    trainer = Tuning(
        batching,
        model=base,
        args=_arguments(options, folder, len(examples)),
        train_dataset=datasets.Dataset.from_list([{"read": each.prompt, "written": each.answer} for each in examples]),
        processing_class=checkpoint.tokenizer,
        peft_config=_lora(options) if options.method == "lora" else None,
        callbacks=[*callbacks, _Watch(on_progress)],
    )
    trainer.remove_callback(PrinterCallback)  # it prints every step's loss among the command's own lines
    return trainer, note


def remove_unfinished(output: Path) -> None:
    shutil.rmtree(output / UNFINISHED, ignore_errors=True)


def _batching(base: PreTrainedModel, checkpoint: Checkpoint, options: TuningOptions) -> tuple[Batching, str]:
    padding = next(
        t for t in (checkpoint.tokenizer.pad_token_id, checkpoint.tokenizer.eos_token_id, 0) if t is not None
    )
    if options.packing == "padded":
        return PaddedBatching(padding), ""
    try:
        return TreeBatching(base), ""
    except Unsupported as error:
        if options.packing == "tree":
            raise UsageError(
                f"--packing tree: {checkpoint.path} can't be packed ({error}); --packing padded can"
            ) from error
        return PaddedBatching(padding), f"batches are padded, since the model can't be given trees ({error})"


def _lora(options: TuningOptions) -> LoraConfig:
    named = {"all-linear": "all-linear", "default": None}
    targets = named[options.targets] if options.targets in named else options.targets.split(",")
    return LoraConfig(
        r=options.rank,
        lora_alpha=options.alpha,
        lora_dropout=options.dropout,
        target_modules=targets,
        task_type="CAUSAL_LM",
    )


def n_steps(options: TuningOptions, examples: int) -> int:
    """Of the whole training: of its epochs, or fewer as --max-steps says."""
    passes = math.ceil(examples / options.batch_size)
    steps = max(1, math.ceil(options.epochs * math.ceil(passes / options.accumulation)))
    return steps if options.max_steps is None else min(steps, options.max_steps)


def _arguments(options: TuningOptions, folder: Path, examples: int) -> SFTConfig:
    return SFTConfig(
        output_dir=str(folder),
        per_device_train_batch_size=options.batch_size,
        gradient_accumulation_steps=passes_each(options.accumulation),
        learning_rate=options.learning_rate,
        lr_scheduler_type="constant",
        weight_decay=0.0,
        max_grad_norm=options.clip,
        optim="paged_adamw_32bit" if options.quantization else "adamw_torch",
        max_steps=n_steps(options, examples),
        seed=options.seed,
        data_seed=options.seed,
        bf16=False,
        gradient_checkpointing=False,
        logging_steps=1,
        logging_first_step=True,
        logging_nan_inf_filter=False,
        save_steps=options.save_every,
        save_total_limit=2,
        report_to=[],
        disable_tqdm=True,
        remove_unused_columns=False,
        ddp_find_unused_parameters=False,
        dataloader_pin_memory=torch.cuda.is_available(),
        dataset_kwargs={"skip_prepare_dataset": True},
        use_cpu=not (torch.cuda.is_available() or torch.backends.mps.is_available()),
    )


def _example(row: dict[str, Any]) -> Continuation:
    return Continuation(tuple(row["read"]), tuple(row["written"]))


@contextmanager
def _memory_explained(options: TuningOptions) -> Iterator[None]:
    try:
        yield
    except (torch.OutOfMemoryError, MemoryError) as error:
        raise EvenhandError(
            f"memory does not suffice for {options.batch_size} examples a pass: a smaller --batch-size with a larger "
            "--accumulation learns the same; --quantization 4bit takes less for the weights on a GPU. The folder holds "
            "this training: choose another --output for another batch size"
        ) from error
