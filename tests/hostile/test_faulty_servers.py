"""Runs on servers that fail, echo the key, or are interrupted: nothing that was answered is lost or asked again."""

import itertools
import json
import os
import signal
import sqlite3
from contextlib import closing

import pandas as pd
import pytest

from evenhand.flow.configuration import run_config
from evenhand.flow.evaluation import evaluate
from tests.hostile.faulty_server import PASSING, Faults, Sent, completion, first_option, serving
from tests.models.scoring_server import Scoring

KEY = "sk-secret-0123456789"
ROWS = 30  # of contact_hypothesis: three requests each


@pytest.fixture
def serve(monkeypatch):
    """serve(answer) → a running server; the key of servers is in SERVER_KEY."""
    monkeypatch.setenv("SERVER_KEY", KEY)
    monkeypatch.delenv("EVENHAND_API_KEYS", raising=False)
    with serving() as start:
        yield start


@pytest.fixture
def no_report(monkeypatch):
    """It takes longer than all the rest, and is another test's affair."""
    monkeypatch.setattr("evenhand.flow.evaluation.write_report", lambda folder, found: None)


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """Predictions of a run on a server that never fails."""
    with serving() as start, pytest.MonkeyPatch.context() as patch:
        patch.setattr("evenhand.flow.evaluation.write_report", lambda folder, found: None)
        config = run_config("contact_hypothesis", start(first_option).url, limit=ROWS)
        return predictions(evaluate(config, tmp_path_factory.mktemp("sound") / "run").path)


def command(server, folder, *more, key=("--api-key-env", "SERVER_KEY")):
    options = ("--model", server.url, *key, "--backoff", 0, "--limit", ROWS, *more)
    return ("run", "contact_hypothesis", *options, "--output", folder)


def predictions(folder):
    return pd.read_parquet(folder / "predictions.parquet")


def stored(folder):
    with closing(sqlite3.connect(folder / "store.sqlite")) as store:
        return store.execute("SELECT count(*) FROM replies").fetchone()[0]


def warnings(folder):
    return [each["text"] for each in json.loads((folder / "results.json").read_text())["warnings"]]


def holds_key(folder):
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    return [path for path in files if KEY.encode() in path.read_bytes()]


def test_a_fifth_of_all_answers_is_a_fault(evenhand, serve, sound, no_report, tmp_path):
    """Each kind of fault in turn, one of which echoes the key: the same predictions as without any."""
    echo = Sent({"error": {"message": f"Bearer {KEY} is overloaded"}}, 529)
    faults = Faults(first_option, kinds={"an error with the key": echo, **PASSING})
    called = evenhand(*command(serve(faults), tmp_path / "faulty", "--attempts", 10))
    assert called.code == 0, called.err
    assert "an error with the key" in faults.met
    assert faults.met.total() >= 10
    assert set(faults.answered.values()) == {1}  # nothing that was answered is asked again
    pd.testing.assert_frame_equal(predictions(tmp_path / "faulty"), sound)
    assert KEY not in called.out + called.err
    assert holds_key(tmp_path) == []


def test_ctrl_c_loses_nothing_that_was_answered(evenhand, serve, sound, no_report, tmp_path):
    """It comes with the 65th question: 64 replies are stored, and the other 26 alone are asked when the run goes on."""
    places = itertools.count(1)

    def answer(body):
        if next(places) == 65:
            os.kill(os.getpid(), signal.SIGINT)
            return interrupted
        return first_option(body)

    interrupted = Sent({}, 503, {"Retry-After": "60"})
    server = serve(answer)
    asked = command(server, tmp_path / "run", "--batch-size", 1)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a background process ignores it
    try:
        called = evenhand(*asked)
    finally:
        signal.signal(signal.SIGINT, before)
    assert called.code != 0
    assert "stopped" in called.err
    assert stored(tmp_path / "run") == 64
    assert evenhand(*asked).code == 0
    assert len(server.asked) == 65 + 3 * ROWS - 64
    pd.testing.assert_frame_equal(predictions(tmp_path / "run"), sound)


def test_an_echoed_key_is_stored_nowhere(evenhand, serve, tmp_path, monkeypatch):
    """From a file of keys; in every reply, and in the error of one that the filter refuses."""
    places = itertools.count(1)

    def answer(body):
        error = {"message": f"Bearer {KEY}", "code": "content_filter"}
        answer = {"model": KEY, **completion(f"{first_option(body)} Bearer {KEY}")}
        return Sent({"error": error}, 400) if next(places) == 5 else Sent(answer)

    server = serve(answer)
    keys = tmp_path / "keys"
    keys.write_text(f"127.0.0.1:{server.server_port} {KEY}\n")
    keys.chmod(0o600)
    monkeypatch.setenv("EVENHAND_API_KEYS", str(keys))
    called = evenhand(*command(server, tmp_path / "run", "--max-failed", 0.1, key=()))
    assert called.code == 0, called.err
    assert {each["Authorization"] for each in server.headers_of} == {f"Bearer {KEY}"}
    assert KEY not in called.out + called.err
    assert holds_key(tmp_path / "run") == []
    texts = predictions(tmp_path / "run")["text"]
    assert texts.str.endswith("Bearer [key]").sum() == 3 * ROWS - 1


# Options scored by a server


@pytest.fixture
def scoring(tiny_llama, tokenizer):
    return Scoring(tiny_llama, tokenizer, ("token ids",))


def choosing(url, folder, *more):
    return ("run", "contact_hypothesis", "--model", url, "--limit", 8, "--seed", 1, *more, "--output", folder)


def test_options_are_scored_by_a_faulty_server_as_by_the_checkpoint(
    evenhand, serve, scoring, tiny_checkpoint, no_report, tmp_path
):
    """A fifth of all answers is a fault, of every route: the checkpoint's own choices, its probabilities to 1e-4, and
    nothing that was answered is asked again. The report says how options were scored."""
    echo = Sent({"error": {"message": f"Bearer {KEY} is overloaded"}}, 529)
    kinds = {"an error with the key": echo, **{name: fault for name, fault in PASSING.items() if "10 MB" not in name}}
    faults = {path: Faults(route, kinds=kinds, of=str) for path, route in scoring.routes.items()}
    server = serve(routes=faults)
    patient = ("--api-key-env", "SERVER_KEY", "--backoff", 0, "--attempts", 12)
    called = evenhand(*choosing(server.url, tmp_path / "served", *patient))
    assert called.code == 0, called.err
    assert sum(each.met.total() for each in faults.values()) >= 20
    tried = {str(prompt) for prompt in scoring.prompts[:3]}
    answered = faults["/v1/completions"].answered
    assert {n for body, n in answered.items() if not any(prompt in body for prompt in tried)} == {1}
    assert KEY not in called.out + called.err
    assert holds_key(tmp_path / "served") == []

    assert evenhand(*choosing(tiny_checkpoint, tmp_path / "here", "--dtype", "float32")).code == 0
    here, there = predictions(tmp_path / "here"), predictions(tmp_path / "served")
    assert list(here["answer"]) == list(there["answer"])
    assert list(there["probability"]) == pytest.approx(list(here["probability"]), abs=1e-4)

    [said] = [each for each in warnings(tmp_path / "served") if "scored" in each]
    assert said == (
        "options were scored by the server's log-probabilities (logprob_token_ids, one request a prefix to "
        "/v1/completions; tokens by the server's /tokenize)"
    )


def test_a_protocol_that_was_taken_in_place_of_the_paper_s_says_why(evenhand, serve, no_report, tmp_path):
    assert evenhand(*command(serve(first_option), tmp_path / "run", key=())).code == 0
    said = warnings(tmp_path / "run")[0]
    assert said.startswith(
        "protocol generate was used instead of choose, for tiny can't choose (tiny: it has no /tokenize"
    )
    called = evenhand(*command(serve(first_option), tmp_path / "other", "--protocol", "choose", key=()))
    assert called.code == 2
    assert "--protocol choose scores options, and it has no /tokenize as vLLM has; --tokenizer NAME" in called.err
    assert not (tmp_path / "other").exists()


def test_a_limit_that_is_too_small_for_anything_does_not_say_that_a_run_goes_on(evenhand, serve, tmp_path):
    called = evenhand(*command(serve(first_option), tmp_path / "run", "--max-total-tokens", 100, key=()))
    assert called.code == 1
    assert "--max-total-tokens 100 would be exceeded: this command took 0 requests" in called.err
    assert "goes on from here" not in called.err


def test_a_run_goes_on_after_its_limit(evenhand, serve, sound, no_report, tmp_path):
    """90 questions of 0.0035 USD each; at 0.1 a command, where each is held at no more than that, 28 are answered by
    each of the first three: 0.098. The last six need one command more."""

    def answer(body):
        return Sent(completion(first_option(body), usage={"prompt_tokens": 1000, "completion_tokens": 100}))

    prices = tmp_path / "prices.csv"
    prices.write_text("model,input,output,currency\ntiny,2.5,10,USD\n")
    server = serve(answer)
    limits = ("--max-cost", 0.1, "--prices", prices)
    asked = command(server, tmp_path / "run", *limits, "--max-new-tokens", 101, "--batch-size", 4)
    for replies in (28, 56, 84):
        called = evenhand(*asked)
        assert called.code == 1
        assert "--max-cost 0.1 would be exceeded: this command took 28 requests, 28,000 tokens" in called.err
        said = f"{replies} replies are stored; the same command goes on from here and asks nothing twice.\n"
        assert called.err.endswith(said)
        assert stored(tmp_path / "run") == len(server.asked) == replies
    called = evenhand(*asked)
    assert called.code == 0, called.err
    assert "Asked by this command, of tiny: 6 requests, 6,000 tokens read, 600 written, 0.021 USD\n" in called.out
    assert len(server.asked) == 3 * ROWS
    pd.testing.assert_frame_equal(predictions(tmp_path / "run"), sound)
