"""A server of chat completions: what it is sent, what is made of its answers, and who sees the key."""

import base64
import json
import logging
import os
import random
import signal
import socket
import sys
import threading
import time
import traceback
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.models.errors import ModelError, PromptTooLong
from evenhand.models.openai_http import Answer, JsonServer
from evenhand.models.openai_messages import chat_messages
from evenhand.models.openai_replies import is_too_long, tokens_and_context
from evenhand.models.openai_server import OpenAIServer
from evenhand.models.request import Image, Message, Request, Sampling

KEY = "sk-secret/0123456789"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
PICTURES = {
    "image/png": PNG,
    "image/jpeg": b"\xff\xd8\xff\xe0 and so on",
    "image/gif": b"GIF89a and so on",
    "image/webp": b"RIFF\x10\x00\x00\x00WEBPVP8 and so on",
}


@dataclass
class Sent:
    """What a server answers: a chat completion's text, or any status, body and headers."""

    body: object = b""
    status: int = 200
    headers: dict = field(default_factory=dict)
    announced: int = 0  # bytes that are announced and never come


def completion(content="", finish="stop", **message):
    return {"choices": [{"message": {"role": "assistant", "content": content, **message}, "finish_reason": finish}]}


class Server(ThreadingHTTPServer):
    """Plays a server: answer(body) → text, or Sent; `models` is what it lists."""

    request_queue_size = 64

    def __init__(self, answer, models):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer, self.models = answer, models
        self.asked, self.headers_of, self.paths = [], [], []

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):  # a client may hang up
            super().handle_error(request, client_address)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.note()
        models = self.server.models
        if not isinstance(models, Sent):
            models = Sent({"object": "list", "data": [{"id": name} for name in models]})
        self.send(models)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.note()
        self.server.asked.append(body)
        answer = self.server.answer(body)
        self.send(answer if isinstance(answer, Sent) else Sent(completion(answer)))

    def note(self):
        self.server.paths.append(self.path)
        self.server.headers_of.append(self.headers)

    def send(self, sent):
        body = sent.body if isinstance(sent.body, bytes) else json.dumps(sent.body).encode()
        self.send_response(sent.status)
        self.send_header("Content-Length", len(body) + sent.announced)
        for name, value in sent.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = self.close_connection or bool(sent.announced)

    def log_message(self, *_):
        pass


@pytest.fixture(autouse=True)
def no_key(monkeypatch):
    for name in ("EVENHAND_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def serve():
    """serve(answer, models) → a running server; it is stopped at the end."""
    running = []

    def start(answer=lambda body: "yes", models=("tiny",)):
        server = Server(answer, models)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        running.append((server, thread))
        return server

    yield start
    for server, thread in running:
        server.shutdown()
        thread.join()
        server.server_close()


def in_turn(*answers):
    """Each answer once, in the order of the questions; the last for ever."""
    left = list(answers)
    return lambda body: left.pop(0) if len(left) > 1 else left[0]


def client(server, model="tiny", **options):
    return OpenAIServer(server.url, model, **{"backoff": 0.0, "attempts": 3} | options)


def question(text="Is it so?", name="row 7", **options):
    return Request((Message("user", text),), name=name, **options)


def last_text(body):
    return body["messages"][-1]["content"]


# What is sent


def test_text_is_sent_as_a_string_and_pictures_in_their_place():
    assert chat_messages((Message("system", "Be short."), Message("user", ("Is ", "it?")))) == [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "Is it?"},
    ]
    [message] = chat_messages((Message("user", ("Left: ", Image(PNG), "", " or right?")),))
    assert message["content"] == [
        {"type": "text", "text": "Left: "},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64," + base64.b64encode(PNG).decode()}},
        {"type": "text", "text": " or right?"},
    ]


@pytest.mark.parametrize("media_type", PICTURES)
def test_the_bytes_say_what_a_picture_is(serve, media_type):
    """And they arrive as they were."""
    server = serve()
    message = Message("user", (Image(PICTURES[media_type]), "Who is it?"))
    client(server).generate([Request((message,))])
    kind, _, data = server.asked[0]["messages"][0]["content"][0]["image_url"]["url"].partition(";base64,")
    assert kind == f"data:{media_type}"
    assert base64.b64decode(data) == PICTURES[media_type]


@pytest.mark.parametrize(("data", "came"), [(b"BM6\x00", "4 bytes that begins b'BM6"), (b"", "an empty one came")])
def test_other_pictures_are_refused_before_anything_is_sent(serve, data, came):
    server = serve()
    with pytest.raises(ModelError, match=came) as error:
        client(server).generate([Request((Message("user", ("Who?", Image(data))),), name="row 7")])
    assert "'row 7'" in str(error.value)
    assert "PNG, JPEG, GIF or WebP" in str(error.value)
    assert server.asked == []


@pytest.mark.parametrize(
    ("sampling", "sent"),
    [
        (Sampling(max_new_tokens=16), {"max_tokens": 16, "temperature": 0.0}),
        (
            Sampling(0.7, 0.9, 40, 16, ("\n", "END")),
            {"max_tokens": 16, "temperature": 0.7, "top_p": 0.9, "top_k": 40, "stop": ["\n", "END"], "seed": 5},
        ),
        (Sampling(1.0, max_new_tokens=16), {"max_tokens": 16, "temperature": 1.0, "top_p": 1.0, "seed": 5}),
        (Sampling(None, 0.9, 40, 16), {"max_tokens": 16, "seed": 5}),  # the server's own sampling
    ],
)
def test_the_sampling_that_is_sent(serve, sampling, sent):
    server = serve()
    client(server).generate([question(sampling=sampling, seed=5)])
    assert server.asked == [{"model": "tiny", "messages": [{"role": "user", "content": "Is it so?"}], **sent}]


@pytest.mark.parametrize(("seed", "sent"), [(7, 7), (2**31 - 2, 2**31 - 2), (2**31 - 1, 0), (2**63 - 1, 1)])
def test_seeds_fit_in_32_bits(serve, seed, sent):
    """The remainder of 2**31 - 1: as 2**31 leaves 1, 2**63 = 2 * 2**31 * 2**31 leaves 2."""
    server = serve()
    client(server).generate([question(sampling=Sampling(1.0), seed=seed)])
    assert server.asked[0]["seed"] == sent


def test_a_model_with_another_name_for_the_limit_is_asked_once_more(serve):
    unsupported = {"message": "Use 'max_completion_tokens' instead.", "param": "max_tokens"}
    refusal = Sent({"error": unsupported | {"code": "unsupported_parameter"}}, 400)
    server = serve(lambda body: refusal if "max_tokens" in body else "yes")
    model = client(server, batch_size=1)
    assert [reply.text for reply in model.generate([question(), question()])] == ["yes", "yes"]
    assert ["max_tokens" in body for body in server.asked] == [True, False, False]
    assert server.asked[-1]["max_completion_tokens"] == 512


# Many at once


def test_replies_keep_the_order_of_requests(serve):
    delays = random.Random(0)

    def slowly(body):
        time.sleep(delays.random() / 100)
        return last_text(body).upper()

    model = client(serve(slowly), batch_size=8)
    texts = [f"question {i}" for i in range(40)]
    assert [reply.text for reply in model.generate([question(text) for text in texts])] == [t.upper() for t in texts]
    assert model.generate([]) == []


def test_a_batch_is_asked_at_once_and_no_more(serve):
    """Four of twelve must be there before any is answered; a fifth never is."""
    together = threading.Barrier(4, timeout=20)
    lock, now, most = threading.Lock(), [0], [0]

    def answer(body):
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        together.wait()
        with lock:
            now[0] -= 1
        together.wait()
        return "yes"

    model = client(serve(answer), batch_size=4)
    assert len(model.generate([question()] * 12)) == 12
    assert most == [4]
    assert model.requests_at_once == model.texts_at_once == 16


def test_one_that_fails_for_good_ends_the_call(serve):
    """The third of five: it is named, the two after it are never asked, and the next call works."""
    server = serve(lambda body: Sent({"detail": "no idea"}, 400) if "2" in last_text(body) else "yes")
    model = client(server, batch_size=1)
    requests = [question(f"question {i}", name=f"row {i}") for i in range(5)]
    with pytest.raises(ModelError, match=r"request 'row 2': .* answered 400 \(Bad Request\): no idea"):
        model.generate(requests)
    assert len(server.asked) == 3
    assert [reply.text for reply in model.generate(requests[:2])] == ["yes", "yes"]


def test_those_under_way_are_waited_for_and_begin_no_further_attempt(serve):
    """One fails for good while another is told to come back in a minute."""
    both = threading.Barrier(2, timeout=20)

    def answer(body):
        both.wait()
        patient = Sent({}, 503, {"Retry-After": "60"})
        return patient if last_text(body) == "later" else Sent({"error": "never"}, 400)

    server = serve(answer)
    with pytest.raises(ModelError, match=r"'first': .* never"):
        client(server, batch_size=2).generate([question("now", name="first"), question("later", name="second")])
    assert len(server.asked) == 2


def test_ctrl_c_does_not_wait_for_answers(serve):
    """Both requests are there and the server never answers: the call ends all the same."""
    released = threading.Event()
    both = threading.Barrier(2, action=lambda: os.kill(os.getpid(), signal.SIGINT), timeout=20)

    def answer(body):
        both.wait()
        released.wait(60)
        return "late"

    server = serve(answer)
    with pytest.raises(KeyboardInterrupt):
        client(server, batch_size=2).generate([question()] * 6)
    assert not released.is_set()
    released.set()
    assert len(server.asked) == 2


# What passes, and what does not


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504])
def test_what_passes_is_waited_out(serve, status):
    server = serve(in_turn(Sent({"error": "busy"}, status), Sent({"error": "busy"}, status), "at last"))
    assert client(server).generate([question()])[0].text == "at last"
    assert len(server.asked) == 3


def test_patience_ends(serve):
    server = serve(lambda body: Sent({"error": {"message": "out of order"}}, 500))
    with pytest.raises(ModelError, match=r"request 'row 7': .*/v1 answered 500 \(Internal Server Error\): out of"):
        client(server).generate([question()])
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("headers", "waits"),
    [
        ({}, [1.0, 2.0, 4.0]),  # backoff, twice as long each time
        ({"Retry-After": "5"}, [5.0] * 3),
        ({"Retry-After": "86400"}, [60.0] * 3),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, [0.0] * 3),  # long past
        ({"Retry-After": "Fri, 21 Oct 2999 07:28:00 GMT"}, [60.0] * 3),
        ({"Retry-After": "-3"}, [0.0] * 3),
        ({"Retry-After": "nan"}, [1.0, 2.0, 4.0]),
        ({"Retry-After": "soon"}, [1.0, 2.0, 4.0]),
    ],
)
def test_how_long_it_waits(serve, headers, waits):
    class Clock(threading.Event):
        waited = ()

        def wait(self, timeout=None):
            self.waited += (timeout,)
            return False

    server, clock = serve(lambda body: Sent({}, 429, headers)), Clock()
    with pytest.raises(ModelError, match="429"):
        JsonServer(server.url, attempts=4).ask("/chat/completions", {}, about="this", stop=clock)
    assert list(clock.waited) == waits


def test_an_answer_that_breaks_off_is_asked_again(serve):
    server = serve(in_turn(Sent(b'{"choices": [', announced=100), "whole"))
    assert client(server).generate([question()])[0].text == "whole"


def closed_url():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}/v1"


def test_a_server_that_was_never_there_is_said_at_once():
    with pytest.raises(ModelError, match=r"can't reach http://127\.0\.0\.1:\d+/v1: .*refused; does the server run"):
        OpenAIServer(closed_url())
    with pytest.raises(ModelError, match=r"'row 7': can't reach .*does the server run"):
        OpenAIServer(closed_url(), "tiny").generate([question()])


def test_a_server_of_another_protocol_is_explained(serve):
    with pytest.raises(ModelError, match=r"can't reach https://127.+does the server run"):
        OpenAIServer(serve().url.replace("http:", "https:"), "tiny").generate([question()])


def test_silence_ends(serve):
    released = threading.Event()
    server = serve(lambda body: released.wait(60) and "late")
    model = client(server, None, attempts=2)  # it lists its models, and then says nothing
    model._server._timeout = 0.1
    with pytest.raises(ModelError, match=r"'row 7': .*timed out \(asked 2 times\)"):
        model.generate([question()])
    released.set()


def test_a_server_that_went_away_is_waited_for(serve):
    server = serve()
    model = client(server)
    model.generate([question()])
    server.shutdown()
    server.socket.close()
    with pytest.raises(ModelError, match=r"can't reach .*refused \(asked 3 times\)"):
        model.generate([question()])


@pytest.mark.parametrize(("status", "advice"), [(401, "EVENHAND_API_KEY"), (403, "EVENHAND_API_KEY"), (404, "…/v1")])
def test_what_does_not_pass_is_asked_once(serve, status, advice):
    server = serve(lambda body: Sent(b"<html>\x00\x1b[31mno\n way</html>" + b"!" * 5000, status))
    with pytest.raises(ModelError, match=advice) as error:
        client(server).generate([question()])
    assert len(server.asked) == 1
    message = str(error.value)
    assert f"answered {status}" in message
    assert "[31mno way</html>!!!" in message
    assert message.isprintable()
    assert len(message) < 600


# The key


def test_the_key_is_sent_and_never_shown(serve, monkeypatch, caplog):
    """The server echoes it: as it came, broken by a control character, in capitals, escaped for a URL."""
    monkeypatch.setenv("EVENHAND_API_KEY", KEY)
    echo = f"bad key: Bearer {KEY}; {KEY[:9]}\x00{KEY[9:]}; {KEY.upper()}; {KEY.replace('/', '%2F')}"
    for sent in (Sent({"error": {"message": echo}}, 401), Sent(echo.encode(), 503), Sent({"echo": echo})):
        server = serve(in_turn(sent))
        model = client(server)
        with caplog.at_level(logging.DEBUG), pytest.raises(ModelError) as error:
            model.generate([question()])
        assert server.headers_of[0]["Authorization"] == f"Bearer {KEY}"
        shown = "".join(traceback.format_exception(error.value)) + repr(error.value) + caplog.text
        shown += repr(model) + repr(model._server) + model.identity
        assert "[key]" in shown
        assert KEY[3:].lower() not in shown.lower().replace("%2f", "/")


@pytest.mark.parametrize(
    ("variables", "sent"),
    [
        ({}, None),
        ({"OPENAI_API_KEY": "theirs"}, "Bearer theirs"),
        ({"OPENAI_API_KEY": "theirs", "EVENHAND_API_KEY": " ours\n"}, "Bearer ours"),
        ({"OPENAI_API_KEY": "theirs", "EVENHAND_API_KEY": ""}, None),
    ],
)
def test_whose_key_is_sent(serve, monkeypatch, variables, sent):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    server = serve()
    client(server, None).generate([question()])
    assert [headers["Authorization"] for headers in server.headers_of] == [sent, sent]


def test_a_key_that_no_header_carries_is_refused(monkeypatch):
    monkeypatch.setenv("EVENHAND_API_KEY", "secret\r\nHost: elsewhere")
    with pytest.raises(ModelError, match="EVENHAND_API_KEY") as error:
        OpenAIServer("http://localhost:8000/v1", "tiny")
    assert "secret" not in "".join(traceback.format_exception(error.value))


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_nothing_is_followed_to_another_place(serve, monkeypatch, status):
    monkeypatch.setenv("EVENHAND_API_KEY", KEY)
    elsewhere = serve()
    moved = Sent({}, status, {"Location": f"{elsewhere.url}/chat/completions?key={KEY}"})
    server = serve(lambda body: moved, models=moved)
    for model in (lambda: client(server), lambda: client(server, None)):
        with pytest.raises(ModelError, match=rf"answered {status} .*redirects to {elsewhere.url}") as error:
            model().generate([question()])
        assert KEY not in str(error.value)
    assert elsewhere.paths == []


def test_proxies_are_for_other_hosts_alone(serve, monkeypatch):
    """A local server is reached itself. Azure, through a proxy: api-version stays, and the key has its own header."""
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("REQUEST_METHOD", raising=False)
    monkeypatch.setenv("EVENHAND_API_KEY", KEY)
    proxy, local = serve(lambda body: "proxy"), serve(lambda body: "local")
    monkeypatch.setenv("http_proxy", proxy.url.removesuffix("/v1"))
    assert os.environ["HF_HUB_OFFLINE"] == "1"  # the Hub is, a server is not
    for url in (local.url, local.url.replace("127.0.0.1", "localhost")):
        assert OpenAIServer(url, "tiny").generate([question()])[0].text == "local"
    azure = OpenAIServer("http://mine.openai.azure.com/openai/deployments/x?api-version=2024-10-21", "x")
    assert azure.generate([question()])[0].text == "proxy"
    assert azure.identity == "http://mine.openai.azure.com/openai/deployments/x#x"
    [path], [headers] = proxy.paths, proxy.headers_of
    assert path == "http://mine.openai.azure.com/openai/deployments/x/chat/completions?api-version=2024-10-21"
    assert (headers["api-key"], headers["Authorization"]) == (KEY, None)


# Which model


def test_the_only_model_is_found_and_named(serve):
    server = serve(models=["org/tiny model", "org/tiny model"])
    model = OpenAIServer(server.url + "/")
    assert model.identity == f"{server.url}#org/tiny model"
    model.generate([question()])
    assert server.asked[0]["model"] == "org/tiny model"
    assert server.paths == ["/v1/models", "/v1/chat/completions"]
    assert model.box_scale is None


def test_a_named_model_is_not_looked_up(serve):
    server = serve(models=Sent({}, 404))
    assert client(server, "deployment").generate([question()])[0].text == "yes"
    assert server.paths == ["/v1/chat/completions"]


@pytest.mark.parametrize(
    ("models", "says"),
    [
        (("b", "a"), r"serves 2 models, not one \(a, b\); name one: .*/v1#NAME"),
        ((), r"serves 0 models, not one \(none\)"),
        ([f"m{i:02}" for i in range(30)], r"m19 and 10 more\)"),
        ((None, 3, "", ["x"]), "serves 0 models"),
        (("evil\x1b[2J",), "name can't be kept"),
        ((f"model-{KEY}",), "name can't be kept"),
        (Sent(b"[" * 200_000), "lists no models in OpenAI's form"),
        (Sent({"models": []}), "lists no models in OpenAI's form"),
        (Sent({"error": "none"}, 404), r"the list of models: .* answered 404 \(Not Found\): none"),
    ],
)
def test_a_list_that_does_not_name_one_model(serve, monkeypatch, models, says):
    monkeypatch.setenv("EVENHAND_API_KEY", KEY)
    with pytest.raises(ModelError, match=says) as error:
        client(serve(models=models), None)
    assert KEY not in str(error.value)
    assert str(error.value).isprintable()


@pytest.mark.parametrize(
    "url",
    [
        "http://user:pass-word@localhost/v1",
        "http://pass-word@localhost/v1",
        "http://localhost/v1?key=pass-word",
        "http://localhost:pass-word/v1",
        "http://[localhost/v1",
        "http:///v1",
        "http://localhost /v1",
        "http://localhost/v1#tiny",
        "ftp://localhost/v1",
    ],
)
def test_urls_that_are_refused(url):
    with pytest.raises(ModelError, match="URL") as error:
        OpenAIServer(url, "tiny")
    assert "pass-word" not in "".join(traceback.format_exception(error.value))


def test_servers_score_no_options():
    model = OpenAIServer("http://localhost:8000/v1", "tiny")
    with pytest.raises(ModelError, match=r"servers score no options here.*--protocol generate"):
        model.choose([Request((Message("user", "Is it?"),), ("Yes", "No"))])


# What is made of answers


@pytest.mark.parametrize(
    ("answer", "text", "reason"),
    [
        (completion("Yes."), "Yes.", "stop"),
        (completion("Ye", "length"), "Ye", "length"),
        (completion("Yes.", "eos_token"), "Yes.", "stop"),
        (completion("Yes.", None), "Yes.", "stop"),
        (completion(None, "length", reasoning_content="Let me think"), "", "length"),
        (completion("", reasoning_content="Let me think"), "", "stop"),
        ({"choices": [{"message": {}}]}, "", "stop"),
        (
            completion([{"type": "thinking", "thinking": "Hm"}, {"type": "text", "text": "Y"}, {"type": "text"}, 3]),
            "Y",
            "stop",
        ),
        (completion([{"type": "text", "text": "Y"}, {"type": "text", "text": "es"}]), "Yes", "stop"),
        (completion("Yes END and more", "length"), "Yes ", "stop"),  # a server that knows no stop strings
        (completion("half \ud83d of it"), "half \ufffd of it", "stop"),
        (completion([{"type": "text", "text": "\ud83d"}, {"type": "text", "text": "\ude00"}]), "\U0001f600", "stop"),
        (b'{"choices": [{"message": {"content": "caf\xc3"}}]}', "caf\ufffd", "stop"),
        (b'\xef\xbb\xbf{"choices": [{"message": {"content": "a"}}]}', "a", "stop"),
        (completion("many " * 400_000), "many " * 400_000, "stop"),
        (completion("Yes.", "content_filter"), "", "stop"),
    ],
)
def test_replies(serve, answer, text, reason):
    server = serve(lambda body: Sent(answer))
    [reply] = client(server).generate([question(sampling=Sampling(stop=("END",)))])
    assert (reply.text, reply.finish_reason) == (text, reason)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"", "no choices in it: nothing"),
        (b'{"choices": [', "no choices in it"),
        (b"null", "no choices in it: null"),
        (b"[1]", "no choices in it"),
        (b"[" * 200_000, "no choices in it"),
        ({"choices": []}, "no choices in it"),
        ({"choices": "Yes"}, "no choices in it"),
        ({"error": {"message": "upstream is down", "code": 502}}, "no choices in it: upstream is down"),
        ({"choices": [None]}, "no message in its first choice"),
        ({"choices": [{"text": "Yes"}]}, "no message in its first choice"),
        (completion(5), "content of type int"),
        (completion({"text": "Yes"}), "content of type dict"),
    ],
)
def test_what_is_no_chat_completion(serve, body, says):
    server = serve(lambda _: Sent(body))
    with pytest.raises(ModelError, match=f"request 'row 7': .*{says}"):
        client(server).generate([question()])
    assert len(server.asked) == 1


def test_an_endless_answer_is_not_read_to_its_end(serve):
    server = serve(lambda body: Sent(b" " * (16 * 1024**2 + 1)))
    with pytest.raises(ModelError, match=r"'row 7': .*answered more than 16,777,216 bytes"):
        client(server).generate([question()])
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "refusal",
    [
        Sent(completion(None, "content_filter")),
        Sent({"error": {"message": "filtered", "code": "content_filter", "status": 400}}, 400),
        Sent({"error": {"code": "other", "innererror": {"code": "ResponsibleAIPolicyViolation"}}}, 400),
        Sent({"error": {"code": "content_policy_violation"}}, 400),
    ],
)
def test_what_a_filter_refuses_is_empty(serve, caplog, refusal):
    server = serve(lambda body: refusal if last_text(body) == "rude" else "yes")
    replies = client(server).generate([question("fine"), question("rude"), question("fine")])
    assert [(reply.text, reply.finish_reason) for reply in replies] == [("yes", "stop"), ("", "stop"), ("yes", "stop")]
    assert "the content filter refused 1 of 3 requests" in caplog.text


def test_words_alone_are_no_refusal_by_a_filter(serve):
    server = serve(lambda body: Sent({"error": {"message": "unknown option content_filter", "code": 400}}, 400))
    with pytest.raises(ModelError, match="unknown option content_filter"):
        client(server).generate([question()])


@pytest.mark.parametrize(
    ("error", "tokens"),
    [
        (  # vLLM
            "You passed 4000 input tokens and requested 100 output tokens. However, the model's context length is only "
            "4096 tokens, resulting in a maximum input length of 3996 tokens.",
            4100,
        ),
        (
            "'max_tokens' or 'max_completion_tokens' is too large: 100. This model's maximum context length is 4096 "
            "tokens and your request has 4000 input tokens (100 > 4096 - 4000).",
            4100,
        ),
        (  # OpenAI
            "This model's maximum context length is 4096 tokens. However, you requested 4200 tokens (4100 in the "
            "messages, 100 in the completion).",
            4200,
        ),
        (
            "This model's maximum context length is 4096 tokens. However, your messages resulted in 5000 tokens.",
            5100,
        ),
        (  # llama.cpp
            {
                "message": "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it",
                "type": "exceed_context_size_error",
                "n_prompt_tokens": 5000,
                "n_ctx": 4096,
            },
            5100,
        ),
        (  # TGI
            "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens "
            "and 100 `max_new_tokens`",
            4100,
        ),
    ],
)
def test_prompts_that_exceed_the_context(serve, error, tokens):
    """A context of 4,096 tokens, 100 of them for the answer."""
    server = serve(lambda body: Sent({"error": error}, 400))
    with pytest.raises(PromptTooLong) as too_long:
        client(server).generate([question(sampling=Sampling(max_new_tokens=100))])
    assert (too_long.value.request_name, too_long.value.tokens, too_long.value.context) == ("row 7", tokens, 4096)


def test_a_context_without_numbers_is_an_error_with_the_servers_words(serve):
    said = {"message": "too much", "code": "context_length_exceeded"}
    server = serve(lambda body: Sent({"error": said}, 400))
    with pytest.raises(ModelError, match=r"'row 7' exceeds the model's context window; nothing was cut.*: too much"):
        client(server).generate([question()])


@given(st.recursive(st.none() | st.text() | st.integers(), lambda v: st.dictionaries(st.text(), v) | st.lists(v)))
@settings(max_examples=100, deadline=None)
def test_garbage_names_no_tokens(content):
    for said in (content, {"error": content}, {"error": {"code": content, "message": content, "n_ctx": content}}):
        answer = Answer(400, said, json.dumps(said))
        assert isinstance(is_too_long(answer), bool)
        found = tokens_and_context(answer, 100)
        assert found is None or found[0] > found[1] > 0
