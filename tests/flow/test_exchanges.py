"""What predictions say of the requests that they answer."""

import math
from dataclasses import replace

import pandas as pd
import pytest

import evenhand
from evenhand.flow.episode import EXCHANGE, add_exchanges
from evenhand.flow.evaluation import mean_mass
from evenhand.flow.run_folder import RunFolder
from evenhand.models.request import Image, Message, Reply, Request
from tests.scripted_models import Scripted

ASKED = Request((Message("system", "Be brief."), Message("user", ("Who?", Image(b"png")))), name="row/a")
OTHER = Request((Message("user", "Why?"),), ("Yes", "No"), name="row/b")
ANSWERED = [(ASKED, Reply("Ann.", thought="Hm.")), (OTHER, Reply(choice_log_probs=((-0.5, -0.25), (-2.0,))))]
FIRST = {
    "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Who?<image>"}],
    "thought": "Hm.",
    "log_probs": None,
}
SECOND = {
    "messages": [{"role": "user", "content": "Why?"}],
    "thought": None,
    "log_probs": [[-0.5, -0.25], [-2.0]],
}
NOTHING = dict.fromkeys(EXCHANGE)


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (["row/b", "row/a"], [SECOND, FIRST]),  # by name
        (["row/a/classifier", "row/b/0/1"], [FIRST, SECOND]),  # of which the request was the beginning
        (["x", "y"], [FIRST, SECOND]),  # by place
        (["x", "y", "z"], [NOTHING] * 3),
    ],
)
def test_a_prediction_has_the_request_that_it_answers(ids, expected):
    found = add_exchanges([{"id": each, "value": 1} for each in ids], ANSWERED)
    assert found == [{"id": name, "value": 1, **each} for name, each in zip(ids, expected)]


def test_all_predictions_have_the_only_request():
    unnamed = [(replace(ASKED, name=""), ANSWERED[0][1])]
    assert add_exchanges([{"id": "x"}, {"id": "y"}], unnamed) == [{"id": "x", **FIRST}, {"id": "y", **FIRST}]


def test_predictions_hold_what_was_sent_mitigation_and_all(tmp_path):
    """Each prompt that a model received is the messages of one prediction, and the other way round."""
    sent = {}

    def answer(request):
        sent[request.name] = [{"role": each.role, "content": each.text} for each in request.messages]
        return "She leads the team."

    config = evenhand.run_config(
        "labe", configs=("professor_review",), limit=6, classifiers=("lexicon",), mitigation="fairness-instruction"
    )
    run = evenhand.evaluate(config, tmp_path / "run", model=Scripted(answer))
    held = {row["row"]: list(row["messages"]) for row in run.predictions.to_dict("records")}
    assert held == sent
    assert "do not display any biases" in str(held) or "no biases" in str(held)
    assert not {*EXCHANGE} & {*RunFolder(run.path).read_predictions()}


def test_prompts_are_beside_their_predictions_however_many(tmp_path, monkeypatch):
    monkeypatch.setattr("evenhand.flow.run_folder._PREDICTIONS_AT_ONCE", 100)
    rows = [
        {"id": str(i), "value": None if i < 150 else i, **FIRST, "thought": str(i)} for i in range(250)
    ]  # of other types in the first parts
    folder = RunFolder(tmp_path)
    folder.write_predictions(dict(row) for row in rows)
    found = folder.read_predictions(exchanges=True)
    assert found["thought"].tolist() == found["id"].tolist() == [str(i) for i in range(250)]
    assert found["value"].iloc[150:].tolist() == list(range(150, 250))
    assert [list(each) for each in found["messages"]] == [FIRST["messages"]] * 250
    pd.testing.assert_frame_equal(folder.read_predictions(), found[["id", "value"]])


def test_the_report_shows_the_first_prompt_whole(tmp_path):
    run = evenhand.evaluate("contact_hypothesis", model="stub:first", limit=1, output=tmp_path / "run")
    first, *_ = run.predictions["messages"]
    page = run.report.read_text(encoding="utf-8")
    assert [each["role"] for each in first] == ["system", "user"]
    assert all(line.replace("'", "&#39;") in page for each in first for line in each["content"].splitlines())


def test_options_have_the_probability_of_all_their_tokens():
    """exp(-1 - 1) + exp(-3) and exp(-0.5) + exp(-1.5), of two requests; one that failed has none."""
    scored = [((-1.0, -1.0), (-3.0,)), ((-0.5,), (-1.5,)), ((math.nan,), (math.nan,))]
    expected = (math.exp(-2) + math.exp(-3) + math.exp(-0.5) + math.exp(-1.5)) / 2
    assert mean_mass(Reply(choice_log_probs=each) for each in scored) == pytest.approx(expected)
    assert math.isnan(mean_mass([Reply("a text")]))


@pytest.mark.parametrize(("least", "said"), [(0.1, False), (1.1, True)])
def test_options_that_are_unlikely_are_said(tmp_path, monkeypatch, least, said):
    """The stub gives its options all of the probability."""
    monkeypatch.setattr("evenhand.flow.evaluation.LEAST_MASS", least)
    run = evenhand.evaluate("contact_hypothesis", model="stub:first", limit=1, output=tmp_path / "run")
    assert ("options_unlikely" in {each.code for each in run.read_results().warnings}) == said
