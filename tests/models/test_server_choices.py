"""Options scored by a server: as the same checkpoint scores them here, in the ways that a server has."""

import math
from contextlib import closing

import numpy as np
import pytest

from evenhand.models.errors import ModelError, Unanswerable
from evenhand.models.openai_http import RetriesExhausted
from evenhand.models.openai_server import OpenAIServer
from evenhand.models.protocol import replies
from evenhand.models.registry import load_model
from evenhand.models.request import Image, Message, Request
from evenhand.models.server_choices import TopChoices, _read_top
from evenhand.models.server_oddities import Oddities
from evenhand.models.server_options import ServerOptions
from tests.hostile.faulty_server import HANGS_UP, PASSING, Faults, Sent, serving
from tests.models.scoring_server import Scoring

OPTIONS = ("Yes", "No", "Likely", "Unlikely", "Likely not", "I don't know.", "ümläut 你好")


@pytest.fixture
def serve():
    with serving() as start:
        yield start


@pytest.fixture
def scoring(tiny_llama, tokenizer):
    """scoring("echo", …) → a model that has these ways, served."""
    return lambda *ways, **said: Scoring(tiny_llama, tokenizer, ways, **said)


@pytest.fixture
def client(serve):
    """client(routes) → a model of a server with these routes."""
    made = []

    def make(routes, batch_size=4, **options):
        server = serve(routes=routes)
        chosen = ServerOptions(**{"backoff": 0.0, "attempts": 3} | options)
        made.append(OpenAIServer(server.url, "tiny", batch_size=batch_size, options=chosen))
        return made[-1]

    yield make
    for each in made:
        each.close()


def asks(n=3):
    messages = (Message("system", "Answer in one word."), Message("user", "Is it so? {}"))
    return [
        Request((messages[0], Message("user", messages[1].text.format("Why? " * i))), OPTIONS, name=f"row {i}")
        for i in range(n)
    ]


def numbers(found):
    return [np.concatenate([np.array(each) for each in reply.choice_log_probs]) for reply in found]


@pytest.mark.parametrize("way", ["token ids", "echo"])
def test_log_probabilities_are_those_of_the_same_checkpoint_here(client, scoring, tiny_checkpoint, way):
    """Each token's of seven options, some of which begin alike, after three prompts of several lengths."""
    with closing(load_model(str(tiny_checkpoint), dtype="float32")) as local:
        expected = replies(local, asks())
    served = client(scoring(way).routes)
    assert served.can == {"generate", "see", "constrain", "choose"}
    found = replies(served, asks())
    assert [reply.finish_reason for reply in found] == ["choice"] * 3
    for here, there in zip(expected, found):
        assert [*map(len, here.choice_log_probs)] == [*map(len, there.choice_log_probs)]
    for here, there in zip(numbers(expected), numbers(found)):
        np.testing.assert_allclose(there, here, atol=1e-4)


def test_a_local_tokenizer_reads_the_same(client, scoring, tiny_checkpoint):
    """Of a server without /tokenize."""
    by_server = scoring("token ids")
    alone = scoring("token ids")
    routes = {"/v1/completions": alone.complete}
    assert replies(client(by_server.routes), asks()) == replies(client(routes, tokenizer=str(tiny_checkpoint)), asks())
    assert alone.tokenized == 0
    assert sorted(alone.prompts) == sorted(by_server.prompts)


def test_one_request_a_prefix(client, scoring, tokenizer):
    """Yes, No and the like begin alike or not: each distinct beginning of an option's tokens, the empty one too, is
    asked for once, however many options go on from it."""
    server = scoring("token ids")
    served = client(server.routes)
    assert "choose" in served.can
    tried = len(server.prompts)
    assert tried <= 10
    for options in (("Y", "N"), ("Likely", "Likely not", "Unlikely"), OPTIONS):
        tokens = [tuple(tokenizer(option)["input_ids"]) for option in options]
        prefixes = {each[:i] for each in tokens for i in range(len(each))}
        before = len(server.prompts)
        replies(served, [Request((Message("user", "Is it?"),), options)])
        assert len(server.prompts) - before == len(prefixes)


def test_the_first_way_that_a_server_has_is_taken(client, scoring):
    both, echo = client(scoring("token ids", "echo").routes), client(scoring("echo").routes)
    assert "logprob_token_ids, one request a prefix" in both.scoring_way
    assert "echo, one request an option" in echo.scoring_way
    assert "tokens by the server's /tokenize" in echo.scoring_way


NO_TOKENS = "it has no /tokenize as vLLM has; --tokenizer NAME names the model's"


@pytest.mark.parametrize(
    ("routes", "says"),
    [
        (lambda server: {}, NO_TOKENS),
        (lambda server: {"/tokenize": lambda body: Sent({"tokens": []})}, NO_TOKENS),  # llama.cpp's reads "content"
        (lambda server: {"/tokenize": lambda body: Sent({"error": "Unexpected endpoint"})}, NO_TOKENS),  # LM Studio
        (lambda server: {"/tokenize": lambda body: Sent({"error": "no template"}, 400)}, NO_TOKENS),
        (lambda server: server.routes | {"/detokenize": lambda body: Sent({"prompt": "Is it?"})}, "does not give back"),
        (lambda server: server.routes, "gives no log-probabilities of tokens that are named or echoed"),
        (
            lambda server: server.routes | {"/v1/completions": lambda body: Sent({"error": "no"}, 404)},
            "gives no log-probabilities of tokens that are named or echoed",
        ),
        (
            lambda server: server.routes | {"/v1/completions": lambda body: Sent({"choices": [{"text": "Yes"}]})},
            "gives no log-probabilities of tokens that are named or echoed",
        ),
    ],
)
def test_servers_that_can_not(client, scoring, routes, says):
    """Whatever of it they lack: options are refused before anything is asked, and texts are written."""
    served = client(routes(scoring()))
    assert served.can == {"generate", "see", "constrain", "choose_one_token"}
    assert says in served.scoring_way
    with pytest.raises(ModelError, match="no top_logprobs; try --protocol generate"):
        replies(served, asks(1))
    assert replies(served, [Request((Message("user", "Is it?"),))])[0].text == "yes"


BUSY, BROKEN = Sent({}, 503), Sent({"error": "no such thing"}, 500)


@pytest.mark.parametrize(
    "routes",
    [
        lambda server: server.routes | {"/v1/completions": lambda body: BUSY},
        lambda server: server.routes | {"/v1/completions": lambda body: HANGS_UP},
        lambda server: server.routes | {"/v1/completions": lambda body: Sent({}, 429, {"Retry-After": "3600"})},
    ],
)
def test_a_server_that_is_out_of_order_is_not_taken_for_one_that_can_not(client, scoring, routes):
    """A run would go on by another protocol."""
    with pytest.raises(RetriesExhausted, match="how options are scored"):
        client(routes(scoring("token ids"))).can  # noqa: B018 - it asks


@pytest.mark.parametrize("path", ["/tokenize", "/v1/completions"])
def test_an_error_that_may_be_how_it_always_answers_is_taken_so(client, scoring, path):
    assert "choose" not in client(scoring("token ids").routes | {path: lambda body: BROKEN}).can


def test_a_gateway_that_is_busy_where_it_has_nothing(serve, scoring):
    """503 for /tokenize: it has none where it answers otherwise, and nobody knows where it does not."""
    routes = scoring("token ids").routes | {"/tokenize": lambda body: BUSY}
    options = ServerOptions(backoff=0.0, attempts=2)
    with closing(OpenAIServer(serve(routes=routes).url, "tiny", options=options)) as model:
        assert "choose" not in model.can
    with (
        closing(OpenAIServer(serve(models=BUSY, routes=routes).url, "tiny", options=options)) as model,
        pytest.raises(RetriesExhausted, match="503"),
    ):
        model.can  # noqa: B018 - it asks


def test_zeros_and_nan_are_no_log_probabilities(client, scoring):
    """What some servers give in place of what they don't have: 0 throughout, numbers above 0, null, NaN."""

    def spoiled(value):
        server = scoring("echo")

        def complete(body):
            sent = server.complete(body)
            given = sent.body["choices"][0]["logprobs"]["token_logprobs"]
            given[1:] = [value] * len(given[1:])
            return sent

        return server.routes | {"/v1/completions": complete}

    for value in (0.0, 0.5, None, math.nan, "-1", True):
        assert "choose" not in client(spoiled(value)).can


def test_an_echo_without_its_first_token_is_not_taken(client, scoring):
    """Each token would have the log-probability of the next one."""
    server = scoring("echo")

    def complete(body):
        sent = server.complete(body)
        given = sent.body["choices"][0]["logprobs"]["token_logprobs"]
        given[:2] = [None]
        return sent

    assert "choose" not in client(server.routes | {"/v1/completions": complete}).can


def test_an_echo_with_a_token_before_it_is_not_taken(client, scoring, tokenizer):
    """Where the token that is written is left out, there are as many numbers as there should be, of other tokens."""
    server = scoring("echo")

    def complete(body):
        sent = server.complete({**body, "prompt": [tokenizer.eos_token_id, *body["prompt"]]})
        given = sent.body["choices"][0]["logprobs"]["token_logprobs"]
        del given[len(body["prompt"]) + 1 :]
        return sent

    assert "choose" not in client(server.routes | {"/v1/completions": complete}).can


def test_a_request_that_can_not_be_scored_is_alone(client, scoring, caplog):
    """One too long for the context, one with a picture, and one that can."""
    served = client(scoring("token ids").routes)
    too_long = Request((Message("user", "Why? " * 2000),), ("Yes", "No"), name="long")
    seen = Request((Message("user", (Image(b"\x89PNG\r\n\x1a\n"), "Who?")),), ("Yes", "No"), name="picture")
    found = replies(served, [too_long, seen, *asks(1)])
    assert [each.finish_reason for each in found] == ["context_exceeded", "not_understood", "choice"]
    assert all(math.isnan(value) for (value,) in found[0].choice_log_probs)


def test_faults_change_nothing(client, scoring):
    """A fifth of all requests, of every kind: the same numbers, and each prompt is answered once."""
    sound = scoring("token ids")
    expected = replies(client(sound.routes), asks())
    faulty = scoring("token ids")
    kinds = {kind: fault for kind, fault in PASSING.items() if "10 MB" not in kind}
    faults = {path: Faults(route, kinds=kinds, of=str) for path, route in faulty.routes.items()}
    assert replies(client(faults, attempts=10), asks()) == expected
    assert sum(each.met.total() for each in faults.values()) >= 10
    assert set(faults["/v1/completions"].answered.values()) == {1}
    assert sorted(faulty.prompts) == sorted(sound.prompts)


def top(*tokens, finish="stop"):
    given = [{"token": token, "logprob": math.log(share)} for token, share in tokens]
    logprobs = {"content": [{"top_logprobs": given}]} if given else None
    return {"choices": [{"message": {"content": "Yes"}, "finish_reason": finish, "logprobs": logprobs}]}


@pytest.mark.parametrize(
    "tokens",
    [
        [("Yes", 0.3), ("No", 0.24), ("Yes", 0.3)],  # servers that add the token that they took
        [("Yes", 0.2), ("No", 0.24), ("Yes", 0.1)],  # two tokens of one text, as SentencePiece decodes them
        [("▁Yes", 0.2), ("No", 0.24), ("Yes", 0.1)],
        [("ĠYes", 0.3), (" No", 0.14), ("No", 0.1)],
    ],
)
def test_an_option_has_the_probability_of_its_tokens(tokens):
    found = _read_top(top(*tokens), ("Yes", "No"))
    assert [math.exp(only) for (only,) in found] == pytest.approx([0.3, 0.24])


def test_a_filtered_answer_is_one_request_that_fails():
    with pytest.raises(Unanswerable):
        _read_top(top(finish="content_filter"), ("Yes", "No"))


def test_who_answers_is_looked_at_where_options_are_scored():
    """The same id twice, another model, and fewer tokens than words."""
    odd = top(("Yes", 0.3), ("No", 0.24)) | {"id": "1", "model": "other", "usage": {"prompt_tokens": 1}}
    oddities = Oddities("tiny")
    choices = TopChoices("tiny", "it has none", oddities)
    for request in asks(2):
        choices.log_probs(request, lambda path, body, read: read(odd))
    assert {*oddities.notes} == {"repeated_reply", "other_model", "prompt_cut"}
