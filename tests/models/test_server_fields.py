"""What servers of five manners refuse, what is dropped, changed or named, and what a report says of it."""

import json
import logging
import math
import socket
import threading
import time
from contextlib import closing, contextmanager
from types import SimpleNamespace

import pytest

from evenhand.flow.configuration import run_config
from evenhand.flow.evaluation import evaluate
from evenhand.models.errors import ModelError
from evenhand.models.openai_http import Answer
from evenhand.models.openai_server import OpenAIServer, ServerBackend
from evenhand.models.protocol import replies
from evenhand.models.request import Message, Reply, Request, Sampling
from evenhand.models.server_fields import FIELDS, refused_fields
from evenhand.models.server_options import ServerOptions
from evenhand.models.template_settings import TemplateSettings
from evenhand.options import from_texts
from tests.hostile.faulty_server import Sent, completion, first_option, last_text, serving

DRAWN = Sampling(1.0, max_new_tokens=16, stop=("\n",))
SENT = {name: 1 for name in ("model", "messages", "max_tokens", "stop", "temperature", "top_p", "top_k", "seed")}


@pytest.fixture
def serve():
    with serving() as start:
        yield start


def client(server, **options):
    chosen = from_texts(ServerOptions, {"backoff": "0", "attempts": "3"} | options, "http")
    return OpenAIServer(server.url, "tiny", batch_size=1, options=chosen)


def question(text="Is it so?", choices=(), **options):
    return Request((Message("user", text),), choices, name="row 7", **options)


# The words of refusals

EXTRA = "Extra inputs are not permitted"
REFUSALS = {
    "Mistral, FastAPI": (422, {"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": EXTRA}]}, "seed"),
    "pydantic 1": (422, {"detail": [{"loc": ["body", "top_k"], "msg": "extra fields not permitted"}]}, "top_k"),
    "nested detail": (422, {"message": {"detail": [{"loc": ["body", "seed"], "msg": EXTRA}]}}, "seed"),
    "whole body echoed": (
        422,
        {"detail": [{"loc": ["body", "seed"], "msg": EXTRA, "input": {"temperature": 1, "top_p": 1}}]},
        "seed",
    ),
    "Google": (
        400,
        [{"error": {"code": 400, "message": 'Invalid JSON payload received. Unknown name "seed": Cannot find field.'}}],
        "seed",
    ),
    "OpenAI, reasoning": (
        400,
        {
            "error": {
                "message": "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) "
                "value is supported.",
                "param": "temperature",
                "code": "unsupported_value",
            }
        },
        "temperature",
    ),
    "OpenAI by code": (400, {"error": {"message": "no", "param": "seed", "code": "unsupported_parameter"}}, "seed"),
    "OpenAI, older": (400, {"error": {"message": "Unrecognized request argument supplied: seed"}}, "seed"),
    "OpenAI, several": (400, {"error": {"message": "Unrecognized arguments supplied: seed, top_k"}}, "seed top_k"),
    "OpenAI, limit": (
        400,
        {"error": {"message": "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
                   "'max_completion_tokens' instead.", "param": "max_tokens"}},
        "max_tokens",
    ),
    "vLLM": (
        400,
        {"message": f"[{{'type': 'extra_forbidden', 'loc': ('body', 'seed'), 'msg': '{EXTRA}', 'input': 'top_p'}}]"},
        "seed",
    ),
    "TGI": (422, "Failed to deserialize: unknown field `seed`, expected one of `model`, `max_tokens`, `stop`", "seed"),
    "TGI, range": (422, {"error": "Input validation error: `top_p` must be > 0.0 and < 1.0"}, "top_p"),
    "Groq": (400, {"error": {"message": "property 'seed' is unsupported"}}, "seed"),
    "xAI": (400, {"error": "Argument not supported on this model: stop"}, "stop"),
    "Anthropic": (400, {"error": {"message": f"seed: {EXTRA}"}}, "seed"),
    "LiteLLM": (400, {"error": {"message": "x does not support parameters: ['seed', 'top_k'], for y"}}, "seed top_k"),
    "Anthropic, both": (400, {"error": "`temperature` and `top_p` cannot both be specified"}, "temperature top_p"),
    "plain": (400, {"error": "temperature is not supported"}, "temperature"),
    "a stop that is a word": (400, {"error": "Please stop: this is not allowed"}, ""),
    "a prompt's words": (400, {"error": "Invalid message about the seed of doubt and temperature of the room"}, ""),
    "nothing named": (400, {"detail": "no idea"}, ""),
    "busy": (503, {"error": {"message": "no", "param": "seed"}}, ""),
    "another key": (401, {"error": {"message": "'seed' is not supported"}}, ""),
}  # fmt: skip


@pytest.mark.parametrize(("status", "content", "names"), REFUSALS.values(), ids=REFUSALS)
def test_the_fields_that_an_error_names(status, content, names):
    body = content if isinstance(content, str) else json.dumps(content)
    answer = Answer(status, None if isinstance(content, str) else content, body)
    assert sorted(refused_fields(answer, SENT)) == sorted(names.split())


def test_a_field_that_was_not_sent_is_not_refused():
    answer = Answer(400, {"error": {"message": "no", "param": "seed"}}, "")
    assert refused_fields(answer, {"model": "tiny", "messages": []}) == []


def test_every_field_has_one_thing_to_do():
    for field in FIELDS:
        assert field.meaning
        assert field.advice or field.instead or field.note


# Five manners of servers


def openai_reasoning(body):
    """max_completion_tokens in place of max_tokens; temperature and top_p 1 alone; no stop, no top_k."""
    for name, refused in {
        "max_tokens": "max_tokens" in body,
        "stop": "stop" in body,
        "temperature": body.get("temperature", 1) != 1,
    }.items():
        if refused:
            words = f"Unsupported parameter: '{name}' is not supported with this model."
            return Sent({"error": {"message": words, "param": name, "code": "unsupported_parameter"}}, 400)
    if "top_k" in body:
        return Sent({"error": {"message": "Unrecognized request argument supplied: top_k", "param": None}}, 400)
    return f"{last_text(body)}\nand more"


def google(body):
    if "seed" in body:
        words = 'Invalid JSON payload received. Unknown name "seed": Cannot find field.'
        return Sent([{"error": {"code": 400, "message": words, "status": "INVALID_ARGUMENT"}}], 400)
    return last_text(body)


def strict(body):
    """FastAPI with pydantic: all unknown fields in one answer."""
    known = {"model", "messages", "max_tokens", "temperature", "stop"}
    extra = [name for name in body if name not in known]
    if extra:
        return Sent(
            {"detail": [{"type": "extra_forbidden", "loc": ["body", name], "msg": EXTRA} for name in extra]}, 422
        )
    return last_text(body)


def vllm(body):
    """Takes all, and gives a thought apart."""
    return Sent(completion(last_text(body), reasoning_content="Hm."))


def ollama(body):
    """Ignores what it doesn't know."""
    return Sent(completion(last_text(body), reasoning="Hm."))


@pytest.mark.parametrize(
    ("answer", "dropped", "attempts"),
    [
        (openai_reasoning, ["refused_stop", "refused_top_k"], 4),
        (google, ["refused_seed"], 2),
        (strict, ["refused_seed", "refused_top_k", "refused_top_p"], 2),
        (vllm, [], 1),
        (ollama, [], 1),
    ],
)
def test_what_is_drawn_from_five_manners_of_servers(serve, answer, dropped, attempts):
    """Each reply comes, cut at its stop text; what was left out is said once; the second request is sent at once."""
    server = serve(answer)
    sampling = Sampling(1.0, top_k=40, max_new_tokens=16, stop=("\n",))
    with closing(client(server)) as model:
        found = replies(model, [question("one", sampling=sampling), question("two", sampling=sampling)])
        assert [(each.text, each.finish_reason) for each in found] == [("one", "stop"), ("two", "stop")]
        assert sorted(code for code, _ in model.warnings) == dropped
    assert len(server.asked) == attempts + 1
    thought = "Hm." if answer in (vllm, ollama) else ""
    assert {each.thought for each in found} == {thought}


@pytest.mark.parametrize("temperature", [0.0, 0.7])
def test_a_temperature_that_is_refused_is_never_another(serve, temperature):
    """The error names what to type; nothing is asked again."""
    server = serve(openai_reasoning)
    with closing(client(server)) as model, pytest.raises(ModelError, match=r"row 7.*'temperature'.*--temperature 1\b"):
        replies(model, [question(sampling=Sampling(temperature))] * 3)
    assert len(server.asked) == 2  # max_tokens, temperature


def test_a_temperature_of_1_is_left_out_where_the_field_is_refused(serve):
    server = serve(
        lambda body: Sent({"error": "temperature is not supported"}, 400) if "temperature" in body else "yes"
    )
    with closing(client(server)) as model:
        assert replies(model, [question(sampling=DRAWN)]) == [Reply("yes")]
        assert [code for code, _ in model.warnings] == ["refused_temperature"]


def test_a_field_that_is_refused_beside_another_alone(serve):
    """As Anthropic's newer models take a temperature or a top_p: top_p 1 is left out, and the temperature stays."""
    both = Sent({"error": "`temperature` and `top_p` cannot both be specified"}, 400)
    server = serve(lambda body: both if {"temperature", "top_p"} <= body.keys() else "yes")
    with closing(client(server)) as model:
        assert replies(model, [question(sampling=Sampling(0.7))]) == [Reply("yes")]
        assert [code for code, _ in model.warnings] == ["refused_top_p"]
    assert server.asked[-1]["temperature"] == 0.7


def test_a_smaller_top_p_is_never_left_out(serve):
    server = serve(strict)
    with closing(client(server)) as model, pytest.raises(ModelError, match="remove --top-p"):
        replies(model, [question(sampling=Sampling(1.0, 0.9))])


def test_a_prompt_that_is_too_long_drops_nothing(serve):
    """vLLM's error names max_tokens."""
    words = "'max_tokens' is too large: 100. This model's maximum context length is 4096 tokens"
    server = serve(lambda body: Sent({"error": {"message": words, "param": "max_tokens"}}, 400))
    with closing(client(server)) as model:
        assert replies(model, [question()]) == [Reply(finish_reason="context_exceeded")]
    assert len(server.asked) == 1


# Fields that options add


def test_template_variables_and_effort_are_sent_and_in_the_identity(serve):
    server = serve()
    texts = {"chat_template_kwargs": '{"b": 2, "a": 1}', "reasoning_effort": "low"}
    options = from_texts(ServerOptions, texts, "http")
    with closing(
        OpenAIServer(server.url, "tiny", options=options, template=TemplateSettings((("a", "0"), ("c", "3"))))
    ) as model:
        replies(model, [question()])
        assert model.identity.startswith(f"{server.url}#tiny ")
        with closing(client(server)) as plain:
            assert plain.identity == f"{server.url}#tiny"
    [body] = server.asked
    assert body["chat_template_kwargs"] == {"a": 1, "b": 2, "c": 3}
    assert body["reasoning_effort"] == "low"


def test_template_variables_are_sent_where_a_prompt_is_laid_out(serve):
    """The prompt of scored options is the one that the model answers."""
    asked = []
    routes = {"/tokenize": lambda body: asked.append(body) or Sent({}, 404)}
    texts = {"chat_template_kwargs": '{"enable_thinking": false}', "reasoning_effort": "low"}
    with closing(client(serve(routes=routes), **texts)) as model:
        assert "choose" not in model.can
    assert asked[0]["chat_template_kwargs"] == {"enable_thinking": False, "reasoning_effort": "low"}


def test_template_variables_that_a_tokenizer_here_would_not_know(serve):
    with pytest.raises(ModelError, match="use --template-option"):
        client(serve(), chat_template_kwargs='{"enable_thinking": false}', tokenizer="some/tokenizer")


def test_the_order_of_variables_is_no_part_of_the_identity(serve):
    server = serve()
    texts = ('{"enable_thinking": false, "x": 1}', '{"x": 1, "enable_thinking": false}')
    assert len({client(server, chat_template_kwargs=text).identity for text in texts}) == 1


def test_variables_of_a_run_reach_the_server(serve):
    """As `--template-option` gives them to any backend."""
    loading = SimpleNamespace(
        revision=None, batch_size=1, template=SimpleNamespace(variables={"enable_thinking": False})
    )
    server = serve()
    with closing(ServerBackend().load(f"{server.url}#tiny", loading, ServerOptions())) as model:
        replies(model, [question()])
    assert server.asked[0]["chat_template_kwargs"] == {"enable_thinking": False}


@pytest.mark.parametrize("name", ["chat_template_kwargs", "reasoning_effort"])
def test_an_added_field_that_is_refused_ends_the_run(serve, name):
    server = serve(lambda body: Sent({"error": {"message": "no", "param": name}}, 400))
    value = '{"enable_thinking": false}' if name == "chat_template_kwargs" else "low"
    flag = name.replace("_", "-")
    with closing(client(server, **{name: value})) as model, pytest.raises(ModelError, match=f"remove .*--{flag}"):
        replies(model, [question()])


# Thoughts


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (completion("Madrid", reasoning_content="Paris?"), Reply("Madrid", thought="Paris?")),
        (completion("Madrid", reasoning="Paris?"), Reply("Madrid", thought="Paris?")),
        (completion("<think>Paris?</think>\nMadrid"), Reply("Madrid", thought="Paris?")),
        (
            completion([{"type": "thinking", "thinking": [{"type": "text", "text": "Paris?"}]},
                        {"type": "text", "text": "Madrid"}]),
            Reply("Madrid", thought="Paris?"),
        ),
        (
            completion("", "length", {"completion_tokens_details": {"reasoning_tokens": 16}}),
            Reply("", "thought"),
        ),
        (completion("", "length", {"completion_tokens_details": {"reasoning_tokens": 0}}), Reply("", "length")),
        (completion(None, refusal="I can't say."), Reply("I can't say.")),
        (completion("", "length", reasoning="Paris"), Reply("", "thought", thought="Paris")),
        (completion("<think>Paris", "length"), Reply("", "thought", thought="Paris")),
        (completion("Madrid", reasoning=5, reasoning_content=["x"]), Reply("Madrid")),
        (completion([{"type": "thinking", "thinking": 5}, {"type": "text", "text": "Madrid"}]), Reply("Madrid")),
    ],
)  # fmt: skip
def test_a_thought_is_no_part_of_an_answer(serve, answer, expected):
    with closing(client(serve(lambda body: Sent(answer)))) as model:
        assert replies(model, [question()]) == [expected]


# Options scored by the likeliest tokens


def top(content="Yes", tokens=(), **message):
    """A chat completion whose first token has these alternatives, {token: probability}."""
    given = [{"token": token, "logprob": math.log(p), "bytes": None} for token, p in dict(tokens).items()]
    sent = completion(content, "length", **message)
    sent["choices"][0]["logprobs"] = {"content": [{"token": content, "logprob": -1.0, "top_logprobs": given}]}
    return Sent(sent)


YES = {"Yes": 0.5, " Yes": 0.1, "No": 0.2, "yes": 0.1}


def test_options_are_scored_by_the_likeliest_first_tokens(serve):
    """Yes with a space and without: 0.6; No: 0.2; other capitals are another word. Maybe is not among them: unread."""
    server = serve(lambda body: top(tokens=YES))
    with closing(client(server)) as model:
        assert "choose" not in model.can
        assert "choose_one_token" in model.can
        model.check_one_token()
        one, other, third = replies(
            model, [question(choices=each) for each in (("Yes", "No"), ("Yes", "Maybe"), ("No", " Yes"))]
        )
        assert [math.exp(only) for (only,) in one.choice_log_probs] == pytest.approx([0.6, 0.2])
        assert [math.exp(only) for (only,) in third.choice_log_probs] == pytest.approx([0.2, 0.6])
        assert (one.finish_reason, other.finish_reason) == ("choice", "choice")
        assert all(math.isnan(only) for (only,) in other.choice_log_probs)
        [(code, text)] = model.score_warnings([one, other, third])
    assert code == "top_logprobs"
    assert "80.0% of the probability on average, 80.0% at least" in text
    assert "1 of 3 requests are unread" in text
    body = server.asked[-1]
    assert (body["logprobs"], body["top_logprobs"], body["max_tokens"], body["temperature"]) == (True, 20, 1, 1.0)


def test_options_that_are_certain_in_every_request_are_named(serve):
    """Some servers give 0 for the token that they took, and -9999 for all others."""
    answer = top(tokens={"Yes": 1.0, "No": 1e-300})
    with closing(client(serve(lambda body: answer))) as model:
        found = replies(model, [question(choices=("Yes", "No"))] * 2)
        [(_, text)] = model.score_warnings(found)
    assert "one of them has all of it in every request" in text


def test_options_with_more_than_all_of_the_probability_are_unread(serve):
    tokens = {"Yes": 0.9, "No": 0.9}
    server = serve(lambda body: top(tokens=tokens))
    with closing(client(server)) as model:
        [reply] = replies(model, [question(choices=("Yes", "No"))])
    assert reply.failed


def test_a_value_that_is_refused_is_sent_under_no_other_name(serve):
    error = {"error": {"message": "max_tokens must be at most 256, got 512", "param": "max_tokens"}}
    server = serve(lambda body: Sent(error, 400))
    with closing(client(server)) as model, pytest.raises(ModelError, match="--max-new-tokens"):
        replies(model, [question()])
    assert all("max_completion_tokens" not in body for body in server.asked)


@pytest.mark.parametrize(
    "words",
    ["top_logprobs must be between 0 and 8", "Requested sample logprobs of 20, greater than allowed: 8"],
)
def test_a_server_with_fewer_likeliest_tokens(serve, words):
    """As xAI, or vLLM by its settings, has 8 at most: 20, 10 and 5 are tried."""
    few = Sent({"error": words}, 400)
    server = serve(lambda body: top(tokens=YES) if body["top_logprobs"] <= 8 else few)
    with closing(client(server)) as model:
        found = replies(model, [question(choices=("Yes", "No"))] * 2)
    assert [math.exp(each.choice_log_probs[0][0]) for each in found] == pytest.approx([0.6, 0.6])
    assert [body["top_logprobs"] for body in server.asked] == [20, 10, 5, 5]


@pytest.mark.parametrize(
    "answer",
    [
        lambda body: top("", {"Likely": 0.5, "Unlikely": 0.5}, reasoning="Hm"),  # the first token is one of a thought
        lambda body: top("Li", {"Li": 0.9, "Un": 0.1}),  # options of several tokens
    ],
)
def test_a_run_in_which_nothing_can_be_scored_ends_early(serve, answer):
    """The trial before it could be."""
    server = serve(lambda body: answer(body) if "question" in last_text(body) else top(tokens=YES))
    with closing(client(server)) as model:
        model.check_one_token()
        with pytest.raises(ModelError, match=r"none of the first 20 .*--protocol generate"):
            replies(model, [question("question", ("Likely", "Unlikely"))] * 90)
    assert len(server.asked) == 21


def test_options_that_are_too_unlikely_to_say_are_unread(serve):
    """OpenAI gives -9999 for them: no tie."""

    def answer(body):
        sent = top(tokens=YES)
        for each in sent.body["choices"][0]["logprobs"]["content"][0]["top_logprobs"]:
            each["logprob"] = -9999.0
        return sent

    with closing(client(serve(answer))) as model:
        [reply] = replies(model, [question(choices=("Yes", "No"))])
    assert all(math.isnan(only) for (only,) in reply.choice_log_probs)


@pytest.mark.parametrize("value", [0.5, None, "-1", True])
def test_what_is_no_log_probability_is_never_read(serve, value):
    def spoiled(body):
        sent = top(tokens=YES)
        sent.body["choices"][0]["logprobs"]["content"][0]["top_logprobs"][0]["logprob"] = value
        return sent

    with closing(client(serve(spoiled))) as model, pytest.raises(ModelError, match="no log-probability"):
        replies(model, [question(choices=("Yes", "No"))])


@pytest.mark.parametrize(
    "answer",
    [
        lambda body: Sent({"error": {"message": "no", "param": "logprobs"}}, 400) if "logprobs" in body else "Yes",
        lambda body: "Yes",
        lambda body: Sent({"error": "no idea"}, 400) if "logprobs" in body else "Yes",
    ],
)
def test_a_server_without_log_probabilities_is_refused_before_a_run_begins(serve, answer, evenhand, tmp_path):
    url, out = serve(answer).url, tmp_path / "run"
    asked = ("run", "contact_hypothesis", "--model", url, "--limit", 3, "--output", out, "--backoff", 0)
    called = evenhand(*asked, "--protocol", "choose")
    assert called.code == 2
    assert "--protocol choose scores options, and " in called.err
    assert not out.exists()


# What a report says


@pytest.fixture
def no_report(monkeypatch):
    monkeypatch.setattr("evenhand.flow.evaluation.write_report", lambda folder, found: None)


def warned(folder):
    return {each["code"]: each["text"] for each in json.loads((folder / "results.json").read_text())["warnings"]}


def test_the_report_says_that_draws_can_t_be_repeated(serve, tmp_path, no_report):
    """And says so again where all replies were stored by an earlier command."""

    def answer(body):
        refused = Sent({"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": EXTRA}]}, 422)
        return refused if "seed" in body else first_option(body)

    server = serve(answer)
    config = run_config("contact_hypothesis", server.url, limit=3, protocol="generate", temperature=1.0, batch_size=1)
    for _ in range(2):
        folder = evaluate(config, tmp_path / "run").path
        assert "the server takes no seed: these draws can't be repeated" in warned(folder)["refused_seed"]
        (folder / "results.json").unlink()
    assert len(server.asked) == 1 + 9


def test_options_of_a_run_scored_by_the_likeliest_tokens(serve, tmp_path, no_report):
    """0.6 for the option that the instruction names first, 0.2 for the other; a third of rows is unread."""

    def answer(body):
        first = first_option(body).strip(" .")
        second = last_text(body).split(" and ")[1].split("..")[0]
        return top(first, {first: 0.6, second: 0.2})

    config = run_config("contact_hypothesis", serve(answer).url, limit=3, protocol="choose")
    folder = evaluate(config, tmp_path / "run")
    said = warned(folder.path)
    assert "top_logprobs" in said["top_logprobs"]
    assert "80.0% of the probability" in said["top_logprobs"]
    assert set(folder.read_predictions()["probability"].round(6)) <= {0.75, 0.25}


def test_a_profile_of_a_model_that_takes_temperature_1_alone(serve, evenhand, tmp_path):
    """Both benchmarks are asked: without the option, which an error names, both would be left out."""

    def answer(body):
        found = openai_reasoning(body)
        return found if isinstance(found, Sent) else first_option(body)

    server = serve(answer)
    asked = ("profile", "--model", server.url, "--budget", "full", "--limit", 3)
    some = ("--benchmark", "contact_hypothesis", "--benchmark", "contact_controls")
    without = evenhand(*asked, *some, "--output", tmp_path / "one")
    assert without.out.count("--temperature 1,") == 2
    called = evenhand(*asked, *some, "--temperature", 1, "--output", tmp_path / "other")
    assert called.code == 0, called.err
    assert "Left out" not in called.out
    assert {body["temperature"] for body in server.asked[-5:]} == {1.0}


# Failures that a person waits for


def test_a_retry_is_said_with_status_pause_and_attempt(serve, caplog):
    left = [Sent({}, 429, {"Retry-After": "0"}), Sent({}, 503), "yes"]
    with closing(client(serve(lambda body: left.pop(0)))) as model:
        replies(model, [question()])
    [message] = [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING]
    assert "answered 429 (Too Many Requests)" in message  # others that follow within seconds are not said
    assert "next attempt in 0.0 s (2 of 3)" in message


@pytest.mark.parametrize("code", ["insufficient_quota", "billing_not_active"])
def test_an_account_without_credit_is_not_asked_again(serve, code):
    error = {"message": "You exceeded your current quota", "type": "insufficient_quota", "code": code}
    server = serve(lambda body: Sent({"error": error}, 429))
    with closing(client(server)) as model, pytest.raises(ModelError, match=r"429 .*current quota; .*no credit"):
        replies(model, [question()])
    assert len(server.asked) == 1


def test_an_error_of_a_run_says_that_the_same_command_goes_on(serve, evenhand, tmp_path):
    places = iter(range(9))
    error = {"message": "You exceeded your current quota", "code": "insufficient_quota"}
    server = serve(lambda body: first_option(body) if next(places) < 4 else Sent({"error": error}, 429))
    asked = ("run", "contact_hypothesis", "--model", server.url, "--limit", 3, "--batch-size", 1)
    called = evenhand(*asked, "--output", tmp_path / "run")
    assert called.code == 1
    assert called.err.endswith("4 replies are stored; the same command goes on from here and asks nothing twice.\n")


# One deadline


@contextmanager
def raw(send):
    """A server that sends what it likes, on each connection: send(socket)."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        ended = threading.Event()

        def talk(connection):
            with connection:
                connection.recv(100_000)
                try:
                    while not ended.is_set():
                        send(connection)
                except OSError:
                    pass

        def accept():
            while not ended.is_set():
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                threading.Thread(target=talk, args=(connection,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        ended.set()


def slowly(text):
    def send(connection):
        connection.sendall(text)
        time.sleep(0.05)

    return send


@pytest.mark.parametrize(
    "piece",
    [b"x", b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\n\r\n"],
    ids=["header drip", "endless 100", "endless 103"],
)
def test_what_never_ends_ends_at_the_timeout(piece):
    first = b"HTTP/1.1 200 OK\r\nX: " if piece == b"x" else b""
    begun = set()

    def send(connection):
        if connection not in begun:
            begun.add(connection)
            connection.sendall(first)
        slowly(piece)(connection)

    began = time.monotonic()
    with raw(send) as url:
        options = ServerOptions(timeout=0.4, attempts=2, backoff=0.0)
        with (
            closing(OpenAIServer(url, "tiny", options=options)) as model,
            pytest.raises(ModelError, match="no whole answer"),
        ):
            replies(model, [question()])
    assert time.monotonic() - began < 5


def test_a_compressed_answer_is_refused(serve):
    """It may be as small as a page and grow without bound."""
    import gzip

    packed = gzip.compress(json.dumps(completion("yes")).encode())
    server = serve(lambda body: Sent(packed, headers={"Content-Encoding": "gzip"}))
    with closing(client(server)) as model, pytest.raises(ModelError, match="compressed"):
        replies(model, [question()])
    assert server.headers_of[0]["Accept-Encoding"] == "identity"
