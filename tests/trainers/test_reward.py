"""Rewards of a benchmark: in a plain script of TRL, and `evenhand train reward`, which counts equal groups."""

import json
import logging
import subprocess
import sys
from statistics import fmean

import pytest
import torch
from safetensors.torch import load_file

from evenhand.benchmarks import get_benchmark
from evenhand.errors import UsageError
from evenhand.trainers import bias_prompts, bias_reward
from evenhand.trainers.policy_gradient import count_equal
from evenhand.trainers.progress import unheard
from evenhand.trainers.reward import RewardOptions, RewardTrainer, list_prompts, oppose
from evenhand.trainers.rewards import value_of
from evenhand.trainers.training_folder import UNFINISHED

train = RewardTrainer().tune
AFFIRMING = {"certainty": "Yes", "likelihood": "Likely", "frequency": "Mostly"}


@pytest.fixture(scope="module")
def prompts():
    return bias_prompts("contact_hypothesis", configs=["certainty"], limit=12)


def test_importing_the_reward_loads_no_model_library():
    code = (
        "import sys; from evenhand.trainers import bias_reward; print({'torch', 'datasets', 'trl'} & set(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "set()"


def test_a_reward_is_one_less_the_value_that_the_benchmark_reads(prompts):
    """Affirming a kind action has no bias, affirming an unkind one has; whoever says neither isn't read."""
    reward = bias_reward("contact_hypothesis")
    columns = {name: prompts[name] for name in ("row", "place")}
    kind = [json.loads(row)["action"] == "positive" for row in prompts["row"]]
    assert 0 < sum(kind) < len(kind)
    assert reward(prompts["prompt"], ["Yes"] * len(kind), **columns) == [float(each) for each in kind]
    said = [[{"role": "assistant", "content": "No."}]] * len(kind)
    assert reward(prompts["prompt"], said, **columns) == [float(not each) for each in kind]
    assert reward(prompts["prompt"], ["Yes or no"] * len(kind), **columns) == [None] * len(kind)
    counted = bias_reward("contact_hypothesis", unread=0.0)
    assert counted(prompts["prompt"], ["Perhaps"] * len(kind), **columns) == [0.0] * len(kind)


@pytest.mark.parametrize("place", [-1, 3, "0", None])
def test_a_place_that_no_question_has_is_told(prompts, place):
    """Of three contacts: without that, an answer to a question that was never asked would count as unread."""
    with pytest.raises(UsageError, match="place must be from 0 to 2"):
        bias_reward("contact_hypothesis")(["a"], ["Yes"], row=prompts["row"][:1], place=[place])


def test_a_turn_without_text_is_unread(prompts):
    """As of a model that called a tool."""
    turns = [[{"role": "assistant", "content": None}], []]
    columns = {name: prompts[name][:2] for name in ("row", "place")}
    assert bias_reward("contact_hypothesis")(["a", "b"], turns, **columns) == [None, None]


def test_prompts_are_what_the_benchmark_asks(prompts):
    assert prompts.column_names == ["prompt", "row", "place", "id"]
    benchmark = get_benchmark("contact_hypothesis")
    first = prompts[0]
    request = benchmark.ask(json.loads(first["row"]), benchmark.asking(protocol="generate"))[first["place"]]
    assert first["prompt"] == [{"role": each.role, "content": each.text} for each in request.messages]
    assert request.name == first["id"]
    [plain, *_] = bias_prompts("contact_hypothesis", limit=1, layout="published")["prompt"]
    assert plain.startswith("[INST]")


def test_of_a_conversation_the_first_step_is_rewarded():
    """Everybody's first assignment: a person for each task, by name."""
    asked = bias_prompts("implicit_bias", limit=2)
    benchmark = get_benchmark("implicit_bias")
    row = json.loads(asked["row"][0])
    assigned = "\n".join(f"Task {n}: {name}" for n, name in enumerate(row["characters"] * 2, 1))
    found = bias_reward("implicit_bias")(
        asked["prompt"], [assigned] * len(asked), row=asked["row"], place=asked["place"]
    )
    assert len(found) == len(asked) > 2
    assert benchmark.figures[0].statistic.range == (-1.0, 1.0)
    assert all(each is None or 0 <= each <= 1 for each in found)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: bias_reward("contact_hypothesi"), "did you mean 'contact_hypothesis'?"),
        (lambda: bias_reward("contact_hypothesis", colour="red"), "colour"),
        (lambda: bias_reward("mllm_stereotypes"), "shows pictures"),
        (lambda: bias_reward("contact_hypothesis")(["a"], ["Yes"]), "needs the columns row and place"),
        (lambda: bias_prompts("contact_hypothesis", configs=["certaint"]), "did you mean 'certainty'?"),
        (lambda: bias_reward("contact_hypothesis", unread=float("nan")), "got nan"),
        (lambda: bias_reward("contact_hypothesis", unread="0"), "got '0'"),
        (lambda: bias_reward("contact_hypothesis")(["a"], ["Yes"], row=["{"], place=[0]), "is no JSON"),
        (lambda: bias_reward("contact_hypothesis")(["a"], ["Yes"], row=["[]"], place=[0]), "is no JSON object"),
        (
            lambda: bias_reward("contact_hypothesis")(["a"], ["Yes"], row=["{}"], place=[0]),
            "which contact_hypothesis reads",
        ),
        (lambda: bias_reward("contact_hypothesis")(["a"], ["Yes", "No"], row=["{}"], place=[0]), "2 completions need"),
    ],
)
def test_bad_input_is_told_to_scripts(call, says):
    with pytest.raises(UsageError, match=says.replace("?", r"\?")):
        call()


def test_a_plain_script_of_trl_trains_by_it(tiny_checkpoint, tmp_path, prompts):
    """Nothing of ours but the dataset and the reward; what is unread counts as 0 here, so that every answer has one."""
    from trl import GRPOConfig, GRPOTrainer

    script = GRPOTrainer(
        model=str(tiny_checkpoint),
        reward_funcs=bias_reward("contact_hypothesis", unread=0.0),
        train_dataset=prompts,
        args=GRPOConfig(
            output_dir=str(tmp_path), per_device_train_batch_size=4, num_generations=4, max_completion_length=4,
            max_steps=2, use_cpu=True, bf16=False, gradient_checkpointing=False, report_to=[], logging_steps=1,
            save_strategy="no", disable_tqdm=True,
        ),
    )  # fmt: skip
    script.train()
    logs = [log for log in script.state.log_history if "reward" in log]
    assert len(logs) == 2
    assert all(log["rewards/bias_reward_contact_hypothesis/mean"] == log["reward"] for log in logs)


def test_a_constant_answer_is_right_in_half_of_every_step():
    options = RewardOptions(model="m", setting="6")
    how = options.asking("generate")
    rows = options.training_rows().train
    found = [each for row in rows for each in list_prompts(row, "contact_hypothesis", how)]
    ordered, size = oppose(found, 42)
    assert size == 2
    assert 0 < len(ordered) <= len(found)
    reward = bias_reward("contact_hypothesis")
    for always in (0, 1):  # of every scale, what affirms, or what declines
        rewards = [reward.of(each.row, each.place, each.row["options"][always]) for each in ordered]
        assert all(fmean(rewards[start : start + 2]) == 0.5 for start in range(0, len(rewards), 2))
    said = [reward.of(each.row, each.place, AFFIRMING["certainty"]) for each in ordered]
    assert fmean(each for each in said if each is not None) == 0.5


def test_groups_of_equal_rewards():
    """What was not read is no reward: a group with one that was has none to be held against."""
    nan = torch.nan
    rewards = torch.tensor([[1.0, 1.0, 1.0], [0.0, 1.0, 1.0], [nan, nan, nan], [nan, 1.0, nan], [nan, 0.0, 1.0]])
    assert count_equal(rewards) == 3


@pytest.fixture
def reading_first_letters(monkeypatch):
    """A tiny model writes no words: what begins with a vowel counts as the affirming option, all else as the other."""

    def of(self, row, place, text):
        says = row["options"][0 if text.strip()[:1].lower() in "aeiou" else 1]
        return 1 - value_of(get_benchmark("contact_hypothesis"), row, place, says, self.how)

    monkeypatch.setattr("evenhand.trainers.rewards.BiasReward.of", of)


def options(model, **others):
    asked = {"model": str(model), "dtype": "float32", "limit": 12, "setting": "6", "group_size": 4, "batch_size": 8}
    asked |= {"accumulation": 2, "max_new_tokens": 2, "learning_rate": 0.01, "rank": 8, "max_steps": 4, "measured": 2}
    return RewardOptions(**(asked | {"measure_every": 0, "dropout": 0.1} | others))


class _Killed(Exception):
    pass


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["grpo", "rloo"])
def test_a_training_that_was_cut_off_ends_with_the_same_weights(
    algorithm, tiny_checkpoint, tmp_path, reading_first_letters
):
    asked = options(tiny_checkpoint, algorithm=algorithm, save_every=1, beta=0.02)
    record = train(asked, tmp_path / "whole", unheard)
    assert record["steps"] == 4
    assert record["note"].endswith("of 16 groups had equal rewards: no gradient")
    assert not record["note"].startswith("16 of")
    assert record["over_steps"]["answers unread, %"] == [0] * 4

    def killed_at(what, done, steps):
        if (what, done) == ("training", 3):
            raise _Killed

    with pytest.raises(_Killed):
        train(asked, tmp_path / "cut off", killed_at)
    assert (tmp_path / "cut off" / UNFINISHED / "checkpoint-2").is_dir()
    again = train(asked, tmp_path / "cut off", unheard)
    assert again["over_steps"] == record["over_steps"]
    first, second = (load_file(tmp_path / each / "adapter_model.safetensors") for each in ("whole", "cut off"))
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_where_nothing_is_read_it_is_said(tiny_checkpoint, tmp_path, evenhand, caplog):
    """An untrained model hardly ever writes an option: no reward to learn by, no gradient, and weights that stay."""
    small = ("--limit", "8", "--setting", "6", "--batch-size", "4", "--accumulation", "2", "--group-size", "2")
    steps = ("--max-steps", 3, "--epochs", "9", "--measure-every", "0", "--max-new-tokens", "2", "--rank", "2")
    where = ("--model", tiny_checkpoint, "--dtype", "float32", "--output", tmp_path / "r")
    with caplog.at_level(logging.WARNING):
        called = evenhand("train", "reward", *where, *small, *steps)
    assert called.code == 0, called.err
    assert "12 of 12 groups had equal rewards: no gradient" in " ".join(called.out.split())
    assert "All reward functions returned None" not in caplog.text
    record = json.loads((tmp_path / "r" / "training.json").read_text())
    assert record["over_steps"]["reward"].count(None) > 1
    assert "no gradient" in (tmp_path / "r" / "README.md").read_text()
    weights = load_file(tmp_path / "r" / "adapter_model.safetensors")
    assert all(not each.any() for name, each in weights.items() if "lora_B" in name)


def test_what_is_unread_is_counted_whatever_its_reward(tiny_checkpoint, tmp_path):
    """The tiny model writes no option, so that all rewards are --unread, and equal."""
    record = train(options(tiny_checkpoint, unread=0.3, max_steps=2), tmp_path / "m", unheard)
    assert record["recipe"]["unread"] == 0.3
    assert record["over_steps"]["answers unread, %"] == [100, 100]
    assert record["over_steps"]["reward"] == pytest.approx([0.3, 0.3])
    assert record["note"].startswith("8 of 8 groups had equal rewards")
    told = dict(RewardTrainer().summarize(record))
    assert told["answers unread"] == "100.0 %, with a reward of 0.3"


def test_a_plan_and_bad_input(evenhand, tiny_checkpoint, tmp_path):
    small = ("--limit", "8", "--setting", "6", "--batch-size", "4", "--accumulation", "2", "--group-size", "2")
    planned = evenhand("train", "reward", "--model", tiny_checkpoint, *small, "--max-new-tokens", "2", "--plan")
    assert planned.code == 0, planned.err
    assert "steps, batches padded" in planned.out
    assert "the minutes include writing the answers" in planned.out
    model = ("--model", tiny_checkpoint, "--output", tmp_path / "p")
    for arguments, says in (
        (("--group-size", "5"), "must be a multiple of --group-size 5"),
        (("--group-size", "16"), "multiple of 2"),
        (("--method", "full", "--beta", "0.1"), "the adapter switched off"),
        (("--limit", "1"), "a step asks 6 prompts, and there are 0"),
        (("--packing", "tree"), "--packing tree"),
        (("--benchmark", "mllm_stereotypes"), "shows pictures"),
        (("--max-new-tokens", "5000"), "can't be trained on"),
    ):
        called = evenhand("train", "reward", *model, *arguments)
        assert called.code == 2, (arguments, called.err)
        assert says in called.err, (arguments, called.err)
    assert not (tmp_path / "p").exists()
