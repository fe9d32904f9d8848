"""What doesn't fit the model is told before a library fails over it."""

from copy import deepcopy

import pytest
from transformers import LlamaForCausalLM

from evenhand.errors import UsageError
from evenhand.models.loading import Checkpoint
from evenhand.trainers.fitting import check_targets, check_tokenizer


def test_a_tokenizer_with_more_tokens_than_embeddings_is_refused(tiny_llama, tiny_checkpoint):
    checkpoint = Checkpoint(str(tiny_checkpoint), "m")
    check_tokenizer(tiny_llama, checkpoint)
    config = deepcopy(tiny_llama.config)
    config.vocab_size = 300
    with pytest.raises(UsageError, match=r"m: its tokenizer needs 400 embeddings, and the model has 300"):
        check_tokenizer(LlamaForCausalLM(config), checkpoint)


@pytest.mark.parametrize("targets", ["all-linear", "default", "q_proj,v_proj", "layers.1.mlp.up_proj"])
def test_layers_that_are_there_are_taken(tiny_llama, targets):
    check_targets(tiny_llama, targets)


@pytest.mark.parametrize(("targets", "unknown"), [("nope", "'nope'"), ("q_proj,proj,mlp", "'proj', 'mlp'"), ("", "''")])
def test_layers_that_are_not_there_are_refused_by_name(tiny_llama, targets, unknown):
    accepted = "all-linear, default, or names with commas, of down_proj, gate_proj, k_proj, o_proj, q_proj, up_proj"
    with pytest.raises(UsageError, match=f"no layer {unknown} that an adapter can stand in; accepted: {accepted}"):
        check_targets(tiny_llama, targets)


def test_a_kind_of_model_without_a_default_is_told(tiny_llama):
    other = deepcopy(tiny_llama)
    other.config.model_type = "unheard of"
    with pytest.raises(UsageError, match="peft has none for unheard of; accepted: all-linear, or of down_proj"):
        check_targets(other, "default")
