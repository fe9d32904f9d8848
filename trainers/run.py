"""Train a prepared recipe with TRL and peft, resume it from its checkpoints, or estimate what it takes."""

from __future__ import annotations

import json
import logging
import math
import random
import re
import shutil
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from peft import LoraConfig
from transformers import AutoModelForCausalLM, PreTrainedModel, PrinterCallback, Trainer, TrainerCallback, set_seed
from transformers.trainer_utils import SaveStrategy

from evenhand.errors import EvenhandError, UsageError
from evenhand.models.loading import Checkpoint
from evenhand.models.prefix_tree import Continuation, distinct_tokens
from evenhand.report.tables import n_of
from evenhand.trainers.adapters import adapter_config
from evenhand.trainers.callbacks import SECONDS, TokenCounter, Watch, base_of_adapter, sum_tokens
from evenhand.trainers.options import TuningOptions
from evenhand.trainers.packing import continuations_of
from evenhand.trainers.processes import in_parts, is_main, n_processes, passes_each
from evenhand.trainers.progress import OnProgress, unheard
from evenhand.trainers.supervised import make_supervised
from evenhand.trainers.training_folder import UNFINISHED

if TYPE_CHECKING:
    from evenhand.trainers.recipe import Prepared

TIMED_STEPS = 3  # of a plan; the first warms up and is not counted
SAMPLED_PASSES = 32
CHECKPOINTS = 3  # on the disk together: two are kept, and the oldest goes after a new one is written
STATE = "trainer_state.json"  # transformers writes it last


@dataclass(frozen=True)
class Setup:
    """What every method's trainer is made of. lora: None where all weights are trained."""

    base: PreTrainedModel
    checkpoint: Checkpoint
    options: TuningOptions
    arguments: Mapping[str, Any]
    lora: LoraConfig | None
    callbacks: Sequence[TrainerCallback]


@dataclass(frozen=True)
class Tuned:
    """A trained model.

    Attributes:
        log: the trainer's own, of all steps.
        seconds: since this process began to train.
        packing, note: of its batches, and why they are not as asked for.
        sample: one example of what was learned; None where this process has no whole model.
        state: weights that several processes hold in parts; None where the model has its own.
        judged: what the recipe says of the trained model.
    """

    model: Any
    log: Sequence[dict[str, Any]]
    steps: int
    seconds: float
    packing: str
    note: str
    sample: Continuation | None
    state: dict[str, Any] | None
    judged: Mapping[str, Any] | None

    @property
    def adapted_layers(self) -> list[str]:
        adapter = getattr(self.model, "peft_config", {}).get("default")
        return sorted(adapter.target_modules) if adapter else []


def fine_tune(prepared: Prepared, output: Path, on_progress: OnProgress = unheard) -> Tuned:
    """Train, or go on from the newest complete checkpoint in output/.training.

    Raises UsageError where there is no example, and EvenhandError where memory, disk or the loss gives out.
    """
    how = prepared.how
    if not prepared.examples:
        raise UsageError("there is no example to learn from; choose another setting, or a higher --limit")
    read = continuations_of(prepared.examples[: how.batch_size])
    watch = Watch(prepared.measure, how.measure_every, [] if in_parts() else read, on_progress, prepared.stop)
    unfinished = output / UNFINISHED
    with _explain_memory(how):
        trainer = make_trainer(prepared, unfinished, on_progress, [TokenCounter(how.max_tokens), watch])
        if is_main():
            _check_disk(output, trainer.model, how, how.count_steps(len(prepared.examples)))
        done = find_checkpoint(unfinished)
        if done and _has_ended(done):  # transformers makes a step before it looks whether any is left: only load
            trainer.args.max_steps, trainer.args.num_train_epochs = -1, 0
        result = trainer.train(resume_from_checkpoint=str(done) if done else None)
    sharded = trainer.is_fsdp_enabled or trainer.is_deepspeed_enabled
    model = trainer.accelerator.unwrap_model(trainer.model)
    judged = None
    if prepared.judge and how.measure_every and is_main() and not sharded:
        model.eval()
        judged = prepared.judge(base_of_adapter(model), lambda rows, n: on_progress("asking what was learned", rows, n))
    return Tuned(
        model,
        trainer.state.log_history,
        trainer.state.global_step,
        result.metrics["train_runtime"],
        trainer.packing,
        trainer.note,
        None if in_parts() else min(read, key=lambda each: len(each.read)),
        trainer.accelerator.get_state_dict(trainer.model_wrapped) if sharded else None,
        judged,
    )


def make_trainer(
    prepared: Prepared, folder: Path, on_progress: OnProgress = unheard, callbacks: Sequence[TrainerCallback] = ()
) -> Trainer:
    """Load the model and make the method's trainer; folder: of its checkpoints.

    It has `packing`, how its batches are made, and `note`, why that is not as asked for.
    """
    how = prepared.how
    set_seed(how.seed)
    on_progress("loading the model", 0, 0)
    base = prepared.checkpoint.weights(AutoModelForCausalLM)
    arguments = dict(
        output_dir=str(folder),
        per_device_train_batch_size=how.batch_size,
        gradient_accumulation_steps=passes_each(how.accumulation),
        learning_rate=how.learning_rate,
        lr_scheduler_type="constant_with_warmup" if how.schedule == "constant" else how.schedule,
        warmup_steps=how.warmup,
        weight_decay=0.0,
        max_grad_norm=how.clip,
        optim="paged_adamw_32bit" if how.quantization else "adamw_torch",
        max_steps=how.count_steps(len(prepared.examples)),
        seed=how.seed,
        data_seed=how.seed,
        bf16=False,
        gradient_checkpointing=False,
        logging_steps=1,
        logging_first_step=True,
        logging_nan_inf_filter=False,
        save_steps=how.save_every,
        save_total_limit=CHECKPOINTS - 1,
        report_to=[],
        disable_tqdm=True,
        remove_unused_columns=False,
        ddp_find_unused_parameters=False,
        dataloader_pin_memory=torch.cuda.is_available(),
        use_cpu=not (torch.cuda.is_available() or torch.backends.mps.is_available()),
    )
    lora = adapter_config(base, how) if how.method == "lora" else None
    setup = Setup(base, prepared.checkpoint, how, arguments, lora, callbacks)
    trainer = (prepared.method or make_supervised)(setup, prepared.examples)
    trainer.remove_callback(PrinterCallback)  # it prints every step's loss
    return trainer


def find_checkpoint(folder: Path) -> Path | None:
    """Return the newest complete checkpoint: with its state, written last, and all processes' random states."""
    n = n_processes()
    random_states = [f"rng_state_{rank}.pth" for rank in range(n)] if n > 1 else ["rng_state.pth"]
    for each in sorted(folder.glob("checkpoint-*"), key=lambda each: int(each.name.partition("-")[2]), reverse=True):
        try:
            json.loads((each / STATE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if all((each / name).is_file() for name in random_states):
            return each
    return None


def _has_ended(checkpoint: Path) -> bool:
    """Whether the training ended with this checkpoint's step, by its steps, its tokens or a measurement."""
    state = json.loads((checkpoint / STATE).read_text(encoding="utf-8"))
    return bool(state["stateful_callbacks"]["TrainerControl"]["args"]["should_training_stop"])


def count_bytes(model: torch.nn.Module, options: TuningOptions, steps: int) -> int:
    """Count the bytes of checkpoints (weights and AdamW's two moments), of the result, and of merged weights."""
    weights = list(model.parameters())
    learned: int = sum(each.nbytes for each in weights if each.requires_grad)
    merged: int = sum(each.nbytes for each in weights) if options.merge else 0
    return min(CHECKPOINTS, math.ceil(steps / options.save_every)) * 3 * learned + learned + merged


def _check_disk(output: Path, model: torch.nn.Module, options: TuningOptions, steps: int) -> None:
    there = sum(each.stat().st_size for each in (output / UNFINISHED).rglob("*") if each.is_file())
    need, free = count_bytes(model, options, steps) - there, shutil.disk_usage(output).free
    if need > free:
        raise EvenhandError(
            f"this training writes up to {need / 1e9:.2f} GB, and the disk of {output} has {free / 1e9:.2f} GB free: "
            f"free space{', leave out --merge' if options.merge else ''}, or choose another --output"
        )


@contextmanager
def _explain_memory(options: TuningOptions) -> Iterator[None]:
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        on_cpu = "allocate memory" in str(error)  # torch has no exception of its own there
        if not isinstance(error, (MemoryError, torch.OutOfMemoryError)) and not on_cpu:
            raise
        raise EvenhandError(
            f"out of memory with {options.batch_size} examples per pass: a smaller --batch-size with a larger "
            "--accumulation learns the same; --quantization 4bit needs less on a GPU. Choose another --output"
        ) from error


@contextmanager
def quiet_libraries() -> Iterator[None]:
    """Suppress a notice of transformers on special tokens, and peft's warnings of what is checked here."""
    logger = logging.getLogger("transformers.trainer_utils")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=UserWarning, module=r"peft\.")
            yield
    finally:
        logger.setLevel(level)


def plan(prepared: Prepared, on_progress: OnProgress) -> list[str]:
    """Estimate tokens, time and memory, in sentences, from some steps of real batches that are then forgotten."""
    examples, options = prepared.examples, prepared.how
    steps = options.count_steps(len(examples))
    some = replace(options, max_steps=min(TIMED_STEPS, steps), save_every=TIMED_STEPS + 1, measure_every=0)
    with tempfile.TemporaryDirectory() as folder, quiet_libraries():
        trainer = make_trainer(replace(prepared, how=some), Path(folder), on_progress, [TokenCounter()])
        trainer.args.save_strategy = SaveStrategy.NO
        trainer.train()
    timed = [log[SECONDS] for log in trainer.state.log_history if SECONDS in log]
    a_step = sum_tokens(trainer.state.log_history)["learned"] / len(timed)
    steps = steps if options.max_tokens is None else min(steps, math.ceil(options.max_tokens / a_step))
    seconds = steps * sum(timed[1:] or timed) / len(timed[1:] or timed)
    order = random.Random(options.seed)
    passes = [order.sample(examples, min(options.batch_size, len(examples))) for _ in range(SAMPLED_PASSES)]
    share = steps * options.examples_a_step(len(examples)) / sum(map(len, passes))
    read = [continuations_of(one) for one in passes]
    tokens, distinct = sum(len(each.read) for one in read for each in one), sum(map(distinct_tokens, read))
    device = "GPU memory" if torch.cuda.is_available() else "memory"
    return [
        f"{n_of(len(examples), 'example')}, {n_of(steps, 'step')}, batches {trainer.packing}",
        f"about {round(share * tokens):,} tokens to read, about {round(share * distinct):,} distinct per pass "
        f"({tokens / distinct:.1f} x)",
        f"about {a_step:,.0f} tokens per step in passes with a gradient (--max-tokens counts these)",
        f"about {seconds / 60:.1f} minutes and {peak_memory() / 2**30:.1f} GiB of {device}, from timed steps, without "
        "measurements",
        *([trainer.note] if trainer.note else []),
        "Nothing was stored.",
    ]


def peak_memory() -> int:
    """Return the peak bytes of the GPU, if there is one, else of this process."""
    if torch.cuda.is_available():
        return int(torch.cuda.max_memory_allocated())
    status = Path("/proc/self/status")  # of Linux, whose ru_maxrss may be that of the parent process
    if status.is_file() and (found := re.search(r"VmHWM:\s+(\d+) kB", status.read_text(encoding="utf-8"))):
        return int(found[1]) * 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # bytes on macOS
