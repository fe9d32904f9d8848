"""What doesn't fit the model is told before a library fails over it."""

import re

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM, BertConfig, BertModel

from evenhand.errors import UsageError
from evenhand.trainers.adapters import adapted_layers, check_adapter
from evenhand.trainers.examples import load_base
from evenhand.trainers.options import TuningOptions


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
    accepted = "all-linear, default, or names separated by commas, of down_proj, gate_proj, k_proj, o_proj, q_proj"
    with pytest.raises(UsageError, match=f"no layer {unknown}; expected {accepted}"):
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
    with pytest.raises(UsageError, match="the query and value projections of mamba are not known"):
        adapted_layers(without_weights("mamba"), "default")
    with pytest.raises(UsageError, match=r"--targets all-linear: peft can't put an adapter there .*out_proj"):
        check_adapter(without_weights("mamba"), TuningOptions(targets="all-linear"))
    check_adapter(without_weights("mamba"), TuningOptions(targets="in_proj,x_proj"))


def test_of_experts_that_are_one_weight_the_other_layers_are_adapted():
    """Of deepseek_v3 layers that all tokens pass are called as its experts are: peft adapts both, without dropout."""
    assert adapted_layers(without_weights("mixtral"), "all-linear") == ("k_proj", "o_proj", "q_proj", "v_proj")
    check_adapter(without_weights("mixtral"), TuningOptions(targets="all-linear"))
    with pytest.raises(UsageError, match=r"choose other layers, or --dropout 0"):
        check_adapter(without_weights("deepseek_v3"), TuningOptions(targets="all-linear"))


def test_what_reads_in_both_directions_is_told(tokenizer, tmp_path):
    """Before transformers makes up a head that the weights don't have, with a table of it."""
    BertModel(
        BertConfig(vocab_size=400, hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2)
    ).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    with pytest.raises(UsageError, match="is bert, no causal language model"):
        load_base(TuningOptions(model=str(tmp_path)))


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (
            "http://localhost:1/v1",
            "is a server; training needs weights",
        ),
        ("stub:first", "--model stub:first is a model of the backend stub; training needs weights"),
        ("FOLDER/config.json", "config.json is a file; name its folder, "),
    ],
)
def test_what_has_no_weights_here_is_told(tiny_checkpoint, model, says):
    with pytest.raises(UsageError, match=re.escape(says)):
        load_base(TuningOptions(model=model.replace("FOLDER", str(tiny_checkpoint))))
