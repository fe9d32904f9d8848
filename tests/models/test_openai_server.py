"""A server of chat completions: what it is sent, what is made of its answers, and who sees the key."""

import base64
import json
import logging
import os
import random
import re
import signal
import socket
import threading
import time
import traceback
from contextlib import closing, suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.models.errors import ModelError, Unanswerable
from evenhand.models.openai_http import Answer, JsonServer
from evenhand.models.openai_messages import chat_messages
from evenhand.models.openai_replies import Malformed, ReplyReader, completion_tokens, failure
from evenhand.models.openai_server import OpenAIServer, ServerBackend
from evenhand.models.protocol import replies
from evenhand.models.registry import Loading
from evenhand.models.request import FAILURES, Image, Message, Reply, Request, Sampling
from evenhand.models.server_oddities import Oddities
from evenhand.models.server_options import ServerOptions
from evenhand.options import from_texts
from tests.hostile.faulty_server import HTML, PASSING, Faults, Sent, completion, last_text, serving

KEY = "sk-secret/0123456789"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
PICTURES = {
    "image/png": PNG,
    "image/jpeg": b"\xff\xd8\xff\xe0 and so on",
    "image/gif": b"GIF89a and so on",
    "image/webp": b"RIFF\x10\x00\x00\x00WEBPVP8 and so on",
}


@pytest.fixture(autouse=True)
def no_key(monkeypatch):
    for name in ("EVENHAND_API_KEYS", "EVENHAND_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def serve():
    """serve(answer, models) → a running server; it is stopped at the end."""
    with serving() as start:
        yield start


def in_turn(*answers):
    """Each answer once, in the order of the questions; the last for ever."""
    left = list(answers)
    return lambda body: left.pop(0) if len(left) > 1 else left[0]


def client(server, model="tiny", batch_size=16, **options):
    return OpenAIServer(
        server.url, model, batch_size=batch_size, options=ServerOptions(**{"backoff": 0.0, "attempts": 3} | options)
    )


def asked(model, *requests):
    """Their replies, in order; the model is let go."""
    with closing(model):
        return replies(model, requests)


def answered(server, *requests):
    return asked(client(server), *requests)


def question(text="Is it so?", name="row 7", **options):
    return Request((Message("user", text),), name=name, **options)


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
    answered(server, Request((message,)))
    kind, _, data = server.asked[0]["messages"][0]["content"][0]["image_url"]["url"].partition(";base64,")
    assert kind == f"data:{media_type}"
    assert base64.b64decode(data) == PICTURES[media_type]


@pytest.mark.parametrize(("data", "came"), [(b"BM6\x00", "4 bytes that begins b'BM6"), (b"", "an empty one")])
def test_other_pictures_are_never_sent(serve, caplog, data, came):
    """Their request fails, and the log says why; the one beside it is asked."""
    server = serve()
    picture = Request((Message("user", ("Who?", Image(data))),), name="row 7")
    assert answered(server, picture, question()) == [Reply(finish_reason="not_understood"), Reply("yes")]
    assert "request 'row 7' is not answered (not_understood): servers take pictures in PNG, JPEG" in caplog.text
    assert came in caplog.text
    assert len(server.asked) == 1


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
    answered(server, question(sampling=sampling, seed=5))
    assert server.asked == [{"model": "tiny", "messages": [{"role": "user", "content": "Is it so?"}], **sent}]


@pytest.mark.parametrize(("seed", "sent"), [(7, 7), (2**31 - 2, 2**31 - 2), (2**31 - 1, 0), (2**63 - 1, 1)])
def test_seeds_fit_in_32_bits(serve, seed, sent):
    """The remainder of 2**31 - 1: as 2**31 leaves 1, 2**63 = 2 * 2**31 * 2**31 leaves 2."""
    server = serve()
    answered(server, question(sampling=Sampling(1.0), seed=seed))
    assert server.asked[0]["seed"] == sent


def test_a_model_with_another_name_for_the_limit_is_asked_once_more(serve):
    unsupported = {"message": "Use 'max_completion_tokens' instead.", "param": "max_tokens"}
    refusal = Sent({"error": unsupported | {"code": "unsupported_parameter"}}, 400)
    server = serve(lambda body: refusal if "max_tokens" in body else "yes")
    assert asked(client(server, batch_size=1), question(), question()) == [Reply("yes"), Reply("yes")]
    assert ["max_tokens" in body for body in server.asked] == [True, False, False]
    assert server.asked[-1]["max_completion_tokens"] == 512


# Many at once


def test_replies_say_whose_they_are(serve):
    delays = random.Random(0)

    def slowly(body):
        time.sleep(delays.random() / 100)
        return last_text(body).upper()

    texts = [f"question {i}" for i in range(40)]
    with closing(client(serve(slowly), batch_size=8)) as model:
        assert [reply.text for reply in replies(model, [question(text) for text in texts])] == [
            t.upper() for t in texts
        ]
        assert replies(model, []) == []


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
    assert len(asked(model, *[question()] * 12)) == 12
    assert most == [4]
    assert model.at_once("generate") >= 4
    assert (model.can, model.whole_calls) == ({"generate", "see", "constrain", "choose_one_token"}, False)


def test_connections_are_kept(serve):
    """Sixty questions in three calls, eight at once: eight connections at most, and none after the model is let go."""
    server = serve()
    with closing(client(server, None, batch_size=8)) as model:
        for _ in range(3):
            assert len(replies(model, [question()] * 20)) == 20
        assert len(server.paths) == 61  # the list of models, too
        assert len(server.connections) <= 8
    with pytest.raises(RuntimeError, match="closed"):
        replies(model, [question()])


def test_replies_come_as_they_are_there(serve):
    """The first of ten is answered only after the nine others were received, by a model that is asked two at once."""
    received = threading.Event()
    server = serve(lambda body: str(received.wait(20)) if last_text(body) == "question 0" else "yes")
    with closing(client(server, batch_size=2)) as model:
        coming = model.answer([question(f"question {i}") for i in range(10)])
        places = [next(coming)[0] for _ in range(9)]
        assert sorted(places) == list(range(1, 10))
        received.set()
        assert list(coming) == [(0, Reply("True"))]


def test_a_call_that_is_closed_begins_nothing_more(serve):
    """Closed after the first of twenty replies, while the next two wait for answers that would be asked for again."""
    released, both = threading.Event(), threading.Barrier(3, timeout=20)

    def answer(body):
        if last_text(body) == "question 0":
            return "yes"
        both.wait()
        released.wait(20)
        return Sent({}, 503)

    server = serve(answer)
    with closing(client(server, batch_size=2)) as model:
        coming = model.answer([question(f"question {i}") for i in range(20)])
        assert next(coming) == (0, Reply("yes"))
        both.wait()
        coming.close()
        workers = [thread for thread in threading.enumerate() if "(work)" in thread.name]
        assert [thread.daemon for thread in workers] == [True, True]  # a process that ends does not wait for them
        released.set()
        for thread in workers:
            thread.join(20)
        assert len(server.asked) == 3


def test_written_tokens_are_told(serve):
    counts = iter([{"completion_tokens": 3}, {"completion_tokens": 4, "prompt_tokens": 9}, None, {"total_tokens": 9}])
    told = []
    with closing(client(serve(lambda body: Sent(completion("yes", usage=next(counts)))), batch_size=1)) as model:
        assert len(list(model.answer([question()] * 4, told.append))) == 4
    assert sum(told) == 7


def test_one_that_fails_for_good_ends_nothing(serve, caplog):
    """The third of five is no text; the log names it, with the server's words."""
    server = serve(lambda body: Sent({"detail": "no idea"}, 400) if "2" in last_text(body) else "yes")
    found = answered(server, *(question(f"question {i}", name=f"row {i}") for i in range(5)))
    assert found == [Reply("yes"), Reply("yes"), Reply(finish_reason="not_understood"), Reply("yes"), Reply("yes")]
    assert len(server.asked) == 5
    said = "request 'row 2' is not answered (not_understood): the server answered 400 (Bad Request): no idea"
    assert caplog.messages == [f"{server.url}#tiny: {said}"]


SCHEMA = {"type": "object", "properties": {"Task 1": {"enum": ["Zoë"]}}, "required": ["Task 1"]}


def test_a_schema_is_sent_as_openai_has_it(serve):
    server = serve()
    answered(server, question(schema=json.dumps(SCHEMA)), question())
    [sent] = [body["response_format"] for body in server.asked if "response_format" in body]
    assert sent["type"] == "json_schema"
    assert {**sent["json_schema"], "name": ""} == {"name": "", "strict": True, "schema": SCHEMA}
    assert re.fullmatch("[A-Za-z0-9_-]{1,64}", sent["json_schema"]["name"])


@pytest.mark.parametrize(
    "error",
    [
        {"message": "This response_format type is unavailable now", "type": "invalid_request_error"},
        {"message": "Invalid parameter.", "param": "response_format"},
        {"message": "Invalid schema for response_format 'answer'", "param": "text.format.schema"},
        {"message": "structured outputs are not supported by this backend"},
    ],
)
def test_a_server_that_refuses_a_schema(serve, error):
    """It ends the run, in words that say what to do; of a request without a schema the same error is its own."""
    server = serve(lambda body: Sent({"error": error}, 400))
    with pytest.raises(ModelError, match=r"request 'row 7': .*asked to keep to a JSON schema.* remove --constrain"):
        answered(server, question(schema=json.dumps(SCHEMA)))
    assert len(server.asked) == 1
    if "param" not in error:
        assert answered(server, question()) == [Reply(finish_reason="not_understood")]


def test_another_refusal_of_a_request_with_a_schema_is_that_requests(serve):
    server = serve(lambda body: Sent({"detail": "no idea"}, 400) if "2" in last_text(body) else "{}")
    found = answered(server, *(question(f"question {i}", schema=json.dumps(SCHEMA)) for i in range(1, 3)))
    assert found == [Reply("{}"), Reply(finish_reason="not_understood")]


def test_one_too_long_among_many(serve):
    """Forty questions, of which the 17th exceeds the context."""
    too_long = Sent({"error": {"message": "too much", "code": "context_length_exceeded"}}, 400)
    server = serve(lambda body: too_long if last_text(body) == "question 17" else "yes")
    found = answered(server, *(question(f"question {i}") for i in range(40)))
    assert [i for i, reply in enumerate(found) if reply != Reply("yes")] == [17]
    assert found[17] == Reply(finish_reason="context_exceeded")
    assert len(server.asked) == 40


def until_it_fails(model, requests):
    """What came before the error, and the error."""
    came = []
    with closing(model):
        try:
            for each in model.answer(requests):
                came.append(each)
        except ModelError as error:
            return came, str(error)
    return pytest.fail("no error")


def test_what_every_request_would_meet_ends_the_call(serve):
    """The third of five: what was answered comes before the error, and the two after it are never asked."""
    server = serve(lambda body: Sent({"error": "who?"}, 401) if "2" in last_text(body) else "yes")
    requests = [question(f"question {i}", name=f"row {i}") for i in range(5)]
    came, error = until_it_fails(client(server, batch_size=1), requests)
    assert came == [(0, Reply("yes")), (1, Reply("yes"))]
    assert error.startswith(f"request 'row 2': {server.url} answered 401 (Unauthorized): who?")
    assert len(server.asked) == 3


def test_those_under_way_are_waited_for_and_begin_no_further_attempt(serve):
    """One fails for all while another is told to come back in a minute, and a third is being answered."""
    together, failed = threading.Barrier(3, timeout=20), threading.Event()

    def answer(body):
        together.wait()
        if last_text(body) == "now":
            failed.set()
            return Sent({"error": "never"}, 401)
        failed.wait(20)
        time.sleep(0.05)
        return Sent({}, 503, {"Retry-After": "60"}) if last_text(body) == "later" else "slow"

    server = serve(answer)
    requests = [question(text, name=text) for text in ("now", "later", "slowly")]
    came, error = until_it_fails(client(server, batch_size=3), requests)
    assert came == [(2, Reply("slow"))]
    assert "request 'now': " in error
    assert len(server.asked) == 3


def test_ctrl_c_does_not_wait_for_answers(serve):
    """Both requests are there and the server never answers: the call ends all the same."""
    released = threading.Event()
    both = threading.Barrier(2, action=lambda: os.kill(os.getpid(), signal.SIGINT), timeout=20)

    def answer(body):
        both.wait()
        released.wait(60)
        return "late"

    server = serve(answer)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a background process ignores it
    try:
        with pytest.raises(KeyboardInterrupt):
            replies(client(server, batch_size=2), [question()] * 6)
    finally:
        signal.signal(signal.SIGINT, before)
    assert not released.is_set()
    released.set()
    assert len(server.asked) == 2


def test_what_was_received_before_ctrl_c_is_given(serve):
    """Ctrl-C comes with the seventh question, while the first six answers wait for their reader."""
    pressed, released = threading.Event(), threading.Event()

    def answer(body):
        if last_text(body) == "question 6":
            os.kill(os.getpid(), signal.SIGINT)
            pressed.set()
            released.wait(20)
        return "yes"

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a background process ignores it
    came = []

    def read():
        for place, _ in model.answer([question(f"question {i}") for i in range(20)]):
            assert pressed.wait(20)
            came.append(place)

    try:
        with closing(client(serve(answer), batch_size=1)) as model, pytest.raises(KeyboardInterrupt):
            read()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        released.set()
        signal.signal(signal.SIGINT, before)
    assert came == list(range(6))


# What passes, and what does not


@pytest.mark.parametrize("trouble", PASSING.values(), ids=PASSING)
def test_what_passes_is_waited_out(serve, trouble):
    server = serve(in_turn(trouble, trouble, "at last"))
    assert answered(server, question()) == [Reply("at last")]
    assert len(server.asked) == 3


def test_faults_change_no_reply(serve):
    """A fifth of all attempts meets a fault, of every kind in turn, slowness too: the same replies as without any."""

    def final(body):
        text = last_text(body)
        refused = Sent({"error": {"code": "content_filter"}}, 400)
        return refused if text.endswith("0") else text.upper()

    faults = Faults(final, kinds=PASSING | {"slow": Sent(completion("half"), seconds_a_byte=0.4)})
    requests = [question(f"question {i}") for i in range(200)]
    found = asked(client(serve(faults), attempts=10, timeout=1.0), *requests)
    assert found == answered(serve(final), *requests)
    assert sum(reply.failed for reply in found) == 20
    assert set(faults.met) == set(faults.kinds)


def test_pages_in_place_of_replies_are_asked_again(serve):
    """A proxy's page at status 200, in place of 5 % of all bodies."""
    faults = Faults(lambda body: last_text(body).upper(), 0.05, {"HTML": Sent(HTML)})
    found = asked(client(serve(faults)), *(question(f"question {i}") for i in range(176)))
    assert [reply.text for reply in found] == [f"QUESTION {i}" for i in range(176)]
    assert faults.met["HTML"] >= 5
    assert set(faults.answered.values()) == {1}


def test_patience_ends(serve):
    server = serve(lambda body: Sent({"error": {"message": "out of order"}}, 500))
    with pytest.raises(ModelError, match=r"request 'row 7': .*/v1 answered 500 \(Internal Server Error\): out of"):
        answered(server, question())
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("headers", "waits"),
    [
        ({}, [1.0, 2.0, 4.0]),  # backoff, twice as long each time
        ({"Retry-After": "5"}, [5.0] * 3),
        ({"Retry-After": "600"}, [600.0] * 3),  # as long as a server may be silent
        ({"Retry-After": "601"}, []),
        ({"Retry-After": "86400"}, []),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, [0.0] * 3),  # long past
        ({"Retry-After": "Fri, 21 Oct 2999 07:28:00 GMT"}, []),
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

    clock = Clock()
    with (
        closing(
            JsonServer(serve(lambda body: Sent({}, 429, headers)).url, options=ServerOptions(attempts=4))
        ) as server,
        pytest.raises(ModelError, match="429"),
    ):
        server.patiently(lambda: server.ask("/chat/completions", {}, about="this"), clock)
    assert list(clock.waited) == waits


def test_a_server_that_asks_for_more_patience_than_there_is(serve):
    server = serve(lambda body: Sent({}, 429, {"Retry-After": "86400"}))
    with pytest.raises(ModelError, match=r"wait 86,400 s, longer than --timeout 600: .*same command"):
        answered(server, question())
    assert len(server.asked) == 1


def closed_url():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}/v1"


def test_a_server_that_was_never_there_is_said_at_once():
    with pytest.raises(ModelError, match=r"can't reach http://127\.0\.0\.1:\d+/v1: .*refused; does the server run"):
        OpenAIServer(closed_url())
    with pytest.raises(ModelError, match=r"'row 7': can't reach .*does the server run"):
        asked(OpenAIServer(closed_url(), "tiny"), question())


def test_a_server_of_another_protocol_is_explained(serve):
    with pytest.raises(ModelError, match=r"can't reach https://127.+does the server run"):
        asked(OpenAIServer(serve().url.replace("http:", "https:"), "tiny"), question())


def test_silence_ends(serve):
    released = threading.Event()
    server = serve(lambda body: released.wait(60) and "late")
    with pytest.raises(ModelError, match=r"'row 7': .*timed out.* \(attempts: 2\)"):
        asked(client(server, attempts=2, timeout=0.1), question())
    released.set()


def test_a_server_that_went_away_is_waited_for(serve):
    server = serve()
    with closing(client(server)) as model:
        assert replies(model, [question()]) == [Reply("yes")]
        server.go_away()
        with pytest.raises(ModelError, match=r"can't reach .*refused \(attempts: 3\)"):
            replies(model, [question()])


@pytest.mark.parametrize(("status", "advice"), [(401, "--api-key-env"), (403, "--api-key-env"), (404, "…/v1")])
def test_what_does_not_pass_is_asked_once(serve, status, advice):
    server = serve(lambda body: Sent(b"<html>\x00\x1b[31mno\n way</html>" + b"!" * 5000, status))
    with pytest.raises(ModelError, match=advice) as error:
        answered(server, question())
    assert len(server.asked) == 1
    message = str(error.value)
    assert f"answered {status}" in message
    assert "[31mno way</html>!!!" in message
    assert message.isprintable()
    assert len(message) < 800


# The key


def test_the_key_is_sent_and_never_shown(serve, monkeypatch, caplog):
    """The server echoes it: as it was sent, broken by a control character, escaped for a URL."""
    monkeypatch.setenv("SERVER_KEY", KEY)
    echo = f"bad key: Bearer {KEY}; {KEY[:9]}\x00{KEY[9:]}; {KEY.replace('/', '%2F')}"
    for sent in (Sent({"error": {"message": echo}}, 401), Sent(echo.encode(), 503), Sent({"echo": echo})):
        server = serve(in_turn(sent))
        model = client(server, api_key_env="SERVER_KEY")
        with caplog.at_level(logging.DEBUG), pytest.raises(ModelError) as error:
            asked(model, question())
        assert server.headers_of[0]["Authorization"] == f"Bearer {KEY}"
        shown = "".join(traceback.format_exception(error.value)) + repr(error.value) + caplog.text
        shown += repr(model) + repr(model._server) + model.identity
        assert "[key]" in shown
        assert KEY[3:].lower() not in shown.lower().replace("%2f", "/")


@pytest.mark.parametrize(
    ("key", "reply", "stored"),
    [
        (KEY, f"Yes. Bearer {KEY}", "Yes. Bearer [key]"),
        (KEY, f"{KEY[:9]} alone", f"{KEY[:9]} alone"),
        ("EMPTY", "It is EMPTY", "It is EMPTY"),  # what stands for no key may be anybody's word
        ("sk-&<12345", "sk-&amp;&lt;12345 sk-%26%3C12345", "[key] [key]"),
    ],
)
def test_an_echoed_key_is_masked_in_replies(serve, monkeypatch, key, reply, stored):
    monkeypatch.setenv("SERVER_KEY", key)
    assert asked(client(serve(lambda body: reply), api_key_env="SERVER_KEY"), question()) == [Reply(stored)]


def test_other_hosts_keys_are_not_sent(serve, monkeypatch):
    for name in ("OPENAI_API_KEY", "EVENHAND_API_KEY"):
        monkeypatch.setenv(name, KEY)
    server = serve()
    asked(client(server, None), question())
    assert [(each["Authorization"], each["api-key"]) for each in server.headers_of] == [(None, None)] * 2


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_nothing_is_followed_to_another_place(serve, monkeypatch, caplog, status):
    monkeypatch.setenv("SERVER_KEY", KEY)
    elsewhere = serve()
    moved = Sent({}, status, {"Location": f"{elsewhere.url}/chat/completions?key={KEY}"})
    server = serve(lambda body: moved, models=moved)
    for name in ("tiny", None):
        with (
            caplog.at_level(logging.DEBUG),
            pytest.raises(ModelError, match=rf"answered {status} .*redirects to {elsewhere.url}") as error,
        ):
            asked(client(server, name, api_key_env="SERVER_KEY"), question())
        assert KEY not in str(error.value) + caplog.text
    assert elsewhere.paths == []


def test_proxies_are_for_other_hosts_alone(serve, monkeypatch, tmp_path):
    """A local server is reached itself. Azure, through a proxy: api-version stays, and the key has its own header.

    A .netrc is for nobody.
    """
    netrc = tmp_path / "netrc"
    netrc.write_text("default login me password pass-word")
    monkeypatch.setenv("NETRC", str(netrc))
    options = ServerOptions(api_key_env="SERVER_KEY")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("REQUEST_METHOD", raising=False)
    monkeypatch.setenv("SERVER_KEY", KEY)
    proxy, local = serve(lambda body: "proxy"), serve(lambda body: "local")
    monkeypatch.setenv("http_proxy", proxy.url.removesuffix("/v1"))
    assert os.environ["HF_HUB_OFFLINE"] == "1"  # the Hub is, a server is not
    for url in (local.url, local.url.replace("127.0.0.1", "localhost")):
        assert asked(OpenAIServer(url, "tiny"), question()) == [Reply("local")]
    url = "http://mine.openai.azure.com/openai/deployments/x?api-version=2024-10-21"
    azure = OpenAIServer(url, "x", options=options)
    assert asked(azure, question()) == [Reply("proxy")]
    assert azure.identity == "http://mine.openai.azure.com/openai/deployments/x#x"
    assert asked(OpenAIServer("http://elsewhere.example/v1", "x"), question()) == [Reply("proxy")]
    (path, _), (headers, without) = proxy.paths, proxy.headers_of
    assert (without["api-key"], without["Authorization"], without["Proxy-Authorization"]) == (None, None, None)
    assert path == "http://mine.openai.azure.com/openai/deployments/x/chat/completions?api-version=2024-10-21"
    assert (headers["api-key"], headers["Authorization"]) == (KEY, None)


def test_proxies_that_are_none_are_explained(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://user:pass-word@proxy:port")
    with pytest.raises(ModelError, match="http_proxy") as error:
        OpenAIServer("http://example.org/v1", "tiny")
    assert "pass-word" not in "".join(traceback.format_exception(error.value))


# Which model


def test_the_only_model_is_found_and_named(serve):
    server = serve(models=["org/tiny model", "org/tiny model"])
    model = OpenAIServer(server.url + "/")
    assert (model.identity, model.name) == (f"{server.url}#org/tiny model", "org/tiny model")
    asked(model, question())
    assert server.asked[0]["model"] == "org/tiny model"
    assert server.paths == ["/v1/models", "/v1/chat/completions"]


def test_a_named_model_is_not_looked_up(serve):
    server = serve(models=Sent({}, 404))
    assert asked(client(server, "deployment"), question()) == [Reply("yes")]
    assert server.paths == ["/v1/chat/completions"]


@pytest.mark.parametrize(
    ("models", "says"),
    [
        (("b", "a"), r"serves 2 models, not one \(a, b\); name one: .*/v1#NAME"),
        ((), r"serves 0 models, not one \(none\)"),
        ([f"m{i:02}" for i in range(30)], "serves 30 models"),
        ((None, 3, "", ["x"]), "serves 0 models"),
        (("evil\x1b[2J",), "name can't be kept"),
        ((f"model-{KEY}",), "name can't be kept"),
        (Sent(b"[" * 200_000), "lists no models in OpenAI's form"),
        (Sent({"models": []}), "lists no models in OpenAI's form"),
        (Sent({"error": "none"}, 404), r"the list of models: .* answered 404 \(Not Found\): none"),
    ],
)
def test_a_list_that_does_not_name_one_model(serve, monkeypatch, models, says):
    monkeypatch.setenv("SERVER_KEY", KEY)
    with pytest.raises(ModelError, match=says) as error:
        client(serve(models=models), None, api_key_env="SERVER_KEY")
    assert KEY not in str(error.value)
    assert str(error.value).isprintable()


@pytest.mark.parametrize(
    "url",
    [
        "http://user:pass-word@localhost/v1",
        "http://pass-word@localhost/v1",
        "http:/user:pass-word@localhost/v1",
        "http:user:pass-word@localhost/v1",
        "http://localhost\\@pass-word/v1",
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


def test_servers_of_chat_completions_alone_score_no_options(serve):
    model = client(serve())
    assert "choose" not in model.can
    with pytest.raises(ModelError, match=r"it has no /tokenize .*no top_logprobs; try --protocol generate"):
        asked(model, Request((Message("user", "Is it?"),), ("Yes", "No")))


def test_what_a_server_that_is_not_there_can_is_not_guessed():
    with pytest.raises(ModelError, match=r"can't reach http://127\.0\.0\.1:9/v1"):
        OpenAIServer("http://127.0.0.1:9/v1", "tiny").can  # noqa: B018 - it asks


def test_servers_take_no_prompt_to_the_letter(serve):
    model = client(serve())
    assert "continue" not in model.can
    with pytest.raises(ModelError, match=r"chat completions put every prompt into the model's own template"):
        asked(model, Request((Message("user", "[INST] Is it? [/INST]"),), template=False))


def test_a_server_is_loaded_by_its_url(serve):
    """However the scheme is spelt, with a name and without; its options come from KEY=VALUE."""
    server = serve()
    options = from_texts(ServerBackend.Options, {"timeout": "30", "attempts": "2"}, "servers")
    assert options == ServerOptions(timeout=30.0, attempts=2, backoff=1.0, api_key_env=None)
    for name in (server.url, f"{server.url}#tiny", f"{server.url.replace('http', 'HTTP')}#tiny"):
        model = ServerBackend().load(name, Loading(batch_size=3), options)
        assert (model.identity, model.batch_size) == (f"{server.url}#tiny", 3)
        assert asked(model, question()) == [Reply("yes")]
    with pytest.raises(ModelError, match="--revision main has no effect"):
        ServerBackend().load(server.url, Loading(revision="main"), options)


# What is made of answers


@pytest.mark.parametrize(
    ("answer", "text", "reason"),
    [
        (completion("Yes."), "Yes.", "stop"),
        (completion("Ye", "length"), "Ye", "length"),
        (completion("Yes.", "eos_token"), "Yes.", "stop"),
        (completion("Yes.", None), "Yes.", "stop"),
        (completion(None, "length", reasoning_content="Let me think"), "", "thought"),
        (completion("", reasoning_content="Let me think"), "", "thought"),
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
        (completion("Yes.", "content_filter"), "", "refused"),
        ({"error": None} | completion("Yes."), "Yes.", "stop"),
    ],
)
def test_replies(serve, answer, text, reason):
    server = serve(lambda body: Sent(answer))
    [reply] = answered(server, question(sampling=Sampling(stop=("END",))))
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
        ({"error": {"message": "upstream is down"}}, "an error in it: upstream is down"),
        (HTML, "no choices in it: <html><body>Bad gateway"),
        ({"choices": [None]}, "no message in its first choice"),
        ({"choices": [{"text": "Yes"}]}, "no message in its first choice"),
        (completion(5), "content of type int"),
        (completion({"text": "Yes"}), "content of type dict"),
    ],
)
def test_what_is_no_chat_completion(serve, body, says):
    server = serve(lambda _: Sent(body))
    with pytest.raises(ModelError, match=rf"request 'row 7': .*{says}.* \(attempts: 3\)"):
        answered(server, question())
    assert len(server.asked) == 3


def test_an_answer_that_trickles_in_is_not_waited_for(serve):
    """Each byte comes in time, and the whole would take a minute."""
    server = serve(lambda body: Sent(completion("yes"), seconds_a_byte=0.1))
    with pytest.raises(ModelError, match=r"'row 7': .*no whole answer in 0.3 s \(attempts: 2\)"):
        asked(client(server, attempts=2, timeout=0.3), question())


def test_an_endless_answer_is_not_read_to_its_end(serve):
    server = serve(lambda body: Sent(b" " * (16 * 1024**2 + 1)))
    with pytest.raises(ModelError, match=r"'row 7': .*answered more than 16,777,216 bytes"):
        answered(server, question())
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
def test_what_a_filter_refuses(serve, caplog, refusal):
    server = serve(lambda body: refusal if last_text(body) == "rude" else "yes")
    found = answered(server, question("fine"), question("rude"), question("fine"))
    assert found == [Reply("yes"), Reply(finish_reason="refused"), Reply("yes")]
    assert len(caplog.messages) == 1
    assert "request 'row 7' is not answered (refused): the server" in caplog.text


def test_words_alone_are_no_refusal_by_a_filter(serve, caplog):
    server = serve(lambda body: Sent({"error": {"message": "unknown option content_filter", "code": 400}}, 400))
    assert answered(server, question()) == [Reply(finish_reason="not_understood")]
    assert "unknown option content_filter" in caplog.text


@pytest.mark.parametrize(("code", "says"), [(401, "answered 401 .*EVENHAND_API_KEYS"), (404, "answered 404")])
def test_a_status_in_the_body_counts(serve, code, says):
    """As gateways tell it that had answered 200 before."""
    server = serve(lambda body: Sent({"error": {"message": "no", "code": 400 if last_text(body) == "bad" else code}}))
    assert answered(server, question("bad")) == [Reply(finish_reason="not_understood")]
    with pytest.raises(ModelError, match=says):
        answered(server, question())
    assert len(server.asked) == 2


def test_what_is_said_of_a_setting_is_said_of_all_requests(serve):
    """As OpenAI's reasoning models do of a temperature of 0."""
    error = {"message": "Only the default (1) is supported.", "param": "temperature", "code": "unsupported_value"}
    server = serve(lambda body: Sent({"error": error}, 400))
    with pytest.raises(ModelError, match=r"answered 400 \(Bad Request\): Only the default"):
        answered(server, question())


@pytest.mark.parametrize(
    "error",
    [
        # vLLM
        "You passed 4000 input tokens and requested 100 output tokens. However, the model's context length is only "
        "4096 tokens, resulting in a maximum input length of 3996 tokens.",
        "'max_tokens' or 'max_completion_tokens' is too large: 100. This model's maximum context length is 4096 "
        "tokens and your request has 4000 input tokens (100 > 4096 - 4000).",
        "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
        # OpenAI
        "This model's maximum context length is 4096 tokens. However, you requested 4200 tokens (4100 in the messages, "
        "100 in the completion).",
        "This model's maximum context length is 4096 tokens. However, your messages resulted in 5000 tokens.",
        {"message": "too much", "code": "context_length_exceeded"},
        # llama.cpp
        {
            "message": "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it",
            "type": "exceed_context_size_error",
            "n_prompt_tokens": 5000,
            "n_ctx": 4096,
        },
        # TGI
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and "
        "100 `max_new_tokens`",
    ],
)
def test_prompts_that_exceed_the_context(serve, caplog, error):
    """The log holds the server's own words, with its numbers."""
    server = serve(lambda body: Sent({"error": error}, 400))
    assert answered(server, question()) == [Reply(finish_reason="context_exceeded")]
    words = error if isinstance(error, str) else error["message"]
    assert f"request 'row 7' is not answered (context_exceeded): the server answered 400 (Bad Request): {words}" in (
        caplog.text
    )


@given(st.recursive(st.none() | st.text() | st.integers(), lambda v: st.dictionaries(st.text(), v) | st.lists(v)))
@settings(max_examples=60, deadline=None)
def test_garbage_in_errors(content):
    for said in (content, {"error": content}, {"error": {"code": content, "message": content, "param": content}}):
        assert failure(Answer(200, said, json.dumps(said))) is None
        assert failure(Answer(400, said, json.dumps(said))) in FAILURES | {None}
        assert completion_tokens({"usage": said}) >= 0
        completion = {"model": content, "choices": [{"message": {"content": content}, "finish_reason": content}]}
        for each in (said, completion, {"choices": [{"message": {"content": [{"type": content, "text": content}]}}]}):
            with suppress(Malformed, Unanswerable):
                assert isinstance(ReplyReader(Oddities("tiny")).read(each, question()).text, str)


@pytest.mark.parametrize("count", ["3", 3.0, True, -1, None, [3], 10**400])
def test_counts_that_are_none(count):
    assert completion_tokens({"usage": {"completion_tokens": count}}) == 0


def test_errors_nested_deeply(serve, caplog):
    """Nearly as deeply as JSON is read."""
    nested = "[" * 900 + "]" * 900
    error = f'{{"error": {{"message": "no", "code": {nested}, "type": {nested}, "param": {nested}}}}}'.encode()
    assert answered(serve(lambda body: Sent(error, 400)), question()) == [Reply(finish_reason="not_understood")]
