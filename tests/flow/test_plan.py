"""--plan says what a run would ask, cost and show, and leaves nothing behind."""

from dataclasses import replace

import pytest

from evenhand.flow.configuration import run_config
from evenhand.flow.evaluation import prepare
from evenhand.flow.plan import SmallestDifference, plan
from evenhand.models.prefix_tree import distinct_tokens
from evenhand.models.transformers_model import TransformersModel


def settings(**more):
    return run_config("contact_hypothesis", "tiny", **more)


@pytest.fixture(scope="module")
def model(tiny_llama, tokenizer):
    return TransformersModel(lambda: tiny_llama, tokenizer, "tiny", context=1024, batch_size=2)


@pytest.mark.parametrize(("more", "requests"), [({}, 36), ({"order": "balanced"}, 72), ({"protocol": "generate"}, 36)])
def test_a_small_run_is_counted_whole(model, more, requests):
    planned = plan(settings(limit=12, **more), model)
    assert (planned.rows, planned.requests, planned.sampled, planned.approximate) == (12, requests, requests, False)
    assert planned.seconds > 0
    assert (planned.new_tokens > 0) == ("protocol" in more)


def test_tokens_are_those_of_the_calls(model):
    """Counted by hand: every choice of every request, and each distinct prefix of a call once."""
    small = settings(limit=5)
    run = prepare(small, model)
    requests = [each for episode in run.episodes(run.rows.rows) for each in next(episode)]
    continuations = [each for of_request in model.reader.continuations(requests) for each in of_request]
    planned = plan(small, model)
    assert len(requests) <= model.at_once("choose")
    assert planned.tokens == sum(len(each.prompt) + len(each.answer) - 1 for each in continuations)
    assert planned.distinct_tokens == distinct_tokens(continuations) < planned.tokens / 2


def test_a_large_run_is_scaled_up_from_a_sample(model):
    planned = plan(settings(limit=600), model)
    assert planned.approximate
    assert planned.sampled < planned.requests == 1800
    small = plan(settings(limit=100), model)
    assert planned.tokens == pytest.approx(6 * small.tokens, rel=0.1)


def test_more_rows_show_smaller_differences(model):
    key = "biased answers: certainty"
    few, many = (plan(settings(limit=limit), model).smallest_differences[key] for limit in (30, 600))
    assert many.independent < few.independent
    assert many.clustered < few.clustered  # 600 rows touch more situations
    assert all(each.independent <= each.clustered for each in (few, many))


def test_no_difference_is_named_that_can_not_be(model):
    """Shares differ by 100 points at most, scores by the distance of their ends."""
    planned = plan(settings(limit=2), model)
    assert all(each.clustered > each.largest == 100 for each in planned.smallest_differences.values())
    told = [line for line in planned.lines() if line.startswith("smallest difference")]
    assert told
    assert all("none (too few answers) if each of the clusters answers as one" in line for line in told)
    talks = replace(planned, smallest_differences={"the score": SmallestDifference(1.5, 2.01, 2.0, 2, "score")})
    assert "1.50 if answers are independent, none (too few answers) if each" in " ".join(talks.lines())


def test_the_command_stores_nothing(evenhand, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    called = evenhand("run", "contact_hypothesis", "--model", "stub:first", "--limit", "60", "--plan")
    assert called.code == 0
    for words in ("60 rows, 180 requests", "smallest difference", "clusters. Nothing was stored."):
        assert words in called.out
    assert not list(tmp_path.iterdir())


def test_all_steps_of_an_episode_are_counted():
    """Each of four agents assigns, speaks twice and assigns again: 16 requests a conversation, 8 of them texts."""
    talks = run_config("implicit_bias", "stub:first", limit=6, protocol="rank", max_new_tokens=10)
    shapes = [len(row["characters"]) for row in prepare(talks).rows.rows]
    planned = plan(talks)
    assert (planned.rows, planned.requests) == (6, 4 * sum(shapes))
    assert planned.new_tokens == 2 * 10 * sum(shapes)
    reflecting = plan(replace(talks, mitigation="self-reflection", runs=5))
    assert reflecting.requests == 5 * 6 * sum(shapes)
    assert reflecting.new_tokens == 5 * 3 * 10 * sum(shapes)
