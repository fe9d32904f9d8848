"""What a training computes is counted alike for every method, and a budget of it ends any of them."""

import json
import shutil
from copy import deepcopy

import pytest
from transformers import AutoModelForCausalLM, MixtralConfig, OPTConfig

from evenhand.trainers.preference import PreferenceOptions, PreferenceTrainer
from evenhand.trainers.progress import unheard
from evenhand.trainers.reward import RewardOptions, RewardTrainer
from evenhand.trainers.social_contact import SocialContactOptions, SocialContactTrainer

TRAINERS = {
    SocialContactOptions: SocialContactTrainer,
    PreferenceOptions: PreferenceTrainer,
    RewardOptions: RewardTrainer,
}


@pytest.fixture
def tuned(tiny_checkpoint, tmp_path):
    def call(kind, on_progress=unheard, **others):
        asked = {"model": str(tiny_checkpoint), "dtype": "float32", "setting": "6", "limit": 4, "rank": 2}
        options = kind(**(asked | {"measure_every": 0} | others))
        return TRAINERS[kind]().tune(options, tmp_path / "m", on_progress)

    return call


def test_a_padded_pass_reads_every_answer_with_its_prompt(tuned):
    """Twelve examples in two epochs; padding is none of it."""
    record = tuned(SocialContactOptions, packing="padded", epochs=2)
    assert record["computed_tokens"] == {"learned": 2 * record["data"]["tokens"], "otherwise": 0}


def test_a_tree_reads_what_is_shared_once_and_a_divergence_reads_the_base(tuned):
    record = tuned(SocialContactOptions, packing="tree", batch_size=12, accumulation=1, divergence=1.0)
    distinct = record["data"]["distinct_tokens"]
    assert record["computed_tokens"] == {"learned": distinct, "otherwise": distinct}


def test_of_pairs_both_answers_are_read_and_the_base_reads_them_too(tuned):
    """TRL reads an answer's last token, too, behind which nothing is predicted."""
    record = tuned(PreferenceOptions)
    tokens = record["data"]["tokens"] + 2 * record["data"]["pairs"]
    assert record["computed_tokens"] == {"learned": tokens, "otherwise": tokens}


def test_of_groups_each_answer_is_read_behind_its_prompt(tuned):
    """Two answers of one token or two to each prompt. They are written first, which reads the prompts, too."""
    how = {"group_size": 2, "batch_size": 4, "accumulation": 1, "max_new_tokens": 2}
    record = tuned(RewardOptions, **how)
    prompts, n = record["data"]["tokens"], record["data"]["prompts"]
    learned, otherwise = record["computed_tokens"].values()
    assert 2 * (prompts + n) <= learned <= 2 * (prompts + 2 * n)
    assert otherwise >= 2 * prompts


SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "max_position_embeddings": 1024}
OTHERS = {
    "OPT, whose parts call each other otherwise": OPTConfig(**SMALL, ffn_dim=64, word_embed_proj_dim=32),
    "a mixture of experts": MixtralConfig(
        **SMALL, intermediate_size=64, num_key_value_heads=2, num_local_experts=4, output_router_logits=True
    ),
}


@pytest.fixture
def other(tokenizer, tmp_path):
    """other(name) → the folder of a model of one of OTHERS."""

    def call(name):
        config = deepcopy(OTHERS[name])
        config.vocab_size, config.pad_token_id = len(tokenizer), tokenizer.pad_token_id
        folder = tmp_path / "other"
        AutoModelForCausalLM.from_config(config).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        return str(folder)

    return call


@pytest.mark.parametrize("name", OTHERS)
def test_any_architecture_is_counted_and_learns_in_trees(tuned, other, name, tmp_path):
    """Twelve examples in one pass, on all layers; the budget of one token ends it after its first step of two."""
    how = {"packing": "tree", "batch_size": 12, "accumulation": 1, "epochs": 2, "max_tokens": 1, "merge": True}
    record = tuned(SocialContactOptions, model=other(name), targets="all-linear", **how)
    assert record["computed_tokens"] == {"learned": record["data"]["distinct_tokens"], "otherwise": 0}
    assert record["steps"] == 1
    config, base = (json.loads((tmp_path / each / "config.json").read_text()) for each in ("m/merged", "other"))
    assert config.get("output_router_logits") == base.get("output_router_logits")
    assert config.get("router_aux_loss_coef") == base.get("router_aux_loss_coef")


class _Killed(Exception):
    pass


def test_a_budget_ends_a_training_and_the_last_step_is_measured(tuned):
    """Four steps of six examples each would be made: one token needs one of them. How far each part is, is told."""
    told = []
    how = {"accumulation": 1, "epochs": 2, "max_tokens": 1, "measure_every": 3, "measured": 1}
    record = tuned(SocialContactOptions, lambda *each: told.append(each), **how)
    assert record["steps"] == len(record["losses"]) == 1
    assert [each["step"] for each in record["measured"]] == [0, 1]
    parts = (
        ("measuring after step 0", 1),
        ("training", 4),
        ("measuring after step 1", 1),
        ("asking what was learned", 280),
    )
    counted = [each for each in told if each[2]]
    assert list(dict.fromkeys((what, of) for what, _, of in counted)) == list(parts)
    for part in parts:
        last = [done for what, done, of in counted if (what, of) == part][-1]
        assert last == (1 if part[0] == "training" else part[1])


def test_what_was_computed_before_a_cut_counts(tuned, tmp_path):
    """A step of six examples has some 2,000 tokens here: four steps or so."""
    how = {"accumulation": 1, "epochs": 9, "save_every": 1, "packing": "padded", "max_tokens": 7_000}

    def killed(what, done, steps):
        if (what, done) == ("training", 2):
            raise _Killed

    with pytest.raises(_Killed):
        tuned(SocialContactOptions, killed, **how)
    cut_off = tuned(SocialContactOptions, **how)
    shutil.move(tmp_path / "m", tmp_path / "cut off")
    whole = tuned(SocialContactOptions, **how)
    assert cut_off["computed_tokens"] == whole["computed_tokens"]
    assert cut_off["steps"] == whole["steps"]
    assert whole["computed_tokens"]["learned"] >= 7_000
    assert 2 < whole["steps"] < 18
