"""`evenhand train expected-score`: options have their values, constant answers gain nothing, the score falls."""

import json
from collections import Counter
from dataclasses import replace

import pytest

from evenhand.benchmarks import get_benchmark
from evenhand.benchmarks.contact_hypothesis import cuts
from evenhand.errors import UsageError
from evenhand.models.registry import Loading
from evenhand.models.text_reader import TextReader
from evenhand.models.transformers_backend import TransformersOptions, checkpoint_of
from evenhand.trainers import benchmark_rows
from evenhand.trainers.expected_score import EarlyStop, ExpectedScoreOptions, ExpectedScoreTrainer
from evenhand.trainers.measures import PERPLEXITY, PROBABILITY, VALUE
from evenhand.trainers.progress import unheard
from evenhand.trainers.questions import balance, value_questions
from evenhand.trainers.run import make_trainer
from tests.trainers.few_rows import take_few

train = ExpectedScoreTrainer().tune
CONTACT = get_benchmark("contact_hypothesis")
HOW = CONTACT.asking(protocol="choose")


@pytest.fixture(scope="module", autouse=True)
def few_rows():
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(benchmark_rows, "contact_rows", take_few(300))
        yield


@pytest.fixture(scope="module")
def rows():
    return cuts.cut("1", benchmark_rows.contact_rows("evenhand"), 0).train[:24]


@pytest.fixture(scope="module")
def reader(tiny_checkpoint):
    found = checkpoint_of(str(tiny_checkpoint), Loading(dtype="float32"), TransformersOptions())
    return TextReader(found.tokenizer, found.context)


def options(model, **others):
    asked = {"model": str(model), "dtype": "float32", "limit": 16, "learning_rate": 0.01, "rank": 8, "epochs": 6}
    asked |= {"targets": "all-linear", "setting": "4", "divergence": 0.01, "measured": 6, "measure_every": 4}
    asked |= {"schedule": "cosine", "warmup": 1}
    return ExpectedScoreOptions(**(asked | others))


@pytest.fixture(scope="module")
def tuned(tiny_checkpoint, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tuned") / "model"
    return folder, train(options(tiny_checkpoint), folder, unheard)


def test_the_biased_option_has_the_value_one(rows):
    """Declining a kind action, affirming an unkind one: whatever the contact (Table 2)."""
    for row in rows:
        values = (0.0, 1.0) if row["action"] == "positive" else (1.0, 0.0)
        assert [each.values for each in value_questions(CONTACT, row, HOW)] == [values] * 3


def test_both_orders_of_the_options_share_a_questions_value(rows):
    """Each of two requests decides half of the answer, and the other, undecided, leaves the rest open."""
    how = CONTACT.asking(protocol="choose", order="balanced")
    found = value_questions(CONTACT, rows[0], how)
    assert len(found) == 6
    assert {tuple(sorted(each.values)) for each in found} == {(0.25, 0.75)}


def test_in_each_group_every_option_is_the_biased_one_equally_often(rows, reader):
    found = balance([value_questions(CONTACT, row, HOW) for row in rows], reader, "m", 0)
    assert found.groups
    for group in found.groups:
        worst = Counter(each.values.index(1.0) for each in group.questions)
        assert worst == {0: 3, 1: 3}
        assert len({tuple(one.answer for one in each.continuations) for each in group.questions}) == 1
    actions = Counter((row["scale"], row["action"]) for row in rows)
    pairs = sum(min(actions[scale, "positive"], actions[scale, "negative"]) for scale in {row["scale"] for row in rows})
    assert len(found.groups) == pairs
    assert found.left_out == 3 * (len(rows) - 2 * pairs)


def test_the_expected_score_falls_and_the_record_says_what_was_done(tuned):
    folder, record = tuned
    first, last = record["losses"][0], sum(record["losses"][-4:]) / 4
    assert first == pytest.approx(0.5, abs=0.1)  # a random model
    assert last < first - 0.05, record["losses"]
    assert json.loads((folder / "training.json").read_text())["recipe"]["divergence"] == 0.01
    assert record["measured_by"] == "evenhand run contact_hypothesis --held-out 4 --layout chat"
    assert {PROBABILITY, PERPLEXITY} < set(record["measured"][0])
    assert record["data"]["questions"] == 6 * record["data"]["groups"]


@pytest.mark.parametrize(
    ("schedule", "rates"),
    [("constant", [0, 5, 10, 10, 10, 10]), ("linear", [0, 5, 10, 7.5, 5, 2.5]), ("cosine", [0, 5, 10, 8.54, 5, 1.46])],
)
def test_the_learning_rate_follows_its_schedule(schedule, rates, tiny_checkpoint, tmp_path):
    """Two steps up, and four down to 0 or none."""
    asked = options(tiny_checkpoint, schedule=schedule, warmup=2, learning_rate=10.0)
    trainer = make_trainer(ExpectedScoreTrainer().prepare(asked, unheard), tmp_path)
    trainer.create_optimizer_and_scheduler(6)
    for rate in rates:
        assert trainer.lr_scheduler.get_last_lr() == pytest.approx(
            [rate] * len(trainer.optimizer.param_groups), abs=0.01
        )
        trainer.optimizer.step()
        trainer.lr_scheduler.step()


@pytest.mark.parametrize(
    ("others", "says"),
    [
        ({"benchmark": "labe"}, "offers no options"),
        ({"benchmark": "contact"}, "did you mean"),
        ({"config": ("certainty",)}, "--setting says which rows"),
        ({"benchmark": "mllm_stereotypes"}, "mllm_stereotypes"),
        ({"benchmark": "implicit_bias_understanding", "setting": "1"}, "--setting is for contact_hypothesis"),
        (
            {"benchmark": "implicit_bias_understanding", "setting": "disjoint", "all_rows": True},
            "--all-rows is for contact_hypothesis",
        ),
    ],
)
def test_what_has_no_expected_value_is_told(tiny_checkpoint, tmp_path, others, says):
    with pytest.raises(UsageError, match=says):
        train(replace(options(tiny_checkpoint), **others), tmp_path / "m", unheard)
    assert not (tmp_path / "m").exists()


def test_other_benchmarks_hold_out_a_tenth(tiny_checkpoint, tmp_path):
    asked = options(
        tiny_checkpoint, benchmark="implicit_bias_understanding", setting="disjoint", max_steps=1, measure_every=0
    )
    record = train(asked, tmp_path / "m", unheard)
    assert "others held out" in record["data"]["cut"]
    assert record["data"]["groups"] > 0
    assert record["measured_by"] == "evenhand run implicit_bias_understanding"


def at_steps(*figures):
    return [{"step": place, VALUE: value, PERPLEXITY: perplexity} for place, (value, perplexity) in enumerate(figures)]


@pytest.mark.parametrize(
    ("patience", "margin", "figures", "stops"),
    [
        (2, None, [(50, 10), (40, 10), (41, 10)], False),
        (2, None, [(50, 10), (40, 10), (41, 10), (40, 10)], True),
        (2, None, [(50, 10), (40, 10), (41, 10), (39, 10)], False),
        (0, None, [(50, 10), (50, 10), (50, 10), (50, 10)], False),
        (0, 5.0, [(50, 10), (40, 10.4)], False),
        (0, 5.0, [(50, 10), (40, 10.6)], True),
    ],
)
def test_it_stops_where_nothing_more_is_learned_or_too_much_is_lost(patience, margin, figures, stops):
    assert EarlyStop(patience, margin)(at_steps(*figures)) == stops


def test_a_training_ends_where_it_is_told_to(tiny_checkpoint, tmp_path):
    record = train(options(tiny_checkpoint, patience=1, learning_rate=1e-9, measure_every=2), tmp_path / "m", unheard)
    assert record["steps"] == record["measured"][-1]["step"] == 2
