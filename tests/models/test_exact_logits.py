"""Logits of half-precision models are computed in float32, so that options are not tied by rounding."""

import pytest
import torch
from transformers import AutoModelForCausalLM, Gemma2Config, LlamaConfig

from evenhand.models.exact_logits import float32_logits

SIZES = {
    "vocab_size": 400, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
    "intermediate_size": 64, "initializer_range": 0.2,
}  # fmt: skip
PROMPT = torch.tensor([[3, 14, 15, 92, 65]])


def tiny(config, dtype):
    torch.manual_seed(0)
    return AutoModelForCausalLM.from_config(config).to(dtype).eval()


def next_logits(model):
    with torch.inference_mode():
        return model(PROMPT).logits[0, -1]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("config", [LlamaConfig(**SIZES), Gemma2Config(**SIZES, head_dim=8)], ids=["Llama", "Gemma2"])
def test_ties_of_rounding_are_gone_and_nothing_else_changes(config, dtype):
    """Of 400 tokens many have the very logit of another one; in float32 none has, and each is its rounded self."""
    model = tiny(config, dtype)
    rounded = next_logits(model)
    with float32_logits(model):
        exact = next_logits(model)
    assert exact.dtype == torch.float32
    assert len(exact.unique()) == 400 > len(rounded.unique())
    assert torch.allclose(exact, rounded.float(), rtol=0.02, atol=0.02)
    assert torch.equal(next_logits(model), rounded)


def test_a_model_in_float32_is_left_alone():
    model = tiny(LlamaConfig(**SIZES), torch.float32)
    plain = next_logits(model)
    with float32_logits(model):
        assert not model.get_output_embeddings()._forward_hooks
        assert torch.equal(next_logits(model), plain)
