"""What doesn't fit the model is told before a library fails over it."""

import re
from copy import deepcopy
from dataclasses import replace

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM, BertConfig, BertModel, LlamaForCausalLM

from evenhand.errors import UsageError
from evenhand.models.loading import Checkpoint
from evenhand.trainers.adapted_layers import adapted_layers, check_adapter
from evenhand.trainers.fitting import check_tokenizer
from evenhand.trainers.options import TuningOptions
from evenhand.trainers.reading import base_of


def test_a_tokenizer_with_more_tokens_than_embeddings_is_refused(tiny_llama, tiny_checkpoint):
    checkpoint = Checkpoint(str(tiny_checkpoint), "m")
    check_tokenizer(tiny_llama, checkpoint)
    config = deepcopy(tiny_llama.config)
    config.vocab_size = 300
    with pytest.raises(UsageError, match=r"m: its tokenizer needs 400 embeddings, and the model has 300"):
        check_tokenizer(LlamaForCausalLM(config), checkpoint)


@pytest.mark.parametrize(
    ("targets", "taken"),
    [
        ("all-linear", ("down_proj", "gate_proj", "k_proj", "o_proj", "q_proj", "up_proj", "v_proj")),
        ("default", ("q_proj", "v_proj")),
        ("q_proj, v_proj", ("q_proj", "v_proj")),
        ("layers.1.mlp.up_proj", ("layers.1.mlp.up_proj",)),
    ],
)
def test_layers_that_are_there_are_taken(tiny_llama, targets, taken):
    assert adapted_layers(tiny_llama, targets) == taken


@pytest.mark.parametrize(("targets", "unknown"), [("nope", "'nope'"), ("q_proj,proj,mlp", "'proj', 'mlp'"), ("", "''")])
def test_layers_that_are_not_there_are_refused_by_name(tiny_llama, targets, unknown):
    accepted = "all-linear, default, or names with commas, of down_proj, gate_proj, k_proj, o_proj, q_proj, up_proj"
    with pytest.raises(UsageError, match=f"no layer {unknown} that an adapter can stand in; accepted: {accepted}"):
        adapted_layers(tiny_llama, targets)


QUERY_AND_VALUE = {
    "gpt2": "c_attn",
    "gpt_neox": "query_key_value",
    "falcon": "query_key_value",
    "bloom": "query_key_value",
    "mpt": "Wqkv",
    "phi3": "qkv_proj",
    "deepseek_v3": "q_b_proj,kv_b_proj",
    **dict.fromkeys(["phi", "opt", "olmo2", "smollm3", "gpt_oss", "qwen3_moe", "granite", "mixtral"], "q_proj,v_proj"),
    **dict.fromkeys(["gemma2", "recurrent_gemma", "gptj"], "q_proj,v_proj"),
}


def without_weights(kind):
    with torch.device("meta"):
        return AutoModelForCausalLM.from_config(AutoConfig.for_model(kind))


@pytest.mark.parametrize("kind", QUERY_AND_VALUE)
def test_query_and_value_projections_are_found_by_their_names(kind):
    """Whatever peft has for a kind of model: of many it has nothing, of phi the feed-forward layers, too. With dropout,
    as by default, which an adapter of experts that are one weight does not take."""
    model = without_weights(kind)
    assert ",".join(adapted_layers(model, "default")) == QUERY_AND_VALUE[kind]
    check_adapter(model, TuningOptions(targets="default"))


def test_what_has_no_query_and_peft_takes_no_adapter_for_is_told():
    with pytest.raises(UsageError, match="no layers of mamba are known as its query and value projections; accepted: "):
        adapted_layers(without_weights("mamba"), "default")
    with pytest.raises(UsageError, match=r"--targets all-linear: peft puts no adapter there .*out_proj.*; accepted: "):
        check_adapter(without_weights("mamba"), TuningOptions(targets="all-linear"))
    check_adapter(without_weights("mamba"), TuningOptions(targets="in_proj,x_proj"))


def test_of_experts_that_are_one_weight_the_other_layers_are_adapted():
    """Of deepseek_v3 layers that all tokens pass are called as its experts are: peft adapts both, without dropout."""
    assert adapted_layers(without_weights("mixtral"), "all-linear") == ("k_proj", "o_proj", "q_proj", "v_proj")
    check_adapter(without_weights("mixtral"), TuningOptions(targets="all-linear"))
    with pytest.raises(
        UsageError, match=r"accepted: --dropout 0 \(some of these names are those of experts, too\); name"
    ):
        check_adapter(without_weights("deepseek_v3"), TuningOptions(targets="all-linear"))


def test_an_adapter_of_embeddings_that_write_too_is_not_merged(tiny_llama):
    """Merged, it would change what the model writes with; the adapter changes what it reads alone."""
    config = deepcopy(tiny_llama.config)
    for tied in (True, False):
        config.tie_word_embeddings = tied
        model, options = LlamaForCausalLM(config), TuningOptions(targets="q_proj,embed_tokens", merge=True)
        if tied:
            with pytest.raises(UsageError, match="--merge: --targets q_proj,embed_tokens adapts the embeddings"):
                check_adapter(model, options)
            options = replace(options, merge=False)
        check_adapter(model, options)


def test_what_reads_in_both_directions_is_told(tokenizer, tmp_path):
    """Before transformers makes up a head that the weights don't have, with a table of it."""
    BertModel(
        BertConfig(vocab_size=400, hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2)
    ).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    with pytest.raises(UsageError, match="is bert, which reads what is before a word and what is after it; causal"):
        base_of(TuningOptions(model=str(tmp_path)))


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (
            "http://localhost:1/v1",
            "is a server, and what is tuned needs its weights here",
        ),
        ("stub:first", "--model stub:first is of the backend stub, and what is tuned needs its weights here"),
        ("FOLDER/config.json", "config.json is a file; its folder, "),
    ],
)
def test_what_has_no_weights_here_is_told(tiny_checkpoint, model, says):
    with pytest.raises(UsageError, match=re.escape(says)):
        base_of(TuningOptions(model=model.replace("FOLDER", str(tiny_checkpoint))))
