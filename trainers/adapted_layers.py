"""The layers that adapters stand in, by the names that they have in a model."""

from __future__ import annotations

import warnings
from dataclasses import replace

import torch
from peft import LoraConfig, get_peft_model
from torch import nn
from transformers import PreTrainedModel
from transformers.pytorch_utils import Conv1D

from evenhand.errors import UsageError
from evenhand.models.errors import first_line
from evenhand.trainers.options import NAMED_TARGETS, TuningOptions

_ADAPTED = (nn.Linear, Conv1D, nn.Embedding)  # of a text model's layers, those that take LoRA; of 4 bits are Linear too
QUERY_AND_VALUE = (  # in which architectures have them; where they are one layer with the key, that one
    ("q_proj", "v_proj"),
    ("query", "value"),
    ("q", "v"),
    ("wq", "wv"),
    ("q_b_proj", "kv_b_proj"),
    ("q_proj", "kv_b_proj"),
    ("query_key_value",),
    ("qkv_proj",),
    ("c_attn",),
    ("Wqkv",),
    ("qkv",),
    ("att_proj",),
)


def adapted_layers(model: PreTrainedModel, targets: str) -> tuple[str, ...]:
    """Last parts of their names, or more of them. targets: as --targets has it.

    Raises UsageError where no adapter can stand there.
    """
    linear = _linear(model)
    accepted = ", ".join(linear)
    if targets == "all-linear":
        return linear
    if targets == "default":
        found = next((names for names in QUERY_AND_VALUE if {*names} <= {*linear}), None)
        if found is None:
            raise UsageError(
                f"--targets default: no layers of {model.config.model_type} are known as its query and value "
                f"projections; accepted: all-linear, or of {accepted}"
            )
        return found
    writes = model.get_output_embeddings()
    layers = [name for name, layer in model.named_modules() if isinstance(layer, _ADAPTED) and layer is not writes]
    names = tuple(each.strip() for each in targets.split(","))
    unknown = [each for each in names if not each or not any(f".{name}".endswith(f".{each}") for name in layers)]
    if unknown:
        raise UsageError(
            f"--targets {targets}: this model has no layer {', '.join(map(repr, unknown))} that an adapter can stand "
            f"in; accepted: {', '.join(NAMED_TARGETS)}, or names with commas, of {accepted}"
        )
    return names


def adapter(model: PreTrainedModel, options: TuningOptions) -> LoraConfig:
    """As peft takes it. Raises UsageError where no adapter can stand there."""
    names = adapted_layers(model, options.targets)
    adapted = [layer for name, layer in model.named_modules() if name.endswith(names)]
    return LoraConfig(
        r=options.rank,
        lora_alpha=options.alpha,
        lora_dropout=options.dropout,
        target_modules=list(names),
        fan_in_fan_out=any(isinstance(layer, Conv1D) for layer in adapted),  # peft sets it otherwise, and says so
        task_type="CAUSAL_LM",
    )


def check_adapter(model: PreTrainedModel, options: TuningOptions) -> None:
    """Raises UsageError where peft can put no adapter into a model, or --merge would make another one of it.

    model: without weights; it has the adapter afterwards.
    """
    names = adapted_layers(model, options.targets)
    embeddings = model.get_input_embeddings()
    tied = any(name.endswith(names) and layer is embeddings for name, layer in model.named_modules())
    if options.merge and tied and model.config.get_text_config().tie_word_embeddings:
        raise UsageError(
            f"--merge: --targets {options.targets} adapts the embeddings, which this model writes with, too: merged it "
            "would write otherwise than with its adapter. Leave out --merge, or adapt other layers"
        )
    accepted = ", ".join(_linear(model))
    try:
        with warnings.catch_warnings(action="ignore"), torch.device("meta"):
            get_peft_model(model, adapter(model, replace(options, rank=1)))  # more would take long, and say no more
    except ValueError as error:
        without = (
            " --dropout 0 (some of these names are those of experts, too);" if "lora_dropout" in str(error) else ""
        )
        raise UsageError(
            f"--targets {options.targets}: peft puts no adapter there ({first_line(error)}); accepted:{without} names "
            f"with commas, of some of {accepted}"
        ) from error


def _linear(model: PreTrainedModel) -> tuple[str, ...]:
    """Last parts of the names of its linear layers, but of the one that writes."""
    writes = model.get_output_embeddings()
    return tuple(
        sorted(
            {
                name.rpartition(".")[2]
                for name, layer in model.named_modules()
                if isinstance(layer, (nn.Linear, Conv1D)) and layer is not writes
            }
        )
    )
