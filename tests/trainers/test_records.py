"""What training.json, table and card say of a training: what it was, what it was not, and from which rows."""

import json
import math
import re
import warnings
from dataclasses import replace

import pytest
import torch
from peft import LoraConfig, get_peft_model
from safetensors.torch import load_file
from transformers import LlamaForCausalLM

from evenhand.benchmarks.contact_hypothesis.verdict import _find_perplexity_problems
from evenhand.errors import UsageError
from evenhand.models.adapters import find_adapter
from evenhand.models.prefix_tree import Continuation
from evenhand.models.text_reader import TextReader
from evenhand.trainers import benchmark_rows
from evenhand.trainers.card import name_differences
from evenhand.trainers.examples import LONGEST, read_instructions
from evenhand.trainers.expected_score import EarlyStop
from evenhand.trainers.implicit_bias import ImplicitBiasTrainer
from evenhand.trainers.measures import PERPLEXITY
from evenhand.trainers.progress import unheard
from evenhand.trainers.reward import RewardTrainer
from evenhand.trainers.saving import merge_adapter
from evenhand.trainers.social_contact import PUBLISHED, SocialContactOptions, SocialContactTrainer
from tests.trainers.few_rows import FEW

TRAINER = SocialContactTrainer()


@pytest.fixture
def asked(tiny_checkpoint):
    return SocialContactOptions(model=str(tiny_checkpoint), dtype="float32", limit=4, rank=2, measure_every=0)


def test_what_is_not_as_published_is_listed_and_the_rest_is_not(asked, tmp_path):
    """Of a run with the published values nothing but what can't be: weights of 4 bits, Alpaca's layout, the mixing."""
    record = TRAINER.tune(replace(asked, dropout=0.0), tmp_path / "m", unheard)
    otherwise = record["otherwise_than_published"]
    assert {*otherwise} == {
        *("dropout", "rank", "limit", "quantization", "layout", "source", "mix"),
        *("base", "prompt_sets", "left_out"),
    }
    assert otherwise["dropout"] == {"here": 0.0, "published": 0.1}
    card = (tmp_path / "m" / "README.md").read_text()
    assert "dropout 0.0 (published: 0.1)" in card
    assert "layout chat (published: published)" in card
    assert "as published" not in card
    assert "as in the published code" not in card
    assert record["adapted_layers"] == ["q_proj", "v_proj"]
    assert "Adapters stand in q_proj, v_proj." in card
    adapter = json.loads((tmp_path / "m" / "adapter_config.json").read_text())
    assert adapter["target_modules"] == ["q_proj", "v_proj"]  # sorted: an identical training has the same identity
    assert json.loads((tmp_path / "m" / "training.json").read_text())["otherwise_than_published"] == otherwise


def test_of_the_published_values_nothing_is_listed():
    assert (PUBLISHED["rank"], PUBLISHED["epochs"], PUBLISHED["quantization"]) == (64, 1.0, "4bit")
    assert name_differences({"rank": {"here": 8, "published": 64}}) == "rank 8 (published: 64)"
    of_half = ImplicitBiasTrainer().published({"data": "half"})
    assert (of_half["epochs"], of_half["learning_rate"], of_half["packed"]) == (2.0, 1e-3, True)
    assert RewardTrainer().published({}) == {}


class _CutOff(Exception):
    pass


def test_other_texts_of_the_same_rows_are_other_data(asked, tmp_path, monkeypatch):
    """The ids are the same: neither the fingerprint of the examples nor a training that goes on is taken in."""

    def cut_off(what, done, steps):
        if (what, done) == ("training", 2):
            raise _CutOff

    options = replace(asked, epochs=3, save_every=1, batch_size=6, accumulation=1)
    with pytest.raises(_CutOff):
        TRAINER.tune(options, tmp_path / "m", cut_off)
    before = TRAINER._prepare(options, unheard).data

    def reworded(*which):
        load = FEW(*which)
        return lambda config: load(config).map(lambda row: {"no_contact": row["no_contact"].replace("?", "??")})

    monkeypatch.setattr(benchmark_rows, "contact_rows", reworded)
    after = TRAINER._prepare(options, unheard).data
    assert before["ids_sha256"] == after["ids_sha256"]
    assert before["examples_sha256"] != after["examples_sha256"]
    with pytest.raises(UsageError, match=r"other options or data \(learned from\)"):
        TRAINER.tune(options, tmp_path / "m", unheard)


def test_rows_are_told_with_their_versions(asked):
    data = TRAINER._prepare(replace(asked, counter_examples=True), unheard).data
    assert {*data["rows_versions"]} == {"contact_hypothesis", "contact_controls"}
    assert {*TRAINER._prepare(asked, unheard).data["rows_versions"]} == {"contact_hypothesis"}


@pytest.mark.parametrize(
    ("others", "says"),
    [
        ({}, ""),
        ({"batch_size": 12}, "a step has all 12 examples, fewer than --batch-size 12 x --accumulation 2"),
        ({"warmup": 1}, "the learning rate rises until the end: --warmup 1 of 1 steps"),
        ({"warmup": 1, "epochs": 2}, ""),
    ],
)
def test_what_options_do_to_a_training_is_said_before_it(asked, others, says):
    assert TRAINER.prepare(replace(asked, **others), unheard).note == says


def test_a_revision_of_a_folder_is_refused(asked):
    with pytest.raises(UsageError, match=r"--revision main is for models on the Hub, not .*; leave it out"):
        TRAINER.prepare(replace(asked, revision="main"), unheard)


def test_a_loss_that_rises_is_told(asked, tmp_path):
    options = replace(asked, max_steps=4, epochs=9, method="full", rank=64, learning_rate=10.0, clip=1e9)
    record = TRAINER.tune(options, tmp_path / "m", unheard)
    assert record["losses"][-1] > record["losses"][0]
    assert record["note"].startswith(f"the loss did not fall: it was {record['losses'][0]:.3f} at the first step, and")
    assert record["note"] in (tmp_path / "m" / "README.md").read_text()
    assert TRAINER._rise([2.0]) == TRAINER._rise([2.0, 1.0, 1.5]) == RewardTrainer()._rise([0.0, 1.0]) == ""


@pytest.mark.parametrize("tied", [True, False])
def test_merged_weights_that_answer_otherwise_than_the_adapter_are_told(tiny_llama, tied):
    """An adapter of the embeddings is merged into what writes, too, where they are one."""
    config = type(tiny_llama.config).from_dict(tiny_llama.config.to_dict() | {"tie_word_embeddings": tied})
    torch.manual_seed(0)
    how = LoraConfig(r=2, target_modules=["embed_tokens", "q_proj"], task_type="CAUSAL_LM")
    model = get_peft_model(LlamaForCausalLM(config), how)
    for name, weight in model.named_parameters():
        if "lora_" in name:
            torch.nn.init.normal_(weight, std=0.3)
    _, why = merge_adapter(model, Continuation((5, 9, 40), (7, 11)))
    assert why.startswith("merged weights were left out: log-probabilities differ") if tied else why == ""


def test_a_folder_of_the_base_is_in_no_file_but_the_record(asked, tiny_checkpoint, tmp_path):
    """Which publishing strips of it. The adapter is put on it by evenhand all the same."""
    TRAINER.tune(replace(asked, max_steps=1, merge=True), tmp_path / "m", unheard)
    telling = [each for each in (tmp_path / "m").rglob("*") if each.is_file() and each.suffix != ".safetensors"]
    place = str(tiny_checkpoint.parent).encode()
    assert {each.name for each in telling if place in each.read_bytes()} == {"training.json"}
    assert find_adapter(str(tmp_path / "m"), "m", None).base == str(tiny_checkpoint)


def test_a_public_id_of_a_folder_is_named_by_adapter_and_card(asked, tiny_checkpoint, tmp_path):
    TRAINER.tune(replace(asked, max_steps=1, base_id="lab/tiny"), tmp_path / "m", unheard)
    assert json.loads((tmp_path / "m" / "adapter_config.json").read_text())["base_model_name_or_path"] == "lab/tiny"
    card = (tmp_path / "m" / "README.md").read_text()
    assert "base_model: lab/tiny" in card
    assert 'from_pretrained("lab/tiny")' in card
    base = json.loads((tmp_path / "m" / "training.json").read_text())["base"]
    assert (base["model"], base["public_id"]) == (str(tiny_checkpoint), "lab/tiny")
    assert find_adapter(str(tmp_path / "m"), "m", None).base == str(tiny_checkpoint)


@pytest.mark.parametrize(
    ("model", "base_id", "says"),
    [
        ("lab/tiny", "lab/other", "--base-id lab/other is for a base in a local folder, and lab/tiny is none"),
        (None, "tiny", "--base-id must be a Hub id, ORG/NAME, got 'tiny'"),
        (None, "/models/tiny", "got '/models/tiny'"),
        (None, "../..", "got '../..'"),
    ],
)
def test_what_is_no_public_id_of_a_folder_is_refused(asked, model, base_id, says):
    with pytest.raises(UsageError, match=re.escape(says)):
        TRAINER.check(replace(asked, model=model or asked.model, base_id=base_id))


def test_an_output_that_is_a_file_is_told(asked, tmp_path):
    (tmp_path / "m").write_text("of somebody")
    with pytest.raises(UsageError, match="m is a file; choose a folder"):
        TRAINER.tune(asked, tmp_path / "m", unheard)
    assert (tmp_path / "m").read_text() == "of somebody"


def test_an_instruction_has_as_many_tokens_as_it_may_and_no_more(tokenizer, tmp_path):
    """Of prompt and answer, with the token that ends it."""
    reader = TextReader(tokenizer, 4096)

    def n_tokens(words):
        path = tmp_path / "mix.jsonl"
        path.write_text(json.dumps({"instruction": "7" * words, "output": "b"}) + "\n")
        [example] = read_instructions(path, 1, 0, reader, template=True).examples
        return len(example.prompt + example.answer)

    more = LONGEST - n_tokens(1)
    assert n_tokens(1 + more) == LONGEST
    with pytest.raises(UsageError, match="at most 1,024 tokens"):
        n_tokens(2 + more)


def test_a_perplexity_that_is_no_number_has_grown_beyond_any_margin():
    measured = [{"step": step, PERPLEXITY: value} for step, value in enumerate((20.0, math.nan))]
    assert EarlyStop(patience=0, margin=5)(measured)
    assert not EarlyStop(patience=0, margin=None)(measured)


def test_libraries_say_nothing_among_the_command_s_lines(asked, tiny_llama, tokenizer, tmp_path, capfd):
    """Of a tokenizer whose special tokens are not the configuration's, and of embeddings that are adapted."""
    config = type(tiny_llama.config).from_dict(tiny_llama.config.to_dict() | {"tie_word_embeddings": True})
    config.bos_token_id, config.eos_token_id, config.pad_token_id = 11, 12, 13
    LlamaForCausalLM(config).save_pretrained(tmp_path / "base")
    tokenizer.save_pretrained(tmp_path / "base")
    capfd.readouterr()
    options = replace(asked, model=str(tmp_path / "base"), targets="embed_tokens,q_proj", max_steps=1)
    with warnings.catch_warnings(action="error"):
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        TRAINER.tune(options, tmp_path / "m", unheard)
    said = capfd.readouterr().err
    assert "PAD/BOS/EOS" not in said
    assert "UserWarning" not in said
    names = load_file(tmp_path / "m" / "adapter_model.safetensors").keys()
    assert all("lora_" in name for name in names)  # no copy of the embeddings themselves


@pytest.mark.parametrize("last", [None, math.nan, math.inf])
def test_a_perplexity_that_became_no_number_is_told_so(last):
    """In training.json it is null; the figure before it is not the last."""
    measured = [{"step": step, PERPLEXITY: value} for step, value in enumerate((20.0, 20.1, last))]
    assert [*_find_perplexity_problems({"measured": measured}, 5.0)] == [
        "its perplexity on neutral text became no number"
    ]
    assert not [*_find_perplexity_problems({"measured": measured[:2]}, 5.0)]
