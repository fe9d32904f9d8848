"""Writing without copies gives what transformers' own cache and attention give."""

import pytest
import torch
from transformers import (
    Gemma2Config,
    Gemma2ForCausalLM,
    GenerationConfig,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
)

from evenhand.models import decoding
from evenhand.models.decoding import RoomyLayer

SMALL = {"vocab_size": 99, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2}
GROUPED = SMALL | {"num_attention_heads": 4, "num_key_value_heads": 2, "initializer_range": 0.3}
PLAIN = {
    "llama": lambda: LlamaForCausalLM(LlamaConfig(**GROUPED)),
    "qwen": lambda: Qwen2ForCausalLM(Qwen2Config(**GROUPED)),
    "gpt2": lambda: GPT2LMHeadModel(GPT2Config(vocab_size=99, n_embd=32, n_layer=2, n_head=4, initializer_range=0.3)),
}
WINDOWED = {
    "mistral": lambda: MistralForCausalLM(MistralConfig(**GROUPED, sliding_window=8)),
    "gemma": lambda: Gemma2ForCausalLM(Gemma2Config(**GROUPED, sliding_window=8, head_dim=8)),
}


def build(make):
    torch.manual_seed(0)
    return make().eval()


def written(model, tokens, **kept):
    """Prompts of 3, 11 and 20 tokens, padded on the left, and what follows: greedily, `tokens` of it."""
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(1, 99, (3, 20), generator=generator)
    mask = torch.tensor([[0] * (20 - n) + [1] * n for n in (3, 11, 20)])
    settings = GenerationConfig(max_new_tokens=tokens, min_new_tokens=tokens, do_sample=False, pad_token_id=0)
    settings.output_logits, settings.return_dict_in_generate = True, True
    with torch.inference_mode():
        output = model.generate(input_ids=ids * mask, attention_mask=mask, generation_config=settings, **kept)
    return output.sequences, torch.stack(output.logits)


@pytest.mark.parametrize("name", PLAIN)
def test_the_same_is_written(name, monkeypatch):
    """Through several moves to a larger room, too."""
    monkeypatch.setattr(decoding, "SPACE_AHEAD", 3)
    model = build(PLAIN[name])
    expected, logits = written(model, 30)
    with decoding.decoding(model) as kept:
        assert isinstance(kept["past_key_values"].layers[0], RoomyLayer)
        tokens, ours = written(model, 30, **kept)
    assert torch.equal(tokens, expected)
    assert torch.allclose(ours, logits, atol=1e-4)
    assert model.config._attn_implementation == "sdpa"


@pytest.mark.parametrize("name", WINDOWED)
def test_windows_are_left_to_transformers(name):
    model = build(WINDOWED[name])
    before = model.config._attn_implementation
    with decoding.decoding(model) as kept:
        assert kept == {}
        assert model.config._attn_implementation == before


def test_an_error_leaves_the_model_as_it_was():
    model = build(PLAIN["llama"])
    with pytest.raises(KeyError), decoding.decoding(model):
        raise KeyError
    assert model.config._attn_implementation == "sdpa"


def test_a_room_keeps_what_it_was_given():
    """Appended one by one, keys and values come back whole, and most times nothing is moved."""
    layer, given = RoomyLayer(), torch.arange(300.0).reshape(1, 1, 300, 1)
    places = set()
    for i in range(300):
        keys, values = layer.update(given[..., i : i + 1, :], -given[..., i : i + 1, :])
        places.add(keys.data_ptr())
    assert torch.equal(keys, given)
    assert torch.equal(values, -given)
    assert layer.get_seq_length() == 300
    assert len(places) == 2
