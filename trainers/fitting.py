"""Whether tokenizer and options fit a model, said before its weights are loaded and a library fails over them."""

from __future__ import annotations

from peft.utils import TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING
from torch import nn
from transformers import AutoModelForCausalLM, PreTrainedModel
from transformers.pytorch_utils import Conv1D

from evenhand.errors import UsageError
from evenhand.models.loading import Checkpoint
from evenhand.trainers.options import NAMED_TARGETS, TuningOptions

_ADAPTED = (nn.Linear, Conv1D, nn.Embedding)  # of a text model's layers, those that take LoRA; of 4 bits are Linear too


def check_fit(checkpoint: Checkpoint, options: TuningOptions) -> None:
    """Of the model without its weights. Raises UsageError, and ModelError for what is no causal language model."""
    model = checkpoint.layers(AutoModelForCausalLM)
    check_tokenizer(model, checkpoint)
    if options.method == "lora":
        check_targets(model, options.targets)


def check_tokenizer(model: PreTrainedModel, checkpoint: Checkpoint) -> None:
    """Raises UsageError where there are tokens that the model has no embedding for."""
    needed, has = len(checkpoint.tokenizer), model.get_input_embeddings().weight.shape[0]
    if needed > has:
        raise UsageError(
            f"{checkpoint.name or checkpoint.path}: its tokenizer needs {needed:,} embeddings, and the model has "
            f"{has:,}: they are not of one model. Put the tokenizer beside the weights that belongs to them"
        )


def check_targets(model: PreTrainedModel, targets: str) -> None:
    """targets: as --targets has it. Raises UsageError where no adapter can stand there."""
    kind = str(model.config.model_type)
    linear = {
        name.rpartition(".")[2] for name, layer in model.named_modules() if isinstance(layer, (nn.Linear, Conv1D))
    }
    accepted = ", ".join(sorted(linear - {"lm_head"}))
    if targets == "default" and kind not in TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING:
        raise UsageError(f"--targets default: peft has none for {kind}; accepted: all-linear, or of {accepted}")
    if targets in NAMED_TARGETS:
        return
    layers = [name for name, layer in model.named_modules() if isinstance(layer, _ADAPTED)]
    unknown = [each for each in targets.split(",") if not any(f".{name}".endswith(f".{each}") for name in layers)]
    if unknown:
        raise UsageError(
            f"--targets {targets}: this model has no layer {', '.join(map(repr, unknown))} that an adapter can stand "
            f"in; accepted: {', '.join(NAMED_TARGETS)}, or names with commas, of {accepted}"
        )
