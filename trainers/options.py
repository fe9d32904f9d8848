"""What every recipe of fine-tuning is told; a paper's own overrides defaults of these, and adds what it alone has."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

from evenhand.errors import UsageError
from evenhand.models.registry import DType
from evenhand.models.template_settings import template_date, template_options
from evenhand.options import option
from evenhand.paths import typed_path

SEED = 42  # transformers' own, and the published codes'


@dataclass(frozen=True)
class TuningOptions:
    """An effective batch is batch_size × accumulation examples."""

    model: str = option("", "what is tuned: embedded, a Hub id, or a local folder", metavar="MODEL")
    revision: str | None = option(None, "of a Hub model", metavar="REF")
    template_options: tuple[tuple[str, str], ...] = template_options()
    date: str | None = template_date()
    base_id: str | None = option(
        None,
        "the id on the Hub of a model in a local folder, by which adapter and card name it; without one they name "
        "none, and training.json alone says where it was",
        metavar="ORG/NAME",
    )
    dtype: DType = option(
        "auto", "of the base's weights; an adapter's are float32, and bfloat16 on a base of 4 or 8 bits, as TRL has it"
    )
    quantization: Literal["4bit", "8bit"] | None = option(None, "of the base's weights (QLoRA), on a CUDA GPU")
    method: Literal["lora", "full"] = option("lora", "an adapter, or all weights")
    rank: int = option(64, "of the adapter", least=1, metavar="R")
    alpha: float = option(16.0, "of the adapter: it is scaled by alpha / rank", above=0, metavar="A")
    dropout: float = option(0.1, "of the adapter's inputs", least=0, most=0.99, metavar="P")
    targets: str = option(
        "all-linear",
        "the layers that adapters stand in: all-linear, default (query and value projections), or q_proj,v_proj,…",
    )
    learning_rate: float = option(3e-4, "at its highest", above=0, most=1, metavar="X")
    schedule: Literal["constant", "linear", "cosine"] = option(
        "constant", "of the learning rate: constant, as the papers have it, or falling to 0 at the last step"
    )
    warmup: int = option(0, "first steps, in which the learning rate rises from 0", least=0, metavar="N")
    epochs: float = option(1.0, "passes over the examples", above=0, metavar="N")
    max_steps: int | None = option(None, "no more than so many", least=1, metavar="N")
    max_tokens: int | None = option(
        None,
        "no further step once so many tokens were computed in passes that are learned from: what a tree shares counts "
        "once, padding never; the same for every trainer",
        least=1,
        metavar="N",
    )
    batch_size: int = option(6, "examples a forward pass", least=1, metavar="N")
    accumulation: int = option(2, "passes a step", least=1, metavar="N")
    clip: float = option(0.3, "the gradient's norm", above=0, metavar="X")
    divergence: float = option(
        0.0,
        "coefficient of the divergence from the base model, taken at 64 places within the prompts of a pass, so that "
        "the model stays what it is otherwise; 0: none, as published",
        least=0,
        metavar="X",
    )
    packing: Literal["auto", "tree", "padded"] = option(
        "auto",
        "tree: what examples of a batch share is computed once; auto: where the model can",
    )
    seed: int = option(
        SEED, "of the order of examples and the adapter's beginning", least=0, most=2**32 - 1, metavar="S"
    )
    save_every: int = option(50, "steps between the checkpoints that a training goes on from", least=1, metavar="N")
    measure_every: int = option(
        50, "steps between measurements on what is held out, before the first and after the last too; 0: none", least=0
    )
    measured: int = option(48, "rows held out that are measured", least=1, metavar="N")
    merge: bool = option(False, "full weights beside the adapter, in the folder merged")
    plan: bool = option(False, "tokens, time and memory, from a timing of three steps; nothing is written")

    @property
    def answers_each(self) -> int:
        """How often an example stands in a pass over all of them: more than once where its answers are compared."""
        return 1


NAMED_TARGETS = ("all-linear", "default")
OF_ADAPTERS = ("quantization", "rank", "alpha", "dropout", "targets", "merge")


def check_base_id(options: TuningOptions) -> None:
    """Raises UsageError for what is no public id, and for one of a model that has its own."""
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

    if options.base_id is None:
        return
    try:
        validate_repo_id(options.base_id)
        named = "/" in options.base_id
    except HFValidationError:
        named = False
    if not named:
        raise UsageError(f"--base-id {options.base_id!r:.100} came; an id on the Hub is accepted, ORG/NAME")
    if not typed_path(options.model).is_dir():
        raise UsageError(f"--base-id {options.base_id}: of a model in a local folder, and {options.model} is none")


def check_method(options: TuningOptions) -> None:
    """Raises UsageError for options of adapters where all weights are tuned, and for an adapter of the last layer."""
    if options.method == "lora":
        if "lm_head" in map(str.strip, options.targets.split(",")):
            raise UsageError(
                "--targets lm_head: the layer that writes can't have an adapter (TRL passes it by); leave it out"
            )
        return
    of_its_own = {each.name: each.default for each in fields(options)}
    given = [name for name in OF_ADAPTERS if getattr(options, name) != of_its_own[name]]
    if given:
        named = ", ".join(f"--{name}" for name in given)
        raise UsageError(f"{named}: of adapters, and would do nothing with --method full; leave it out")
