"""evenhand decides how it decodes: what is taken from a checkpoint's generation_config.json, and what is left out."""

import json
import shutil

import numpy as np
import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM, GenerationConfig

from evenhand.flow.configuration import run_config
from evenhand.flow.evaluation import evaluate
from evenhand.models.errors import ModelError
from evenhand.models.generation import OwnSettings, RepetitionPenalty
from evenhand.models.protocol import replies
from evenhand.models.registry import load_model
from evenhand.models.request import Message, Request, Sampling

LONG = "Should I ask {students} to lunch today, or tomorrow, or never at all? " * 4  # more than a kept block of tokens
QUESTIONS = ("Why?", LONG, f"{LONG}Why?", "Is it fair to leave?")
TOKENS = 12
CHAT = {"bos_token_id": 1, "eos_token_id": 0, "pad_token_id": 0}  # ids of the tiny tokenizer stand for the real ones
DRAWN = CHAT | {"do_sample": True}
# What is shipped: the settings, what of them samples (temperature, top-k, top-p, penalty; None: greedy), what is named.
SHIPPED = {
    "gpt2": ({"bos_token_id": 0, "eos_token_id": 0}, None, ()),
    "opt": ({"bos_token_id": 2, "eos_token_id": 2, "pad_token_id": 1}, None, ()),
    "bloom": ({"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 3}, None, ()),
    "falcon": ({"bos_token_id": 0, "eos_token_id": 0}, None, ()),
    "llama-2": (DRAWN | {"temperature": 0.6, "max_length": 4096, "top_p": 0.9}, (0.6, 50, 0.9, 1.0), ()),
    "llama-3": (DRAWN | {"eos_token_id": [0, 9], "temperature": 0.6, "top_p": 0.9}, (0.6, 50, 0.9, 1.0), ()),
    "vicuna": (CHAT | {"max_length": 4096, "temperature": 0.9, "top_p": 0.6}, None, ()),
    "mistral": ({"bos_token_id": 1, "eos_token_id": 0}, None, ()),
    "qwen-1": (
        DRAWN | {"chat_format": "chatml", "max_window_size": 6144, "max_new_tokens": 512, "top_k": 0, "top_p": 0.8},
        (1.0, 0, 0.8, 1.0), (),
    ),
    "qwen-2.5": (
        DRAWN | {"eos_token_id": [9, 0], "repetition_penalty": 1.05, "temperature": 0.7, "top_p": 0.8, "top_k": 20},
        (0.7, 20, 0.8, 1.05), (),
    ),
    "qwen-3": (DRAWN | {"temperature": 0.6, "top_k": 20, "top_p": 0.95}, (0.6, 20, 0.95, 1.0), ()),
    "qwen2-vl": (
        DRAWN | {"temperature": 0.01, "top_p": 0.001, "top_k": 1, "repetition_penalty": 1.05},
        (0.01, 1, 0.001, 1.05), (),
    ),
    "gemma-1": (CHAT, None, ()),
    "gemma-2": (CHAT | {"cache_implementation": "hybrid"}, None, ("cache_implementation",)),
    "gemma-3": (
        DRAWN | {"cache_implementation": "hybrid", "eos_token_id": [0, 9], "top_k": 64, "top_p": 0.95},
        (1.0, 64, 0.95, 1.0), ("cache_implementation",),
    ),
    "phi-3": (CHAT | {"eos_token_id": [0, 2, 9]}, None, ()),
    "r1-distill": (DRAWN | {"temperature": 0.6, "top_p": 0.95}, (0.6, 50, 0.95, 1.0), ()),
    "smollm2": (CHAT | {"_from_model_config": True, "transformers_version": "4.42.3"}, None, ()),
    "smollm3": (DRAWN | {"temperature": 0.6, "top_p": 0.95}, (0.6, 50, 0.95, 1.0), ()),
    "olmo-2": ({"_from_model_config": True, "eos_token_id": 0, "pad_token_id": 5}, None, ()),
    "granite": (CHAT | {"use_cache": True}, None, ()),
    "command-r": ({"_from_model_config": True, "bos_token_id": 5, "eos_token_id": 9, "pad_token_id": 0}, None, ()),
    "yi": (DRAWN | {"max_length": 4096, "temperature": 0.6, "top_p": 0.8}, (0.6, 50, 0.8, 1.0), ()),
    "internlm": ({"bos_token_id": 1, "eos_token_id": [2, 9], "pad_token_id": 2}, None, ()),
    "baichuan": (
        DRAWN | {"user_token_id": 195, "max_new_tokens": 2048, "temperature": 0.3, "top_k": 5, "top_p": 0.85,
                 "repetition_penalty": 1.05},
        (0.3, 5, 0.85, 1.05), (),
    ),
    "min-p": (DRAWN | {"min_p": 0.1, "typical_p": 0.9}, (1.0, 50, 1.0, 1.0), ("min_p", "typical_p")),
    "beams": (CHAT | {"num_beams": 4, "early_stopping": True, "length_penalty": 2.0, "no_repeat_ngram_size": 3}, None,
              ("early_stopping", "length_penalty", "no_repeat_ngram_size", "num_beams")),
    "contrastive": (CHAT | {"penalty_alpha": 0.6, "top_k": 4}, None, ("penalty_alpha",)),
    "prompt lookup": (CHAT | {"prompt_lookup_num_tokens": 3}, None, ("prompt_lookup_num_tokens",)),
    "layer skip": (CHAT | {"assistant_early_exit": 1}, None, ("assistant_early_exit",)),
    "suppressed": (CHAT | {"suppress_tokens": [5, 6], "forced_eos_token_id": 0, "min_new_tokens": 3}, None,
                   ("forced_eos_token_id", "min_new_tokens", "suppress_tokens")),
    "penalized greedily": (CHAT | {"repetition_penalty": 1.3}, (0.0, 0, 1.0, 1.3), ()),
    "out of range": (DRAWN | {"repetition_penalty": 0, "temperature": -1, "top_p": 7, "top_k": "many"},
                     (1.0, 50, 1.0, 1.0), ("repetition_penalty", "temperature", "top_k", "top_p")),
    "no numbers": (DRAWN | {"repetition_penalty": -1.1, "temperature": "hot", "eos_token_id": "<|end|>"},
                   (1.0, 50, 1.0, 1.0), ("eos_token_id", "repetition_penalty", "temperature")),
} | {
    f"cache {kind}": (CHAT | {"cache_implementation": kind}, None, ("cache_implementation",))
    for kind in ("static", "dynamic", "sliding_window", "quantized", "offloaded", "offloaded_static", "nonsense")
}  # fmt: skip


def shipping(folder, settings, checkpoint):
    shutil.copytree(checkpoint, folder)
    (folder / "generation_config.json").write_text(json.dumps(settings))
    return folder


def write_plainly(network, prompt, seed, ends, temperature, top_k, top_p, penalty):
    """Token by token, without cache, padding or batch: what transformers' settings of these names define."""
    uniforms = np.random.Generator(np.random.PCG64(seed)).random(TOKENS)
    tokens = list(prompt)
    for uniform in uniforms:
        with torch.no_grad():
            scores = network(torch.tensor([tokens])).logits[0, -1].clone()
        for token in set(tokens):
            scores[token] = scores[token] / penalty if scores[token] > 0 else scores[token] * penalty
        if not temperature:
            token = int(scores.argmax())
        else:
            p = torch.softmax(scores.double() / temperature, dim=-1).numpy()
            order = np.argsort(-p, kind="stable")[: top_k or None]
            before = np.cumsum(p[order]) - p[order]
            order = order[before < top_p * p[order].sum()]
            token = int(order[min(np.searchsorted(np.cumsum(p[order]), uniform * p[order].sum()), len(order) - 1)])
        if token in ends:
            break
        tokens.append(token)
    return tokens[len(prompt) :]


@pytest.mark.parametrize("name", SHIPPED)
def test_texts_are_written_plainly_by_what_is_kept(name, tiny_checkpoint, tiny_llama, tokenizer, tmp_path):
    """Greedily, and as the checkpoint samples; in a padded batch, each as it is written alone."""
    settings, own, left_out = SHIPPED[name]
    model = load_model(str(shipping(tmp_path / "m", settings, tiny_checkpoint)), dtype="float32", batch_size=4)
    ends = settings["eos_token_id"]
    ends = {ends} if isinstance(ends, int) else set(ends) if isinstance(ends, list) else {tokenizer.eos_token_id}
    for sampling, how in ((0.0, (0.0, 0, 1.0, 1.0)), (None, own or (0.0, 0, 1.0, 1.0))):
        asked = [
            Request((Message("user", question),), sampling=Sampling(sampling, max_new_tokens=TOKENS), seed=seed)
            for seed, question in enumerate(QUESTIONS)
        ]
        prompts = model.reader.prompts(asked)
        expected = [write_plainly(tiny_llama, prompt, i, ends, *how) for i, prompt in enumerate(prompts)]
        texts = [tokenizer.decode(tokens, skip_special_tokens=True) for tokens in expected]
        assert [reply.text for reply in replies(model, asked)] == texts
    if left_out:
        [(code, text)] = model.notes.items()
        assert code == "decoding_settings_left_out"
        assert ", ".join(left_out) in text
    else:
        assert model.notes == {}


SMALL = {
    "vocab_size": 400, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "initializer_range": 0.3,
    "max_position_embeddings": 512, "eos_token_id": 0, "bos_token_id": 0, "pad_token_id": 0,
}  # fmt: skip
GROUPED = SMALL | {"intermediate_size": 64, "num_key_value_heads": 2}
FAMILIES = {
    "llama": GROUPED,
    "qwen2": GROUPED,
    "qwen3": GROUPED | {"head_dim": 8},
    "gemma": GROUPED | {"head_dim": 8},
    "gemma2": GROUPED | {"head_dim": 8, "sliding_window": 8},
    "gemma3_text": GROUPED | {"head_dim": 8, "sliding_window": 8, "num_hidden_layers": 7},
    "mistral": GROUPED | {"sliding_window": 8},
    "phi3": GROUPED,
    "olmo2": GROUPED,
    "granite": GROUPED,
    "cohere": GROUPED,
    "smollm3": GROUPED,
    "stablelm": GROUPED,
    "starcoder2": GROUPED,
    "gpt_neox": SMALL | {"intermediate_size": 64},
    "falcon": SMALL,
    "bloom": SMALL | {"n_layer": 2, "n_head": 4},
    "gpt2": SMALL | {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 512},
    "opt": SMALL | {"ffn_dim": 64, "word_embed_proj_dim": 32},
}


@pytest.mark.parametrize("family", FAMILIES)
def test_families_write_plainly(family, tokenizer, tmp_path):
    """Longer than windows of attention, whatever cache and search the checkpoint asks for."""
    torch.manual_seed(0)
    network = AutoModelForCausalLM.from_config(AutoConfig.for_model(family, **FAMILIES[family])).eval()
    network.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    settings = CHAT | {"cache_implementation": "hybrid", "num_beams": 4, "repetition_penalty": 1.2}
    (tmp_path / "generation_config.json").write_text(json.dumps(settings))
    model = load_model(str(tmp_path), dtype="float32", batch_size=4)
    for temperature, penalty in ((0.0, 1.0), (None, 1.2)):
        sampling = Sampling(temperature, max_new_tokens=TOKENS)
        asked = [Request((Message("user", question),), sampling=sampling) for question in QUESTIONS]
        prompts = model.reader.prompts(asked)
        expected = [write_plainly(network, prompt, 0, {0}, 0.0, 0, 1.0, penalty) for prompt in prompts]
        texts = [tokenizer.decode(tokens, skip_special_tokens=True) for tokens in expected]
        assert [reply.text for reply in replies(model, asked)] == texts


def test_a_run_records_what_was_left_out(tiny_checkpoint, tmp_path):
    """Where the model wrote, or its replies are stored already and no weights are loaded; not where it scored."""
    folder = shipping(tmp_path / "m", {"cache_implementation": "static", "num_beams": 2}, tiny_checkpoint)
    for protocol, recorded in (("generate", True), ("choose", False)):
        options = {"limit": 2, "protocol": protocol, "dtype": "float32", "max_new_tokens": 3 if recorded else None}
        config = run_config("contact_hypothesis", str(folder), **options)
        for _ in range(2):
            results = evaluate(config, tmp_path / protocol).read_results()
            said = results.warned("decoding_settings_left_out")
            assert bool(said) == recorded
        assert not recorded or "cache_implementation, num_beams" in said[0].text


def test_older_checkpoints_hold_settings_in_their_configuration(tiny_checkpoint, tmp_path):
    folder = shutil.copytree(tiny_checkpoint, tmp_path / "m")
    (folder / "generation_config.json").unlink()
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"num_beams": 3, "eos_token_id": [0, 9]}))
    model = load_model(str(folder), dtype="float32")
    assert "num_beams" in model.notes["decoding_settings_left_out"]
    assert model.model.generation_config.eos_token_id == [0, 9]


@pytest.mark.parametrize("text", ["{", "[]", '"x"'])
def test_settings_that_can_not_be_read(text, tiny_checkpoint, tmp_path):
    folder = shutil.copytree(tiny_checkpoint, tmp_path / "m")
    (folder / "generation_config.json").write_text(text)
    with pytest.raises(ModelError, match=r"could not load model .*its generation_config.json"):
        load_model(str(folder), dtype="float32")


def test_every_name_that_transformers_knows_is_used_decided_here_or_named():
    own = OwnSettings.read(dict.fromkeys(vars(GenerationConfig()), 3))
    used = {"eos_token_id", "bos_token_id", "pad_token_id", "decoder_start_token_id", "repetition_penalty", "top_k"}
    here = {"max_length", "max_new_tokens", "do_sample", "use_cache", "transformers_version"}
    known = {name for name in vars(GenerationConfig()) if not name.startswith(("_", "output_", "return_"))}
    assert set(own.left_out) == known - used - here - {"temperature"}


def test_padding_is_not_penalized():
    """Row 0 is padded with token 2, which it doesn't hold; row 1 holds it."""
    ids, mask = torch.tensor([[2, 1, 3], [2, 1, 3]]), torch.tensor([[0, 1], [1, 1]])
    scores = torch.tensor([[1.0, 2.0, -4.0, 8.0]] * 2)
    expected = torch.tensor([[1.0, 1.0, -4.0, 4.0], [1.0, 1.0, -8.0, 4.0]])
    assert torch.equal(RepetitionPenalty(2.0, mask)(ids, scores), expected)
