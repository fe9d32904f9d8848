"""The transformers backend: padded batches answer like single prompts, and each request draws from its own seed."""

import numpy as np
import pytest
import torch

from evenhand.models.errors import ModelError, PromptTooLong
from evenhand.models.request import Image, Message, Request, Sampling
from evenhand.models.seeded_sampling import SeededSampling
from evenhand.models.transformers_model import TransformersModel

CHOICES = ("Likely", "Unlikely", "Yes", "Yes, always", "No")
QUESTIONS = [
    "Why?",
    "Should I ask {students} to lunch today, or tomorrow, or never at all?",
    "Is it fair to leave?",
    "Ö",
]


def ask(question, **fields):
    return Request((Message("system", "Be fair."), Message("user", question)), name=question, **fields)


@pytest.fixture(scope="module", params=["chat template", "base model"])
def model(request, tiny_llama, tokenizer):
    if request.param == "base model":
        tokenizer = tokenizer.__class__(
            tokenizer_object=tokenizer._tokenizer, eos_token="<|end|>"
        )  # no template, no pad
    return TransformersModel(lambda: tiny_llama, tokenizer, "tiny", context=1024, batch_size=3)


def log_probs_one_by_one(model, request):
    """The same figures by the definition: one unpadded forward pass a choice."""
    from evenhand.models.layout import lay_out

    prompt = lay_out(model.tokenizer, request.messages)
    before = model.tokenizer(prompt.text, add_special_tokens=prompt.special_tokens)["input_ids"]
    for choice in request.choices:
        whole = model.tokenizer(prompt.with_choice(choice), add_special_tokens=prompt.special_tokens)["input_ids"]
        with torch.inference_mode():
            log_probs = model.model(torch.tensor([whole])).logits[0].log_softmax(-1)
        yield [float(log_probs[i - 1, whole[i]]) for i in range(len(before), len(whole))]


def test_choose_equals_one_forward_pass_a_choice(model):
    requests = [ask(question, choices=CHOICES) for question in QUESTIONS]
    for request, reply in zip(requests, model.choose(requests)):
        expected = list(log_probs_one_by_one(model, request))
        assert [len(tokens) for tokens in reply.choice_log_probs] == [len(tokens) for tokens in expected]
        for tokens, right in zip(reply.choice_log_probs, expected):
            np.testing.assert_allclose(tokens, right, atol=1e-5)


def test_base_models_get_plain_paragraphs_and_a_space_before_the_answer(tokenizer):
    from evenhand.models.layout import lay_out

    plain = tokenizer.__class__(tokenizer_object=tokenizer._tokenizer)
    prompt = lay_out(plain, ask("Answer:").messages)
    assert prompt.text == "Be fair.\n\nAnswer:"
    assert prompt.with_choice("Yes") == "Be fair.\n\nAnswer: Yes"
    talk = (Message("user", "Hello"), Message("assistant", "Hi"), Message("user", "Who?"))
    assert lay_out(plain, talk).text == "User: Hello\n\nAssistant: Hi\n\nUser: Who?\n\nAssistant:"


def test_a_template_without_system_role_gets_its_text_in_the_first_question(tokenizer):
    from evenhand.models.layout import lay_out

    strict = tokenizer.__class__(
        tokenizer_object=tokenizer._tokenizer,
        chat_template="{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system role') }}{% endif %}"
        "{% for m in messages %}[{{ m['role'] }}]{{ m['content'] }}{% endfor %}",
    )
    assert lay_out(strict, ask("Who?").messages).text == "[user]Be fair.\n\nWho?"


def test_sampling_is_the_requests_own(model):
    """Order, neighbors and batch size change no reply; another seed does."""
    sampling = Sampling(temperature=1.0, top_p=0.9, max_new_tokens=12)
    requests = [ask(question, sampling=sampling, seed=seed) for seed in range(4) for question in QUESTIONS]
    together = model.generate(requests)
    assert together == [model.generate([request])[0] for request in requests]
    assert together == model.generate(requests[::-1])[::-1]
    assert len({reply.text for reply in together[:: len(QUESTIONS)]}) > 1


def test_greedy_decoding_ignores_the_seed(model):
    first, second = (model.generate([ask("Why?", sampling=Sampling(max_new_tokens=8), seed=s)]) for s in (1, 2))
    assert first == second
    assert first[0].finish_reason in ("stop", "length")


def test_generation_ends_at_a_stop_string_or_the_limit(model):
    long = model.generate([ask("Why?", sampling=Sampling(max_new_tokens=30))])[0].text
    stop = long[3]
    reply = model.generate([ask("Why?", sampling=Sampling(max_new_tokens=30, stop=(stop,)))])[0]
    assert reply.text == long[: long.index(stop)]
    assert reply.finish_reason == "stop"


@pytest.mark.parametrize("way", ["choose", "generate"])
def test_a_prompt_too_long_is_an_error_that_names_the_request(model, way):
    question = "Should I? " * 400
    request = ask(question, choices=CHOICES if way == "choose" else ())
    with pytest.raises(PromptTooLong, match="context window holds 1,024; nothing was cut") as error:
        getattr(model, way)([ask("Short.", choices=request.choices, sampling=Sampling(max_new_tokens=4)), request])
    assert error.value.request_name == question


def test_an_image_is_refused_by_a_text_model(model):
    request = Request((Message("user", ("Who?", Image(b"png"))),), choices=("left", "right"))
    with pytest.raises(ModelError, match="text only"):
        model.choose([request])


def test_no_requests_no_replies(model):
    assert model.choose([]) == []
    assert model.generate([]) == []


def test_seeded_sampling_draws_from_the_filtered_distribution():
    """10,000 rows of one distribution: frequencies follow temperature, top-k and top-p."""
    logits = torch.log(torch.tensor([0.5, 0.3, 0.15, 0.05]))
    cases = [
        (Sampling(temperature=1.0, max_new_tokens=1), [0.5, 0.3, 0.15, 0.05]),
        (Sampling(temperature=0.5, max_new_tokens=1), [0.25, 0.09, 0.0225, 0.0025]),
        (Sampling(temperature=1.0, top_k=2, max_new_tokens=1), [0.5, 0.3, 0, 0]),
        (Sampling(temperature=1.0, top_p=0.7, max_new_tokens=1), [0.5, 0.3, 0, 0]),
        (Sampling(temperature=1.0, top_p=0.01, max_new_tokens=1), [1, 0, 0, 0]),
    ]
    for sampling, weights in cases:
        drawn = SeededSampling(sampling, seeds=range(10_000))(None, logits.repeat(10_000, 1)).argmax(-1)
        shares = torch.bincount(drawn, minlength=4) / 10_000
        np.testing.assert_allclose(shares, np.array(weights) / sum(weights), atol=0.02)


def test_loading_says_what_is_wrong(tmp_path):
    with pytest.raises(ModelError, match="could not load model"):
        TransformersModel.from_pretrained(str(tmp_path))


def test_identity_tells_checkpoints_and_dtypes_apart(tiny_checkpoint, tiny_llama, tokenizer, tmp_path):
    """A changed weight is another model; the same folder is the same model."""
    identity = TransformersModel.from_pretrained(str(tiny_checkpoint), name="tiny", dtype="float32").identity
    assert identity == TransformersModel.from_pretrained(str(tiny_checkpoint), name="tiny", dtype="float32").identity
    assert identity != TransformersModel.from_pretrained(str(tiny_checkpoint), name="tiny", dtype="bfloat16").identity
    import copy

    trained = copy.deepcopy(tiny_llama)
    with torch.no_grad():
        trained.model.layers[1].mlp.up_proj.weight.add_(0.01)
    trained.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    assert TransformersModel.from_pretrained(str(tmp_path), name="tiny", dtype="float32").identity != identity
