"""A run on a server of chat completions, from the command line to the report."""

import itertools
import json
import math

import pandas as pd
import pytest

from tests.hostile.faulty_server import Sent, first_option, serving

KEY = "sk-secret-0123456789"


@pytest.fixture
def server(monkeypatch):
    """A server of one model that always takes the first option; it is sent a key.

    answers: how many questions before the key is refused; refuses: the place of the one that the filter refuses.
    """
    for name in ("EVENHAND_API_KEYS", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SERVER_KEY", KEY)
    places = itertools.count(1)

    def answer(body):
        place = next(places)
        if place > server.answers:
            return Sent({"error": {"message": f"unknown key {server.headers_of[0]['Authorization']}"}}, 401)
        refusal = Sent({"error": {"message": "not this one", "code": "content_filter"}}, 400)
        return refusal if place == server.refuses else first_option(body)

    with serving() as start:
        server = start(answer, ["first-option"])
        server.answers, server.refuses = math.inf, None
        yield server


@pytest.fixture
def no_report(monkeypatch):
    """It takes longer than all the rest of a short run."""
    monkeypatch.setattr("evenhand.flow.evaluation.write_report", lambda folder, found: None)


def arguments(server, folder):
    key = ("--api-key-env", "SERVER_KEY")
    return ("run", "contact_hypothesis", "--model", server.url, *key, "--limit", 3, "--output", folder)


def everything(folder):
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_a_server_is_measured_like_any_model(evenhand, server, tmp_path):
    """Three rows, three contacts each; a model that takes the first option scores what the stub that does so scores."""
    called = evenhand(*arguments(server, tmp_path / "run"))
    assert called.code == 0, called.err
    assert "protocol generate was used instead of choose, for first-option can't choose" in called.out + called.err
    results = json.loads((tmp_path / "run/results.json").read_text())
    predictions = pd.read_parquet(tmp_path / "run/predictions.parquet")
    assert (results["n"], len(predictions), len(server.asked)) == (9, 9, 9)
    assert results["model_identity"] == f"{server.url}#first-option"
    assert results["n_read"] == results["n"]
    assert set(predictions["text"]) == {" Yes.", " Likely.", " Mostly."}  # as it wrote them
    assert server.url in (tmp_path / "run/report.html").read_text()
    assert all(body["max_tokens"] == 16 and body["temperature"] == 0 for body in server.asked)
    assert KEY.encode() not in everything(tmp_path)

    stub = evenhand(
        "run", "contact_hypothesis", "--model", "stub:first", "--limit", 3, "--output", tmp_path / "stub"
    )  # fmt: skip
    assert stub.code == 0, stub.err
    scored = json.loads((tmp_path / "stub/results.json").read_text())["figures"]
    biased, others = ([each for each in of if each["figure"] == "biased"] for of in (results["figures"], scored))
    assert biased == others


def test_a_finished_run_asks_nothing_again(evenhand, server, no_report, tmp_path):
    assert evenhand(*arguments(server, tmp_path / "run")).code == 0
    before = (tmp_path / "run/results.json").read_text()
    assert evenhand(*arguments(server, tmp_path / "run")).code == 0
    assert len(server.asked) == 9
    assert (tmp_path / "run/results.json").read_text() == before


def test_a_refused_key_is_explained_and_not_shown(evenhand, server, tmp_path):
    server.answers = 0
    called = evenhand(*arguments(server, tmp_path / "run"))
    assert called.code == 1
    assert "answered 401 (Unauthorized): unknown key Bearer [key]; does it accept the key in SERVER_KEY?" in called.err
    assert "Traceback" not in called.err
    assert KEY not in called.err + called.out
    assert KEY.encode() not in everything(tmp_path)


def test_what_was_answered_is_kept(evenhand, server, no_report, tmp_path):
    """Five of nine are answered before the key is refused; the others alone are asked again."""
    server.answers = 5
    assert evenhand(*arguments(server, tmp_path / "run")).code == 1
    server.answers, server.asked = math.inf, []
    called = evenhand(*arguments(server, tmp_path / "run"))
    assert called.code == 0, called.err
    assert len(server.asked) == 4
    whole = evenhand(*arguments(server, tmp_path / "whole"))
    assert whole.code == 0, whole.err
    resumed, whole = (pd.read_parquet(tmp_path / folder / "predictions.parquet") for folder in ("run", "whole"))
    pd.testing.assert_frame_equal(resumed, whole)


def test_a_refused_request_is_unread(evenhand, server, no_report, tmp_path):
    """The third of nine: more than a run bears, unless it is told to."""
    server.refuses = 3
    called = evenhand(*arguments(server, tmp_path / "told"), "--max-failed", 0.2)
    assert called.code == 0, called.err
    assert len(server.asked) == 9
    results = json.loads((tmp_path / "told/results.json").read_text())
    assert results["n_read"] == pytest.approx(8 / 9 * results["n"])
    assert "1 request failed for good (refused: 1): unread" in [each["text"] for each in results["warnings"]]


def test_what_was_refused_is_asked_again_when_the_run_ended_by_it(evenhand, server, no_report, tmp_path):
    server.refuses = 3
    called = evenhand(*arguments(server, tmp_path / "run"))
    assert called.code == 1
    assert "1 request failed for good (refused: 1), more than --max-failed 0.01" in called.err
    called = evenhand(*arguments(server, tmp_path / "run"))  # the filter has nothing against a tenth request
    assert called.code == 0, called.err
    assert len(server.asked) == 10
    results = json.loads((tmp_path / "run/results.json").read_text())
    assert results["n_read"] == results["n"]


def test_scoring_options_needs_another_model(evenhand, server, tmp_path):
    called = evenhand(*arguments(server, tmp_path / "run"), "--protocol", "choose")
    assert called.code == 2
    assert "--protocol choose scores options, and it has no /tokenize" in called.err
    assert "generate" in called.err
    assert [body["max_tokens"] for body in server.asked] == [1]  # the trial alone


def test_options_of_servers(evenhand, server, no_report, tmp_path):
    options = ("--timeout", 30, "--attempts", 2, "--model-option", "backoff=0")
    called = evenhand(*arguments(server, tmp_path / "run"), *options)
    assert called.code == 0, called.err
    stored = json.loads((tmp_path / "run/config.json").read_text())["model_options"]
    assert dict(stored) == {"timeout": "30.0", "attempts": "2", "backoff": "0", "api_key_env": "SERVER_KEY"}


def test_fields_that_are_sent_are_part_of_the_run(evenhand, server, no_report, tmp_path):
    """They stand in its configuration and in the model's identity; it does not go on with others."""
    given = ("--chat-template-kwargs", '{"b": 1, "a": false}', "--reasoning-effort", "low")
    called = evenhand(*arguments(server, tmp_path / "run"), *given)
    assert called.code == 0, called.err
    stored = json.loads((tmp_path / "run/config.json").read_text())["model_options"]
    assert dict(stored) | {"api_key_env": ""} == {
        "chat_template_kwargs": '{"a": false, "b": 1}', "reasoning_effort": "low", "api_key_env": "",
    }  # fmt: skip
    identity = json.loads((tmp_path / "run/results.json").read_text())["model_identity"]
    assert '"reasoning_effort": "low"' in identity
    other = evenhand(*arguments(server, tmp_path / "run"), *given[:2], "--reasoning-effort", "high")
    assert other.code == 2
    assert "other settings" in other.err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--attempts", 0), "argument --attempts: must be a whole number of 1 or more, got 0"),
        (("--timeout", "inf"), "argument --timeout: must be a number above 0, 86400 at most, got inf"),
        (("--model-option", "attempts=0"), "http: attempts must be a whole number of 1 or more, got 0"),
        (("--api-key-env", "sk-0123"), "the key itself is the value of that variable"),
        (("--chat-template-kwargs", "[1]"), "expected a JSON object"),
        (("--chat-template-kwargs", "enable_thinking=false"), "expected a JSON object"),
        (("--model-option", "api-key-env=sk-0123"), "the key itself is the value of that variable"),
        (("--model", "stub:first", "--timeout", 5), "unknown option of stub 'timeout'"),
    ],
)
def test_options_of_servers_that_are_refused(evenhand, server, tmp_path, options, says):
    key = () if "stub:first" in options else arguments(server, "")[4:6]
    called = evenhand("run", "contact_hypothesis", "--model", server.url, *key, "--output", tmp_path / "run", *options)
    assert called.code == 2
    assert says in called.err
    assert "sk-0123" not in called.err
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_is_not_there_leaves_nothing_behind(evenhand, server, tmp_path):
    server.server_close()
    called = evenhand(*arguments(server, tmp_path / "run"))
    assert called.code == 1
    assert f"can't reach {server.url}" in called.err
    assert list(tmp_path.iterdir()) == []
