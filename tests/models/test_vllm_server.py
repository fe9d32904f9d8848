"""A real vLLM server with the embedded model, on this machine alone, through a proxy that fails: `make test-vllm`.

EVENHAND_VLLM_PYTHON is the interpreter of an environment that has vLLM. A server that runs already is taken in place of
a new one where EVENHAND_VLLM_URL names it (up to /v1).
"""

import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import closing, suppress
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from evenhand.errors import EvenhandError
from evenhand.flow.configuration import run_config
from evenhand.flow.evaluation import evaluate, prepare
from evenhand.models.embedded import embedded_checkpoint
from evenhand.models.openai_server import OpenAIServer
from evenhand.models.protocol import replies
from evenhand.models.registry import load_model
from evenhand.models.request import Message, Request, Sampling
from evenhand.models.server_options import ServerOptions
from tests.hostile.faulty_server import PASSING, Faults, Sent, serving

PYTHON, RUNNING = (os.environ.get(f"EVENHAND_VLLM_{name}") for name in ("PYTHON", "URL"))
pytestmark = [
    pytest.mark.skipif(not (PYTHON or RUNNING), reason="EVENHAND_VLLM_PYTHON names no environment (make test-vllm)"),
    pytest.mark.timeout(900),
]
ROWS = 6  # of contact_hypothesis: three requests each
PATIENT = ServerOptions(backoff=0.0, attempts=12)


@pytest.fixture(scope="module")
def vllm(tmp_path_factory):
    """The URL of a server in 32 bits; one process, one core where there is but one."""
    if RUNNING:
        yield RUNNING
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    arguments = {
        "model": embedded_checkpoint(),
        "served-model-name": "smollm2",
        "host": "127.0.0.1",
        "port": port,
        "dtype": "float32",
        "max-model-len": 2048,
        "max-num-seqs": 16,
    }
    quiet = {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1", "VLLM_CPU_KVCACHE_SPACE": "1"}
    log = tmp_path_factory.mktemp("vllm") / "log"
    with log.open("w") as said:
        server = subprocess.Popen(
            [
                *(PYTHON, "-m", "vllm.entrypoints.openai.api_server", "--enforce-eager"),
                *(text for name, value in arguments.items() for text in (f"--{name}", str(value))),
            ],
            env={**os.environ, **quiet},
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        url = f"http://127.0.0.1:{port}/v1"
        for _ in range(600):
            with suppress(OSError), urllib.request.urlopen(f"{url}/models", timeout=5):
                break
            assert server.poll() is None, log.read_text()[-3000:]
            time.sleep(1)
        yield url
    finally:
        with suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGTERM)
        server.wait(60)


@pytest.fixture(scope="module")
def here():
    with closing(load_model("embedded", dtype="float32")) as model:
        yield model


@pytest.fixture(scope="module")
def questions(here):
    """contact_hypothesis' own, and options that begin alike or end in one another."""
    run = prepare(run_config("contact_hypothesis", "embedded", limit=ROWS, dtype="float32"), here)
    asked = [request for row in run.rows.rows for request in run.benchmark.ask(row, run.config.asking())]
    odd = ("Yes", "Yes, always", "I don't know.", "ümläut 你好", "No")
    return [*asked, Request((Message("system", "Be brief."), Message("user", "Is it?")), odd, name="odd")]


@pytest.fixture
def proxy(vllm):
    """A server that hands everything on to vLLM, but for a fifth of all requests, which fail in every way."""
    root = vllm.removesuffix("/v1")

    def handed_on(path):
        def answer(body):
            asked = urllib.request.Request(root + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
            try:
                with urllib.request.urlopen(asked) as answered:
                    return Sent(answered.read())
            except urllib.error.HTTPError as error:
                return Sent(error.read(), error.code)

        kinds = {name: fault for name, fault in PASSING.items() if "10 MB" not in name}
        return Faults(answer, kinds=kinds, of=str)

    with serving() as start:
        routes = {path: handed_on(path) for path in ("/tokenize", "/detokenize", "/v1/completions")}
        yield start(handed_on("/v1/chat/completions"), models=("smollm2",), routes=routes)


@pytest.mark.parametrize("way", ["token ids", "echo"])
def test_log_probabilities_are_transformers_own(vllm, here, questions, way):
    """To 1e-3 nats a token, and the same choice of each."""
    with closing(OpenAIServer(vllm)) as served:
        assert served._choices.way == "token ids"
        served.__dict__["_choices"] = replace(served._choices, way=way)
        found = replies(served, questions)
    for one, other in zip(replies(here, questions), found):
        assert [*map(len, one.choice_log_probs)] == [*map(len, other.choice_log_probs)]
        for mine, theirs in zip(one.choice_log_probs, other.choice_log_probs):
            np.testing.assert_allclose(theirs, mine, rtol=0, atol=1e-3)
        means = [[np.mean(each) for each in reply.choice_log_probs] for reply in (one, other)]
        assert np.argmax(means[0]) == np.argmax(means[1])


def test_faults_lose_nothing_and_ask_nothing_twice(vllm, proxy, questions):
    with closing(OpenAIServer(vllm)) as direct, closing(OpenAIServer(proxy.url, options=PATIENT)) as served:
        assert "choose" in served.can
        completions = proxy.routes["/v1/completions"]
        tried = completions.answered.copy()
        for one, other in zip(replies(direct, questions), replies(served, questions)):
            for mine, theirs in zip(one.choice_log_probs, other.choice_log_probs):
                np.testing.assert_allclose(theirs, mine, rtol=0, atol=1e-3)
    assert set((completions.answered - tried).values()) == {1}
    assert completions.met.total() >= 5


def test_a_run_that_is_cut_off_twice_ends_as_one_that_is_not(proxy, vllm, tmp_path, monkeypatch):
    monkeypatch.setattr("evenhand.flow.evaluation.write_report", lambda folder, found: None)
    options = (("attempts", "12"), ("backoff", "0"))
    cut = run_config("contact_hypothesis", proxy.url, limit=ROWS, model_options=(*options, ("max_requests", "30")))
    folder, cuts = None, []
    while folder is None and len(cuts) < 30:
        try:
            folder = evaluate(cut, tmp_path / "cut")
        except EvenhandError as error:
            cuts.append(str(error))
    assert folder is not None, cuts
    assert len(cuts) >= 2
    assert all("--max-requests 30" in each for each in cuts)
    whole = evaluate(run_config("contact_hypothesis", vllm, limit=ROWS), tmp_path / "whole")
    one, other = (pd.read_parquet(each.path / "predictions.parquet") for each in (folder, whole))
    assert list(one["answer"]) == list(other["answer"])
    assert list(one["probability"]) == pytest.approx(list(other["probability"]), abs=1e-3)


def test_texts_schemas_and_contexts(proxy, here):
    """Greedy texts are the checkpoint's own; a schema is kept to; what is too long is said to be."""
    ask = (Message("user", "Name three colours."),)
    schema = json.dumps({"type": "object", "properties": {"is": {"enum": ["so", "not so"]}}, "required": ["is"]})
    plain = Request(ask, sampling=Sampling(temperature=0.0, max_new_tokens=12), name="plain")
    with closing(OpenAIServer(proxy.url, options=PATIENT)) as served:
        text, kept, long = replies(
            served,
            [
                plain,
                Request(ask, sampling=Sampling(temperature=0.0, max_new_tokens=40), schema=schema, name="schema"),
                Request((Message("user", "Why? " * 3000),), name="long"),
            ],
        )
    assert text == replies(here, [plain])[0]
    assert json.loads(kept.text)["is"] in ("so", "not so")
    assert long.finish_reason == "context_exceeded"
