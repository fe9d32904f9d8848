"""A run on a server of chat completions, from the command line to the report."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pandas as pd
import pytest

KEY = "sk-secret-0123456789"


class Handler(BaseHTTPRequestHandler):
    """Plays a server of one model that always takes the first option of the instruction."""

    def do_GET(self):
        self.send(200, {"data": [{"id": "first-option"}]})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.asked.append(body)
            place = len(self.server.asked)
        if place > self.server.answers:
            return self.send(401, {"error": {"message": f"unknown key {self.headers['Authorization']}"}})
        if place == self.server.refuses:
            return self.send(400, {"error": {"message": "not this one", "code": "content_filter"}})
        instruction = body["messages"][-1]["content"].split("Choose between ")[1]
        message = {"role": "assistant", "content": f" {instruction.split()[0]}."}
        self.send(200, {"choices": [{"message": message, "finish_reason": "stop"}]})

    def send(self, status, body):
        encoded = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", len(encoded))
        self.end_headers()
        self.wfile.write(encoded)

    def log_message(self, *_):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("EVENHAND_API_KEY", KEY)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.asked, server.lock = [], threading.Lock()
    server.answers, server.refuses = float("inf"), None  # how many before the key is refused; which the filter refuses
    server.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def arguments(server, folder):
    return ("run", "contact_hypothesis", "--model", server.url, "--limit", 3, "--output", folder)


def everything(folder):
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_a_server_is_measured_like_any_model(evenhand, server, tmp_path):
    """Three rows, three contacts each; a model that takes the first option scores what the stub that does so scores."""
    called = evenhand(*arguments(server, tmp_path / "run"))
    assert called.code == 0, called.err
    assert "protocol generate was taken, for first-option can't choose" in called.out + called.err
    results = json.loads((tmp_path / "run/results.json").read_text())
    predictions = pd.read_parquet(tmp_path / "run/predictions.parquet")
    assert (results["n"], len(predictions), len(server.asked)) == (9, 9, 9)
    assert results["model_identity"] == f"{server.url}#first-option"
    assert results["metrics"]["unread_rate"] == 0
    assert set(predictions["text"]) == {" Yes.", " Likely.", " Mostly."}  # as it wrote them
    assert server.url in (tmp_path / "run/report.html").read_text()
    assert all(body["max_tokens"] == 16 and body["temperature"] == 0 for body in server.asked)
    assert KEY.encode() not in everything(tmp_path)

    stub = evenhand(
        "run", "contact_hypothesis", "--model", "stub:first", "--limit", 3, "--output", tmp_path / "stub"
    )  # fmt: skip
    assert stub.code == 0, stub.err
    scored = json.loads((tmp_path / "stub/results.json").read_text())["metrics"]
    assert results["metrics"]["biased_percentage"] == scored["biased_percentage"]


def test_a_finished_run_asks_nothing_again(evenhand, server, tmp_path):
    assert evenhand(*arguments(server, tmp_path / "run")).code == 0
    before = (tmp_path / "run/results.json").read_text()
    assert evenhand(*arguments(server, tmp_path / "run")).code == 0
    assert len(server.asked) == 9
    assert (tmp_path / "run/results.json").read_text() == before


def test_a_refused_key_is_explained_and_not_shown(evenhand, server, tmp_path):
    server.answers = 0
    called = evenhand(*arguments(server, tmp_path / "run"))
    assert called.code == 1
    assert "answered 401 (Unauthorized): unknown key Bearer [key]; set EVENHAND_API_KEY" in called.err
    assert "Traceback" not in called.err
    assert KEY not in called.err + called.out
    assert KEY.encode() not in everything(tmp_path)


def test_what_was_answered_is_kept(evenhand, server, tmp_path):
    """Five of nine are answered before the key is refused; the others alone are asked again."""
    server.answers = 5
    assert evenhand(*arguments(server, tmp_path / "run")).code == 1
    server.answers, server.asked = float("inf"), []
    called = evenhand(*arguments(server, tmp_path / "run"))
    assert called.code == 0, called.err
    assert len(server.asked) == 4
    whole = evenhand(*arguments(server, tmp_path / "whole"))
    assert whole.code == 0, whole.err
    resumed, whole = (pd.read_parquet(tmp_path / folder / "predictions.parquet") for folder in ("run", "whole"))
    pd.testing.assert_frame_equal(resumed, whole)


def test_a_refused_request_is_unread(evenhand, server, tmp_path):
    """The third of nine: more than a run bears, unless it is told to."""
    server.refuses = 3
    called = evenhand(*arguments(server, tmp_path / "told"), "--max-failed", 0.2)
    assert called.code == 0, called.err
    assert len(server.asked) == 9
    results = json.loads((tmp_path / "told/results.json").read_text())
    assert results["metrics"]["unread_rate"] == pytest.approx(1 / 9)
    assert "1 request failed for good (refused: 1): unread" in results["metrics"]["warnings"]


def test_what_was_refused_is_asked_again_when_the_run_ended_by_it(evenhand, server, tmp_path):
    server.refuses = 3
    called = evenhand(*arguments(server, tmp_path / "run"))
    assert called.code == 1
    assert "1 request failed for good (refused: 1), more than --max-failed 0.01" in called.err
    called = evenhand(*arguments(server, tmp_path / "run"))  # the filter has nothing against a tenth request
    assert called.code == 0, called.err
    assert len(server.asked) == 10
    assert json.loads((tmp_path / "run/results.json").read_text())["metrics"]["unread_rate"] == 0


def test_scoring_options_needs_another_model(evenhand, server, tmp_path):
    called = evenhand(*arguments(server, tmp_path / "run"), "--protocol", "choose")
    assert called.code == 2
    assert "--protocol choose needs a model that can choose, and first-option can't" in called.err
    assert "generate" in called.err
    assert server.asked == []


def test_options_of_servers(evenhand, server, tmp_path):
    options = ("--model-option", "timeout=30", "--model-option", "attempts=2")
    assert evenhand(*arguments(server, tmp_path / "run"), *options).code == 0
    called = evenhand(*arguments(server, tmp_path / "other"), "--model-option", "attempts=0")
    assert called.code == 2
    assert "a whole number of 1 or more" in called.err


def test_a_server_that_is_not_there_leaves_nothing_behind(evenhand, server, tmp_path):
    server.server_close()
    called = evenhand(*arguments(server, tmp_path / "run"))
    assert called.code == 1
    assert f"can't reach {server.url}" in called.err
    assert list(tmp_path.iterdir()) == []
