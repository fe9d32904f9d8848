"""Whether tokenizer and options fit a model, said before its weights are loaded and a library fails over them."""

from __future__ import annotations

from transformers import AutoModelForCausalLM, PreTrainedModel
from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING_NAMES

from evenhand.errors import UsageError
from evenhand.models.loading import Checkpoint
from evenhand.trainers.adapted_layers import check_adapter
from evenhand.trainers.options import TuningOptions


def check_fit(checkpoint: Checkpoint, options: TuningOptions) -> None:
    """Of the model without its weights. Raises UsageError, and ModelError for what is no causal language model."""
    model = checkpoint.layers(AutoModelForCausalLM)
    check_tokenizer(model, checkpoint)
    _check_direction(model, checkpoint)
    if options.method == "lora":
        check_adapter(model, options)


def _check_direction(model: PreTrainedModel, checkpoint: Checkpoint) -> None:
    """Raises UsageError for what transformers makes a causal model of, with a head that it makes up, if it is asked."""
    if model.config.model_type in MODEL_FOR_MASKED_LM_MAPPING_NAMES and not model.config.is_decoder:
        raise UsageError(
            f"{checkpoint.name or checkpoint.path} is {model.config.model_type}, which reads what is before a word "
            "and what is after it; causal language models, which write one word after another, can be tuned"
        )


def check_tokenizer(model: PreTrainedModel, checkpoint: Checkpoint) -> None:
    """Raises UsageError where there are tokens that the model has no embedding for."""
    needed, has = len(checkpoint.tokenizer), model.get_input_embeddings().weight.shape[0]
    if needed > has:
        raise UsageError(
            f"{checkpoint.name or checkpoint.path}: its tokenizer needs {needed:,} embeddings, and the model has "
            f"{has:,}: they are not of one model. Put the tokenizer beside the weights that belongs to them"
        )
