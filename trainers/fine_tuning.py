"""Fine-tuning of causal language models, by TRL and peft; a method says what is learned from examples, by what loss.

Examples are tokens as the backend that scores reads them, so that training reads what scoring reads.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, PrinterCallback, TrainerCallback, set_seed

from evenhand.errors import EvenhandError, UsageError
from evenhand.models.prefix_tree import Continuation
from evenhand.trainers.adapted_layers import adapter
from evenhand.trainers.batches import read_of
from evenhand.trainers.checkpoints import newest_complete
from evenhand.trainers.computed_tokens import Computed, ComputedTokens, computed
from evenhand.trainers.disk_space import check_disk
from evenhand.trainers.ending import Ending, ended_at
from evenhand.trainers.finite import Finite, check_finite
from evenhand.trainers.method import Beginning, Made
from evenhand.trainers.options import TuningOptions
from evenhand.trainers.over_steps import AtStep, OverSteps, measured
from evenhand.trainers.prepared import Prepared
from evenhand.trainers.processes import in_parts, is_main, passes_each
from evenhand.trainers.progress import OnProgress, unheard
from evenhand.trainers.steps import n_steps
from evenhand.trainers.supervised import answers
from evenhand.trainers.training_folder import UNFINISHED


@dataclass(frozen=True)
class Tuned:
    """losses: of each step; logs: all that the trainer's log says of it. seconds: since this process began. packing:
    that was used; note: why another was asked for. computed: tokens, of all steps.

    adapted: names of the layers that have an adapter. some: of what was learned. state: of weights that several
    processes hold in parts; None where the model has its own. judged: what the recipe says of it.
    """

    model: Any
    losses: tuple[float, ...]
    logs: tuple[dict[str, float], ...]
    steps: int
    seconds: float
    packing: str
    computed: Computed
    note: str = ""
    measured: tuple[AtStep, ...] = ()
    adapted: tuple[str, ...] = ()
    some: Continuation | None = None
    state: dict[str, Any] | None = None
    judged: Mapping[str, Any] | None = None


class _Watch(TrainerCallback):  # type: ignore[misc]
    """Tells how far the training is, keeps its losses, and ends it where there is none."""

    def __init__(self, on_progress: OnProgress):
        self.on_progress = on_progress

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._tell(state)  # the first step takes long, and its time counts

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._tell(state)

    def _tell(self, state: Any) -> None:
        self.on_progress("training", state.global_step, state.max_steps)

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **kwargs: Any) -> None:
        loss = (logs or {}).get("loss")
        if loss is not None and not math.isfinite(loss):
            raise EvenhandError(
                f"the loss became {loss} at step {state.global_step}: nothing can be learned from here. "
                "A lower --learning-rate or --clip, or --dtype float32, may help, with another --output"
                if state.global_step > 1
                else f"the loss is {loss} at the first step, before anything was learned: the model's own weights hold "
                "what is no number, or --dtype does not hold their figures (float32 does)"
            )


def fine_tune(prepared: Prepared, output: Path, on_progress: OnProgress = unheard) -> Tuned:
    """The tuned model. A training that was cut off goes on from its newest whole checkpoint in output/.training.

    It is measured before the first step, every prepared.how.measure_every and after the last. Raises UsageError where
    there is nothing to learn from, and EvenhandError where memory or the loss gives out, or weights are no numbers.
    """
    how = prepared.how
    if not prepared.examples:
        raise UsageError("there is no example to learn from; choose another setting, or a higher --limit")
    some = [] if in_parts() else read_of(prepared.examples[: how.batch_size])
    watching: list[TrainerCallback] = [
        ComputedTokens(how.max_tokens),  # first: what ends the training is measured
        Finite(some, how.measure_every),
    ]
    if how.measure_every:
        watching.append(OverSteps(prepared.measure, how.measure_every, on_progress, prepared.stop))
    watching.append(Ending())  # last: whatever ended the training, it is kept
    unfinished = output / UNFINISHED
    with _memory_explained(how):
        made = trainer_of(prepared, unfinished, on_progress, watching)
    trainer = made.trainer
    if is_main():
        check_disk(output, unfinished, trainer.model, how, n_steps(how, len(prepared.examples)))
    done = newest_complete(unfinished, lambda said: on_progress(said, 0, 0))
    if done and ended_at(done):
        trainer.args.max_steps, trainer.args.num_train_epochs = -1, 0  # no step is left: it only loads what was learned
    with _memory_explained(how):
        result = trainer.train(resume_from_checkpoint=str(done) if done else None)
        check_finite(trainer.model, some, trainer.state.global_step)
    logs = tuple(log for log in trainer.state.log_history if "loss" in log)
    sharded = trainer.is_fsdp_enabled or trainer.is_deepspeed_enabled
    tuned = trainer.accelerator.unwrap_model(trainer.model)
    return Tuned(
        tuned,
        tuple(float(log["loss"]) for log in logs),
        logs,
        trainer.state.global_step,
        result.metrics["train_runtime"],
        made.packing,
        computed(trainer.state.log_history),
        made.note,
        measured(trainer.state.log_history),
        _adapted(tuned),
        min(read_of(prepared.examples[: how.batch_size]), key=lambda each: len(each.read)),
        trainer.accelerator.get_state_dict(trainer.model_wrapped) if sharded else None,
        None if sharded else _judged(prepared, tuned, on_progress),
    )


def _adapted(tuned: Any) -> tuple[str, ...]:
    of_adapter = getattr(tuned, "peft_config", {}).get("default")
    return tuple(sorted(of_adapter.target_modules)) if of_adapter else ()


def _judged(prepared: Prepared, tuned: Any, on_progress: OnProgress) -> Mapping[str, Any] | None:
    if prepared.judged is None or not prepared.how.measure_every or not is_main():
        return None
    tuned.eval()
    asked = tuned.get_base_model() if hasattr(tuned, "get_base_model") else tuned
    return prepared.judged(asked, lambda done, rows: on_progress("asking what was learned", done, rows))


def trainer_of(
    prepared: Prepared, folder: Path, on_progress: OnProgress = unheard, callbacks: Sequence[TrainerCallback] = ()
) -> Made:
    """The method's trainer with the model loaded. Raises UsageError where options don't fit it.

    folder: of its checkpoints; it is made, but nothing is written there before the first.
    """
    how = prepared.how
    set_seed(how.seed)
    on_progress("loading the model", 0, 0)
    base = prepared.checkpoint.weights(AutoModelForCausalLM)
    beginning = Beginning(
        base,
        prepared.checkpoint,
        how,
        _arguments(how, folder, len(prepared.examples)),
        adapter(base, how) if how.method == "lora" else None,
        [_Watch(on_progress), *callbacks],  # a step is told before anything is measured after it
    )
    made = (prepared.method or answers)(beginning, prepared.examples)
    made.trainer.remove_callback(PrinterCallback)  # it prints every step's loss among the command's own lines
    return made


def _arguments(options: TuningOptions, folder: Path, examples: int) -> dict[str, Any]:
    return dict(
        output_dir=str(folder),
        per_device_train_batch_size=options.batch_size,
        gradient_accumulation_steps=passes_each(options.accumulation),
        learning_rate=options.learning_rate,
        lr_scheduler_type="constant_with_warmup" if options.schedule == "constant" else options.schedule,
        warmup_steps=options.warmup,
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
        use_cpu=not (torch.cuda.is_available() or torch.backends.mps.is_available()),
    )


@contextmanager
def _memory_explained(options: TuningOptions) -> Iterator[None]:
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        on_cpu = "allocate memory" in str(error)  # of no kind of its own there
        if not isinstance(error, (MemoryError, torch.OutOfMemoryError)) and not on_cpu:
            raise
        raise EvenhandError(
            f"memory does not suffice for {options.batch_size} examples a pass: a smaller --batch-size with a larger "
            "--accumulation learns the same; --quantization 4bit takes less for the weights on a GPU. A folder that "
            "holds checkpoints already goes on with its own options alone: choose another --output then"
        ) from error
