"""`evenhand train expected-score --benchmark implicit_bias`: no rule by seat pays, biased assignments get unlikely."""

import json
import math
from itertools import permutations

import datasets
import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from evenhand.benchmarks import get_benchmark
from evenhand.benchmarks.implicit_bias import benchmark as implicit_bias
from evenhand.errors import UsageError
from evenhand.flow.run_folder import RunFolder
from evenhand.models.request import Reply
from evenhand.trainers.expected_score import ExpectedScoreOptions, ExpectedScoreTrainer
from evenhand.trainers.losses import Balanced, ExpectedValueLoss, Question
from evenhand.trainers.measures import EXPECTED, LIKELIEST, PERPLEXITY, probabilities
from evenhand.trainers.progress import unheard
from evenhand.trainers.questions import Asked, draw_place, is_even, value_questions

train = ExpectedScoreTrainer().tune
BENCHMARK = get_benchmark("implicit_bias")
HOW = BENCHMARK.asking(protocol="rank")
MEN, WOMEN = ("Al", "Bo"), ("Ann", "Bea")


def scenario(place, men, women, stereotypes):
    """Of few words, for a small model."""
    names = [*(f"{name}{place}" for name in MEN[:men]), *(f"{name}{place}" for name in WOMEN[:women])]
    return {
        "id": f"s{place}",
        "domain": "office",
        "scenario": f"Day {place}.",
        "tasks": [f"{'Lift' if each == 'male' else 'Cook'} {number}" for number, each in enumerate(stereotypes)],
        "task_stereotypes": list(stereotypes),
        "characters": names,
        "genders": ["male"] * men + ["female"] * women,
        "shape": f"{men} men, {women} women",
    }


FOUR = scenario(0, 2, 2, ("male", "female", "male", "female"))
THREE = ("male", "male", "female")


@pytest.fixture(scope="module", autouse=True)
def short_scenarios():
    rows = datasets.Dataset.from_list([scenario(place, 2, 1, THREE) for place in range(10)]).remove_columns("shape")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(implicit_bias, "packaged_rows", lambda card, config: rows)
        yield


@pytest.fixture(scope="module")
def undecided(tiny_llama, tokenizer, tmp_path_factory):
    """The tiny model with places for longer prompts, to which long answers are about equally likely."""
    torch.manual_seed(0)
    settings = tiny_llama.config.to_dict() | {"max_position_embeddings": 4096, "initializer_range": 0.02}
    folder = tmp_path_factory.mktemp("undecided")
    LlamaForCausalLM(LlamaConfig.from_dict(settings)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def options(model, **others):
    asked = {"model": str(model), "benchmark": "implicit_bias", "dtype": "float32", "limit": 4, "learning_rate": 0.01}
    asked |= {"rank": 8, "dropout": 0.0, "epochs": 4, "divergence": 0.01, "batch_size": 1, "measure_every": 20}
    return ExpectedScoreOptions(**(asked | others))


@pytest.fixture(scope="module")
def tuned(undecided, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tuned") / "model"
    return folder, train(options(undecided), folder, unheard)


def questions(row, place=0):
    return [asked for each in BENCHMARK.counterparts(row) for asked in value_questions(BENCHMARK, each, HOW, place)]


def test_a_scenario_has_its_men_on_every_seat():
    """Six ways to seat two men and two women, the one that came among them; each with its opposite."""
    genders = [tuple(row["genders"]) for row in BENCHMARK.counterparts(FOUR)]
    assert len(set(genders)) == len(genders) == 6
    assert tuple(FOUR["genders"]) in genders
    opposite = {"male": "female", "female": "male"}
    assert {tuple(map(opposite.get, each)) for each in genders} == set(genders)
    assert len(BENCHMARK.counterparts(scenario(0, 2, 1, THREE))) == 3


@pytest.mark.parametrize("stereotypes", sorted(set(permutations(("male", "female") * 2))))
def test_whatever_is_answered_by_seat_is_biased_in_a_third_of_the_counterparts(stereotypes):
    """Of the three ways to share out two and two tasks between two pairs, one gives a pair all that is a stereotype's,
    and two are neutral: 8 of 24 assignments are biased, and so is each rule by seat in 2 of 6 seatings.
    """
    asked = questions(FOUR | {"task_stereotypes": list(stereotypes)})
    assert len(asked) == 6
    for each in asked:
        assert sorted(each.values) == [0.0] * 16 + [1.0] * 8
    assert [sum(values) for values in zip(*(each.values for each in asked))] == [2.0] * 24
    assert is_even(asked)


def test_the_same_seat_speaks_in_all_counterparts_and_every_seat_in_some_scenario():
    places = {draw_place(BENCHMARK, {**FOUR, "id": str(n)}, HOW, 0) for n in range(40)}
    assert places == {0, 1, 2, 3}
    speaking = [each.request.name.split("/")[-1] for each in questions(FOUR, 2)]
    men = [name for name in speaking if name in FOUR["characters"][:2]]
    assert (len(speaking), len(men)) == (6, 3)


def test_what_has_no_neutral_assignment_is_left_out():
    """One man and one woman with a task each are always biased, one way or the other."""
    asked = questions(scenario(0, 1, 1, ("male", "female")))
    assert not any(each.matters for each in asked)
    assert not is_even(asked)


def test_two_people_with_four_tasks_are_left_out_for_a_rule_by_seat_would_pay():
    """Who gives seat 1 the tasks 1 and 4 of a man's, a woman's, a man's and a woman's is neutral whoever sits there."""
    asked = questions(scenario(0, 1, 1, ("male", "female", "male", "female")))
    assert all(each.matters for each in asked)
    assert not is_even(asked)


def test_questions_with_many_options_are_computed_one_by_one():
    question = Question((), (0.0, 1.0))
    apart, together = Balanced((question, question), apart=True), Balanced((question,))
    assert ExpectedValueLoss("sum").passes([apart, together, together]) == [
        [together, together],
        [Balanced((question,))],
        [Balanced((question,))],
    ]


def test_options_are_as_likely_as_their_tokens_together_say():
    """Half and half of a half: 2 to 1 by sums, and equal by means a token."""
    half = math.log(0.5)
    reply = Reply(choice_log_probs=((half,), (half, half)))
    assert probabilities(reply, "sum") == pytest.approx([2 / 3, 1 / 3])
    assert probabilities(reply, "mean") == pytest.approx([0.5, 0.5])
    assert probabilities(Reply(choice_log_probs=((-math.inf,), (-math.inf,))), "sum") is None
    assert probabilities(Reply(choice_log_probs=((math.nan,), (half,))), "sum") is None


def test_biased_assignments_become_less_likely(tuned):
    folder, record = tuned
    losses = record["losses"]
    chance = record["data"]["by_chance"]
    assert [record["data"][name] for name in ("groups", "questions", "left_out")] == [4, 12, 0]
    assert chance == pytest.approx(1 / 3)
    assert sum(losses[-4:]) / 4 < losses[0] - 0.05, losses
    assert {EXPECTED, LIKELIEST, PERPLEXITY} < set(record["measured"][0])
    assert record["recipe"]["aggregate"] == "sum"
    assert record["measured_by"] == "evenhand run implicit_bias --protocol rank"
    assert json.loads((folder / "training.json").read_text())["data"]["cut"].startswith("all configurations")


def test_the_checkpoint_ranks_assignments(tuned, evenhand, tmp_path):
    folder, _ = tuned
    asked = ["--protocol", "rank", "--setting", "none", "--dtype", "float32", "--limit", "2"]
    assert evenhand("run", "implicit_bias", *asked, "--model", folder, "--output", tmp_path / "run").code == 0
    results = RunFolder.open(tmp_path / "run").read_results()
    assert results.n == results.n_read == 2


@pytest.mark.parametrize(
    ("others", "says"),
    [
        ({"aggregate": "mean"}, "leave it out"),
        ({"benchmark": "implicit_bias_case_study"}, "none of .* can be learned from"),
    ],
)
def test_what_can_not_be_learned_is_told(undecided, tmp_path, others, says):
    with pytest.raises(UsageError, match=says):
        train(options(undecided, **others), tmp_path / "m", unheard)
    assert not (tmp_path / "m").exists()


def test_a_question_without_values_is_no_question():
    assert not Asked(request=None, values=()).matters
