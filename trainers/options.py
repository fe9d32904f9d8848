"""Options of every trainer; a paper's own trainer overrides defaults, and adds options of its own."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Literal

from evenhand.errors import UsageError
from evenhand.models.registry import DType
from evenhand.models.template_settings import template_date, template_options
from evenhand.options import option
from evenhand.paths import typed_path

SEED = 42  # the default of transformers and of the papers' code
NAMED_TARGETS = ("all-linear", "default")
PUBLISHED_TARGETS = (
    "layers with an adapter: default (query and value projections, as published), all-linear, or names with commas"
)
ADAPTER_OPTIONS = ("quantization", "rank", "alpha", "dropout", "targets", "merge")


@dataclass(frozen=True)
class TuningOptions:
    """Options of every trainer. An effective batch has batch_size × accumulation examples."""

    model: str = option("", "base model: embedded, a Hub id, or a local folder", metavar="MODEL")
    revision: str | None = option(None, "branch, tag or commit of a Hub model", metavar="REF")
    template_options: tuple[tuple[str, str], ...] = template_options()
    date: str | None = template_date()
    base_id: str | None = option(
        None,
        "Hub id of a base in a local folder, for adapter and card; without it they name none, and only training.json "
        "has the folder",
        metavar="ORG/NAME",
    )
    dtype: DType = option(
        "auto", "of the base's weights; adapters are float32, or bfloat16 on a quantized base, as in TRL"
    )
    quantization: Literal["4bit", "8bit"] | None = option(None, "of the base's weights (QLoRA), on a CUDA GPU")
    method: Literal["lora", "full"] = option("lora", "train an adapter, or all weights")
    rank: int = option(64, "rank of the adapter", least=1, metavar="R")
    alpha: float = option(16.0, "scale of the adapter, divided by its rank", above=0, metavar="A")
    dropout: float = option(0.1, "dropout of the adapter's inputs", least=0, most=0.99, metavar="P")
    targets: str = option(
        "all-linear",
        "layers with an adapter: all-linear, default (query and value projections), or names such as q_proj,v_proj",
    )
    learning_rate: float = option(3e-4, "peak learning rate", above=0, most=1, metavar="X")
    schedule: Literal["constant", "linear", "cosine"] = option(
        "constant", "of the learning rate: constant, as in the papers, or falling to 0 at the last step"
    )
    warmup: int = option(0, "steps in which the learning rate rises from 0", least=0, metavar="N")
    epochs: float = option(1.0, "passes over the examples", above=0, metavar="N")
    max_steps: int | None = option(None, "maximum number of steps", least=1, metavar="N")
    max_tokens: int | None = option(
        None,
        "stop after the step that reaches this many tokens in passes with a gradient: a shared prefix counts once, "
        "padding never; comparable between trainers",
        least=1,
        metavar="N",
    )
    batch_size: int = option(6, "examples per forward pass", least=1, metavar="N")
    accumulation: int = option(2, "passes per step", least=1, metavar="N")
    clip: float = option(0.3, "maximum norm of the gradient", above=0, metavar="X")
    divergence: float = option(
        0.0,
        "coefficient of the divergence from the base model, at 64 positions in the prompts of a pass; 0: none, as "
        "published",
        least=0,
        metavar="X",
    )
    packing: Literal["auto", "tree", "padded"] = option(
        "auto", "tree: compute what examples of a batch share once; auto: tree where the model supports it"
    )
    seed: int = option(SEED, "of the examples' order and the adapter's weights", least=0, most=2**32 - 1, metavar="S")
    save_every: int = option(50, "steps between checkpoints to resume from", least=1, metavar="N")
    measure_every: int = option(
        50,
        "steps between measurements on held-out rows, and before the first and after the last step; 0: none",
        least=0,
    )
    measured: int = option(48, "held-out rows to measure", least=1, metavar="N")
    merge: bool = option(False, "also write full weights, to the folder merged")
    plan: bool = option(False, "estimate tokens, time and memory from three timed steps; nothing is written")

    @property
    def answers_each(self) -> int:
        """Answers that are written to each example."""
        return 1

    def _steps_an_epoch(self, examples: int) -> int:
        return math.ceil(math.ceil(examples * self.answers_each / self.batch_size) / self.accumulation)

    def count_steps(self, examples: int) -> int:
        """Steps of the whole training."""
        steps = max(1, math.ceil(self.epochs * self._steps_an_epoch(examples)))
        return steps if self.max_steps is None else min(steps, self.max_steps)

    def examples_a_step(self, examples: int) -> float:
        """Average number of examples in a step: an epoch's last batch and last step may be smaller."""
        return examples * self.answers_each / self._steps_an_epoch(examples)


def check_options(options: TuningOptions) -> None:
    """Raise UsageError for a missing base, an invalid base id, and options that would do nothing."""
    if not options.model:
        raise UsageError("--model is needed: embedded, a Hub id, or a local folder")
    if options.base_id is not None:
        _check_base_id(options.base_id, options.model)
    if options.method == "lora":
        if "lm_head" in map(str.strip, options.targets.split(",")):
            raise UsageError("--targets lm_head: the output layer can't have an adapter; leave it out")
        return
    defaults = {each.name: each.default for each in fields(options)}
    if given := [f"--{name}" for name in ADAPTER_OPTIONS if getattr(options, name) != defaults[name]]:
        raise UsageError(f"{', '.join(given)}: for adapters only, and --method full trains none; leave it out")


def _check_base_id(base_id: str, model: str) -> None:
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

    try:
        validate_repo_id(base_id)
    except HFValidationError as error:
        raise UsageError(f"--base-id must be a Hub id, ORG/NAME, got {base_id!r:.100}") from error
    if "/" not in base_id:
        raise UsageError(f"--base-id must be a Hub id, ORG/NAME, got {base_id!r:.100}")
    if not typed_path(model).is_dir():
        raise UsageError(f"--base-id {base_id} is for a base in a local folder, and {model} is none; leave it out")
