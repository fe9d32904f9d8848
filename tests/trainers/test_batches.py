"""Tree-packed batches: the loss and the gradients of padded ones, from fewer tokens."""

import random
import re

import pytest
import torch
from peft import LoraConfig, get_peft_model
from transformers import (
    AutoModelForCausalLM,
    FalconConfig,
    GPT2Config,
    LlamaConfig,
    MistralConfig,
    MptConfig,
    Qwen2Config,
    RecurrentGemmaConfig,
)

from evenhand.models.prefix_tree import Continuation
from evenhand.models.tree_masks import Unsupported
from evenhand.trainers.losses import AnswerLoss
from evenhand.trainers.packing import PaddedBatching, TreeBatching, find_tree_fault

NEWER = {
    "vocab_size": 90, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "max_position_embeddings": 128, "pad_token_id": 0,
}  # fmt: skip
ARCHITECTURES = {
    "Llama": LlamaConfig(**NEWER),
    "Qwen2": Qwen2Config(**NEWER),
    "Mistral, which sees 24 tokens back": MistralConfig(**NEWER, sliding_window=24),
    "GPT-2": GPT2Config(vocab_size=90, n_embd=32, n_layer=2, n_head=4, n_positions=128, attn_pdrop=0, embd_pdrop=0,
                        resid_pdrop=0, pad_token_id=0),
}  # fmt: skip


def examples(n=12, seed=0):
    """Prompts that begin alike and part late, with answers of one to three tokens."""
    rng = random.Random(seed)

    def tokens(length):
        return tuple(rng.randrange(1, 90) for _ in range(length))

    system = tokens(20)
    questions = [tokens(rng.randint(5, 12)) for _ in range(3)]
    return [
        Continuation(system + questions[place % 3] + tokens(rng.randint(0, 4)) + (7,), tokens(rng.randint(1, 3)))
        for place in range(n)
    ]


def model_of(config, lora):
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(config, attn_implementation="sdpa").float()
    if lora:
        names = ["c_attn", "c_proj", "c_fc"] if config.model_type == "gpt2" else "all-linear"
        model = get_peft_model(model, LoraConfig(r=4, lora_alpha=8, target_modules=names, task_type="CAUSAL_LM"))
        for name, weight in model.named_parameters():
            if "lora_B" in name:  # else the adapter would add nothing
                torch.nn.init.normal_(weight, std=0.1)
    return model.train()


def loss_and_gradients(model, batching, some):
    model.zero_grad()
    batch = batching.batch(some) | AnswerLoss().batch(some)
    loss = AnswerLoss().summed(batching.logits(model, batch).answers, batch) / len(batch["labels"])
    loss.backward()
    return loss.item(), {name: each.grad.clone() for name, each in model.named_parameters() if each.grad is not None}


@pytest.mark.parametrize("lora", [False, True], ids=["full", "LoRA"])
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_loss_and_gradients_are_those_of_padded_batches(name, lora):
    model = model_of(ARCHITECTURES[name], lora)
    base = model.get_base_model() if lora else model
    some = examples()
    padded_loss, padded = loss_and_gradients(model, PaddedBatching(0), some)
    tree_loss, tree = loss_and_gradients(model, TreeBatching(base), some)
    assert tree_loss == pytest.approx(padded_loss, rel=1e-5)
    assert set(tree) == set(padded)
    for weight, gradient in padded.items():
        difference = (tree[weight] - gradient).norm() / gradient.norm().clamp(min=1e-6)
        assert difference < 1e-5, weight


def test_the_same_question_with_two_answers_counts_twice():
    model = model_of(ARCHITECTURES["Llama"], lora=False)
    prompt = (3, 5, 8)
    some = [Continuation(prompt, (4,)), Continuation(prompt, (6,)), Continuation(prompt, (6,))]
    padded, _ = loss_and_gradients(model, PaddedBatching(0), some)
    tree, _ = loss_and_gradients(model, TreeBatching(model), some)
    assert tree == pytest.approx(padded, rel=1e-6)


def test_what_is_shared_stands_once():
    some = examples()
    nodes = len(TreeBatching(model_of(ARCHITECTURES["Llama"], False)).batch(some)["tree"])
    assert nodes < min(200, 0.6 * len(some) * max(len(each.read) for each in some))


def test_a_model_without_4d_masks_is_refused():
    model = AutoModelForCausalLM.from_config(MptConfig(d_model=32, n_heads=4, n_layers=2, vocab_size=90))
    with pytest.raises(Unsupported):
        TreeBatching(model)


HYBRID = {"vocab_size": 90, "hidden_size": 32, "num_attention_heads": 4, "pad_token_id": 0}


@pytest.mark.parametrize(
    ("config", "why"),
    [
        (
            RecurrentGemmaConfig(
                **HYBRID, intermediate_size=48, num_hidden_layers=3, num_key_value_heads=1, lru_width=32, head_dim=8,
                block_types=["recurrent", "recurrent", "attention"],
            ),
            "layers of type attention, recurrent",
        ),
        (FalconConfig(**HYBRID, num_hidden_layers=2, alibi=True, new_decoder_architecture=False), "ALiBi"),
    ],
    ids=["recurrent layers", "alibi"],
)  # fmt: skip
def test_layers_that_read_by_place_are_given_no_trees(config, why):
    """Some of them would take a tree without a word, and compute another loss."""
    with pytest.raises(Unsupported, match=why):
        TreeBatching(model_of(config, lora=False))


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_trees_are_tried_before_they_are_trusted(name, monkeypatch):
    """Whatever a configuration says of its layers: one that mixes neighbors is found out."""
    model = model_of(ARCHITECTURES[name], lora=True)
    tree, padded = TreeBatching(model.get_base_model()), PaddedBatching(0)
    state = torch.get_rng_state()
    assert find_tree_fault(model, tree, padded, 90) == ""
    assert model.training
    assert torch.equal(torch.get_rng_state(), state)
    embeddings = model.get_input_embeddings()
    forward = embeddings.forward
    monkeypatch.setattr(embeddings, "forward", lambda tokens: forward(tokens) + forward(tokens.roll(1, dims=-1)))
    assert re.fullmatch(r"log-probabilities differ by [\d.]+ nats", find_tree_fault(model, tree, padded, 90))
    monkeypatch.setattr(embeddings, "forward", lambda tokens: forward(tokens)[0])
    assert "Error" in find_tree_fault(model, tree, padded, 90)


@pytest.mark.parametrize("places", [0, 7, 10_000])
@pytest.mark.parametrize("some", [[Continuation(tuple(range(1, 21)), (3, 4))], examples()], ids=["one", "twelve"])
def test_the_same_places_within_prompts_are_looked_at(places, some):
    """Each distinct prefix counts once, however often it is read; the last token's logits are before the answer, and
    not among them: so a divergence is the same of either batch."""
    model = model_of(ARCHITECTURES["Llama"], lora=False)
    found = [each.logits(model, each.batch(some, places)) for each in (PaddedBatching(0), TreeBatching(model))]
    within = {each.prompt[:length] for each in some for length in range(1, len(each.prompt))}
    before = {each.read[: len(each.prompt) + n] for each in some for n in range(len(each.answer))}
    assert len(found[0].prompts) == min(places, len(within - before))
    torch.testing.assert_close(found[0].prompts, found[1].prompts)
    torch.testing.assert_close(found[0].answers, found[1].answers)
