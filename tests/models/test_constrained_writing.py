"""Writing by a JSON schema: an untrained model writes nothing else, and batches stay the same."""

import importlib.util
import json

import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.decoders import ByteLevel as ByteLevelDecoder
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.trainers import BpeTrainer
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from evenhand.models.constrained_writing import can_constrain
from evenhand.models.errors import ModelError
from evenhand.models.protocol import replies
from evenhand.models.request import Message, Reply, Request, Sampling
from evenhand.models.transformers_model import TransformersModel

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llguidance") is None, reason="the extra `constrain` brings llguidance"
)
FOUND = importlib.util.find_spec
WHO = ["Ada", "Żaneta", 'Bo "B"']


def one_of(*names, keys=("a", "b")):
    properties = {key: {"enum": list(names)} for key in keys}
    return json.dumps(
        {"type": "object", "properties": properties, "required": list(keys), "additionalProperties": False}
    )


def ask(question, schema=None, temperature=1.0, **sampling):
    sampling = {"max_new_tokens": 60} | sampling
    return Request(
        (Message("user", question),), sampling=Sampling(temperature, **sampling), seed=len(question), schema=schema
    )


def untrained(config, **changes):
    torch.manual_seed(0)
    return LlamaForCausalLM(LlamaConfig.from_dict(config.to_dict() | changes)).eval()


@pytest.fixture(scope="module", params=["ends", "no end token", "more logits than tokens"])
def model(request, tiny_llama, tokenizer):
    llama = tiny_llama
    if request.param == "more logits than tokens":
        llama = untrained(tiny_llama.config, vocab_size=len(tokenizer) + 40)
    if request.param == "no end token":
        llama = untrained(tiny_llama.config, eos_token_id=None)
        tokenizer = tokenizer.__class__(tokenizer_object=tokenizer._tokenizer, pad_token="<|end|>")
    return TransformersModel(lambda: llama, tokenizer, "tiny", context=1024, batch_size=3)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_what_is_written_keeps_to_the_schema(model, temperature):
    requests = [ask("why? " * i, one_of(*WHO), temperature) for i in range(1, 8)]
    said = replies(model, requests)
    read = [json.loads(reply.text) for reply in said]
    assert all(list(each) == ["a", "b"] and set(each.values()) <= set(WHO) for each in read)
    assert {reply.finish_reason for reply in said} == {"stop"}
    if temperature:
        assert len({reply.text for reply in said}) > 1


def test_a_batch_answers_as_its_requests_alone(model):
    """Two schemas and none, side by side; what is free is as without any schema beside it."""
    requests = [
        ask("why? " * i, schema)
        for i, schema in enumerate([one_of(*WHO), None, one_of("Bo", keys=("c",))] * 2, start=1)
    ]
    together = replies(model, requests)
    assert together == [replies(model, [request])[0] for request in requests]
    assert {together[2].text, together[5].text} == {'{"c": "Bo"}'}


def test_a_text_that_is_cut(model):
    """At the limit, or at a stop string, after which the row's neighbor goes on."""
    limited, whole = ask("why?", one_of("Ada"), max_new_tokens=4), ask("why?", one_of("Ada"))
    [cut, said] = replies(model, [limited, whole])
    assert (cut.finish_reason, said) == ("length", Reply('{"a": "Ada", "b": "Ada"}'))
    assert said.text.startswith(cut.text)
    stopped = [
        ask("why?", one_of(*names, keys=keys), stop=("Ada",)) for names, keys in ((["Ada"], "a"), (["Bo"], "ab"))
    ]
    assert [reply.text for reply in replies(model, stopped)] == ['{"a": "', '{"a": "Bo", "b": "Bo"}']


def test_what_a_model_has_no_tokens_for_ends_its_text_alone(tiny_llama):
    """A vocabulary without "z": the row ends before it, and its neighbor goes on."""
    letters = Tokenizer(BPE(unk_token="?"))
    letters.pre_tokenizer, letters.decoder = ByteLevel(add_prefix_space=False), ByteLevelDecoder()
    trainer = BpeTrainer(special_tokens=["<|end|>", "?"], show_progress=False)
    letters.train_from_iterator(['why? {"a": "Ada", "b": "Ada"}'], trainer)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=letters, eos_token="<|end|>", unk_token="?")
    llama = untrained(tiny_llama.config, vocab_size=len(tokenizer))
    model = TransformersModel(lambda: llama, tokenizer, "letters", context=1024)
    for temperature in (0.0, 1.0):
        found = replies(model, [ask("why?", one_of(name), temperature) for name in ("Az", "Ada")])
        assert found == [Reply('{"a": "A'), Reply('{"a": "Ada", "b": "Ada"}')]


@pytest.mark.parametrize("schema", ['{"not": {}}', '{"type": "nonsense"}', "{", "[]"])
def test_a_schema_that_cant_be_kept_to_fails_its_request_alone(model, schema):
    found = replies(model, [ask("why?", schema), ask("why?", one_of("Ada"))])
    assert found == [Reply(finish_reason="not_understood"), Reply('{"a": "Ada", "b": "Ada"}')]


def test_without_the_library(monkeypatch, tiny_llama, tokenizer):
    """It can't, and says how it could."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "llguidance" else FOUND(name))
    assert not can_constrain(tokenizer)
    model = TransformersModel(lambda: tiny_llama, tokenizer, "tiny", context=1024)
    assert "constrain" not in model.can
    with pytest.raises(ModelError, match=r"pip install 'evenhand\[constrain\]'"):
        replies(model, [ask("why?", one_of("Ada"))])
    assert replies(model, [ask("why?")])[0].text
