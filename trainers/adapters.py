"""Where adapters go in a model, and whether model, tokenizer and options fit together."""

from __future__ import annotations

import warnings
from dataclasses import replace

import torch
from peft import LoraConfig, get_peft_model
from torch import nn
from transformers import AutoModelForCausalLM, PreTrainedModel
from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING_NAMES
from transformers.pytorch_utils import Conv1D

from evenhand.errors import UsageError
from evenhand.models.errors import first_line
from evenhand.models.loading import Checkpoint
from evenhand.trainers.options import NAMED_TARGETS, TuningOptions

QUERY_AND_VALUE = (  # layer names by architecture; peft's own table lacks many, and of phi has other layers too
    *(("q_proj", "v_proj"), ("query", "value"), ("q", "v"), ("wq", "wv"), ("q_b_proj", "kv_b_proj")),
    *(("q_proj", "kv_b_proj"), ("query_key_value",), ("qkv_proj",), ("c_attn",), ("Wqkv",), ("qkv",), ("att_proj",)),
)


def adapted_layers(model: PreTrainedModel, targets: str) -> tuple[str, ...]:
    """Return the names of the layers that --targets selects. Raises UsageError for layers that don't exist."""
    head = model.get_output_embeddings()
    layers = {
        name: layer
        for name, layer in model.named_modules()
        if isinstance(layer, (nn.Linear, Conv1D, nn.Embedding)) and layer is not head
    }
    linear = {name.rpartition(".")[2] for name, layer in layers.items() if not isinstance(layer, nn.Embedding)}
    if targets == "all-linear":
        return tuple(sorted(linear))
    if targets == "default":
        found = next((names for names in QUERY_AND_VALUE if {*names} <= linear), None)
        if found is None:
            raise UsageError(
                f"--targets default: the query and value projections of {model.config.model_type} are not known; name "
                f"layers: all-linear, or some of {', '.join(sorted(linear))}"
            )
        return found
    names = tuple(each.strip() for each in targets.split(","))
    unknown = [each for each in names if not each or not any(f".{name}".endswith(f".{each}") for name in layers)]
    if unknown:
        raise UsageError(
            f"--targets {targets}: the model has no layer {', '.join(map(repr, unknown))}; expected "
            f"{', '.join(NAMED_TARGETS)}, or names separated by commas, of {', '.join(sorted(linear))}"
        )
    return names


def adapter_config(model: PreTrainedModel, options: TuningOptions) -> LoraConfig:
    names = adapted_layers(model, options.targets)
    adapted = [layer for name, layer in model.named_modules() if name.endswith(names)]
    return LoraConfig(
        r=options.rank,
        lora_alpha=options.alpha,
        lora_dropout=options.dropout,
        target_modules=list(names),
        fan_in_fan_out=any(isinstance(layer, Conv1D) for layer in adapted),  # else peft sets it, with a warning
        task_type="CAUSAL_LM",
    )


def check_fit(checkpoint: Checkpoint, options: TuningOptions) -> None:
    """Check a checkpoint without loading its weights. Raises UsageError, or ModelError for no causal language model."""
    model, name = checkpoint.layers(AutoModelForCausalLM), checkpoint.name or checkpoint.path
    needed, has = len(checkpoint.tokenizer), model.get_input_embeddings().weight.shape[0]
    if needed > has:
        raise UsageError(f"{name}: its tokenizer needs {needed:,} embeddings, and the model has {has:,}")
    if model.config.model_type in MODEL_FOR_MASKED_LM_MAPPING_NAMES and not model.config.is_decoder:
        raise UsageError(f"{name} is {model.config.model_type}, no causal language model; only those can be trained")
    if options.method == "lora":
        check_adapter(model, options)


def check_adapter(model: PreTrainedModel, options: TuningOptions) -> None:
    """Raise UsageError where peft can put no adapter into a model without weights, which has it afterwards."""
    config = adapter_config(model, replace(options, rank=1))  # a higher rank takes long and finds nothing else
    try:
        with warnings.catch_warnings(action="ignore"), torch.device("meta"):
            get_peft_model(model, config)
    except ValueError as error:
        raise UsageError(
            f"--targets {options.targets}: peft can't put an adapter there ({first_line(error)}); choose other layers"
            f"{', or --dropout 0' if 'lora_dropout' in str(error) else ''}"
        ) from error
