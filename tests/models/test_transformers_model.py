"""The transformers backend: padded batches answer like single prompts, and each request draws from its own seed."""

import copy
import dataclasses
import json
import shutil

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers.processors import TemplateProcessing

from evenhand.models.errors import ModelError
from evenhand.models.failures import NAMED
from evenhand.models.generation import CountsWritten, SeededSampling
from evenhand.models.loading import Checkpoint
from evenhand.models.protocol import replies
from evenhand.models.request import Image, Message, Reply, Request, Sampling
from evenhand.models.text_reader import Layout, TextReader
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
    prompt = model.reader.layout.lay_out(request.messages, answered=True)
    before = model.tokenizer(prompt.text, add_special_tokens=prompt.special_tokens)["input_ids"]
    for choice in request.choices:
        whole = model.tokenizer(prompt.with_choice(choice), add_special_tokens=prompt.special_tokens)["input_ids"]
        with torch.inference_mode():
            log_probs = model.model(torch.tensor([whole])).logits[0].log_softmax(-1)
        yield [float(log_probs[i - 1, whole[i]]) for i in range(len(before), len(whole))]


def test_choose_equals_one_forward_pass_a_choice(model):
    requests = [ask(question, choices=CHOICES) for question in QUESTIONS]
    for request, reply in zip(requests, replies(model, requests)):
        expected = list(log_probs_one_by_one(model, request))
        assert [len(tokens) for tokens in reply.choice_log_probs] == [len(tokens) for tokens in expected]
        for tokens, right in zip(reply.choice_log_probs, expected):
            np.testing.assert_allclose(tokens, right, atol=1e-5)


def test_a_prompt_without_a_template_is_read_to_the_letter(model):
    """With the tokenizer's own special tokens, whatever template there is; beside requests that have one."""
    text = "[INST] Choose between Yes and No.. \n Answer:\n[/INST]\n"
    plain = Request((Message("user", text),), ("Yes", "No"), template=False)
    with_template = Request((Message("user", text),), ("Yes", "No"))
    alone = model.reader.continuations([plain])[0]
    assert [model.tokenizer.decode(each.prompt) for each in alone] == [text, text]
    assert [model.tokenizer.decode(each.answer) for each in alone] == ["Yes", "No"]
    together = model.reader.continuations([with_template, plain, with_template])
    assert together[1] == alone
    assert together[0] == together[2] == model.reader.continuations([with_template])[0]
    assert together[0] != alone or model.tokenizer.chat_template is None
    written = dataclasses.replace(plain, choices=())
    [prompt] = model.reader.prompts([written])
    assert model.tokenizer.decode(prompt) == text
    for tokens, choice in zip(replies(model, [plain])[0].choice_log_probs, alone):
        assert len(tokens) == len(choice.answer)


def test_the_tokenizers_own_beginning_stands_before_a_prompt_without_a_template(tokenizer):
    """Once, as LLaMA-2's tokenizer puts <s> before a text."""
    beginning = copy.deepcopy(tokenizer)
    beginning.backend_tokenizer.post_processor = TemplateProcessing(
        single="<|user|> $A", special_tokens=[("<|user|>", 2)]
    )
    reader = TextReader(beginning, context=None)
    plain, chat = (Request((Message("user", "Who?"),), template=template) for template in (False, True))
    without, with_template = reader.prompts([plain, chat])
    assert beginning.decode(without) == "<|user|>Who?"
    assert beginning.decode(with_template) == "<|user|>Who?<|end|><|assistant|>"


def test_base_models_get_plain_paragraphs_and_a_space_before_the_answer(tokenizer):
    plain = tokenizer.__class__(tokenizer_object=tokenizer._tokenizer)
    prompt = Layout(plain).lay_out(ask("Answer:").messages)
    assert prompt.text == "Be fair.\n\nAnswer:"
    assert prompt.with_choice("Yes") == "Be fair.\n\nAnswer: Yes"
    talk = (Message("user", "Hello"), Message("assistant", "Hi"), Message("user", "Who?"))
    assert Layout(plain).lay_out(talk).text == "User: Hello\n\nAssistant: Hi\n\nUser: Who?\n\nAssistant:"


def test_sampling_is_the_requests_own(model):
    """Order, neighbors and batch size change no reply; another seed does."""
    sampling = Sampling(temperature=1.0, top_p=0.9, max_new_tokens=12)
    requests = [ask(question, sampling=sampling, seed=seed) for seed in range(4) for question in QUESTIONS]
    together = replies(model, requests)
    assert together == [replies(model, [request])[0] for request in requests]
    assert together == replies(model, requests[::-1])[::-1]
    assert len({reply.text for reply in together[:: len(QUESTIONS)]}) > 1


def test_greedy_decoding_ignores_the_seed(model):
    first, second = (replies(model, [ask("Why?", sampling=Sampling(max_new_tokens=8), seed=s)]) for s in (1, 2))
    assert first == second
    assert first[0].finish_reason in ("stop", "length")


def test_generation_ends_at_a_stop_string_or_the_limit(model):
    long = replies(model, [ask("Why?", sampling=Sampling(max_new_tokens=30))])[0].text
    stop = long[3]
    reply = replies(model, [ask("Why?", sampling=Sampling(max_new_tokens=30, stop=(stop,)))])[0]
    assert reply.text == long[: long.index(stop)]
    assert reply.finish_reason == "stop"


def test_one_call_may_ask_for_texts_and_choices(model):
    """Each is answered as in a call of its own kind, in any order, once."""
    texts = [ask(question, sampling=Sampling(max_new_tokens=6)) for question in QUESTIONS]
    choices = [ask(question, choices=CHOICES) for question in QUESTIONS]
    mixed = [request for pair in zip(texts, choices) for request in pair]
    answered = list(model.answer(mixed))
    assert sorted(place for place, _ in answered) == list(range(len(mixed)))
    assert [reply for _, reply in sorted(answered)][::2] == replies(model, texts)
    assert [reply for _, reply in sorted(answered)][1::2] == replies(model, choices)


def test_replies_come_batch_by_batch(model):
    """Batches of three: four replies are there when two batches are computed, and closing computes no more."""
    passes = []
    hook = model.model.register_forward_pre_hook(lambda *_: passes.append(1))
    try:
        arriving = model.answer([ask(f"Why {i}?", sampling=Sampling(max_new_tokens=1)) for i in range(9)])
        assert len([next(arriving) for _ in range(4)]) == 4
        assert len(passes) == 2
        arriving.close()
        assert len(passes) == 2
    finally:
        hook.remove()


def test_choices_come_as_they_are_scored(tiny_llama, tokenizer):
    padded = TransformersModel(lambda: tiny_llama, tokenizer, "tiny", context=1024, batch_size=2, scoring="padded")
    passes = []
    hook = tiny_llama.register_forward_pre_hook(lambda *_: passes.append(1))
    try:
        next(padded.answer([ask("Why" + "?" * i, choices=("Yes", "Yes, always")) for i in range(8)]))
        assert 0 < len(passes) < 8
    finally:
        hook.remove()


def test_tokens_are_told_while_they_are_written(model):
    """As many as are written, by several calls before the first reply; and hearing them changes none."""
    requests = [ask(question, sampling=Sampling(max_new_tokens=n)) for n in (3, 20) for question in QUESTIONS]
    ends = model.model.generation_config.eos_token_id
    model.model.generation_config.eos_token_id = None
    padless, model.tokenizer.eos_token = model.tokenizer.eos_token, None
    try:
        heard = []
        arriving = model.answer(requests, heard.append)
        next(arriving)
        assert heard == [3, 3, 3]
        list(arriving)
        assert sum(heard) == 4 * 3 + 4 * 20
    finally:
        model.model.generation_config.eos_token_id = ends
        model.tokenizer.eos_token = padless
    assert replies(model, requests, heard.append) == replies(model, requests)


def test_finished_rows_write_no_more():
    """Rows of 2, 1 and 4 tokens: the first ends at an end token, the second at a stop string, which padding follows."""
    heard = []
    counts = CountsWritten(heard.append, ends=[9], padding=0)
    for step in ([5, 7, 5], [9, 0, 5], [0, 0, 5], [0, 0, 5]):
        assert not counts(torch.tensor(step)[:, None], None).any()
    assert heard == [3, 3, 1, 1]


LONG = "Should I? " * 400


@pytest.mark.parametrize("choices", [CHOICES, ()], ids=["choose", "generate"])
def test_a_prompt_too_long_fails_alone(model, choices, caplog):
    """The others are answered as if it had not been asked."""
    few = Sampling(max_new_tokens=4)
    short = [ask(question, choices=choices, sampling=few) for question in QUESTIONS]
    long = ask(LONG, choices=choices, sampling=few)
    with caplog.at_level("WARNING", logger="evenhand"):
        first, failed, *others = replies(model, [short[0], long, *short[1:]])
    assert failed == Reply.failure("context_exceeded", long)
    assert [first, *others] == replies(model, short)
    [record] = [each for each in caplog.records if "context" in each.message]
    assert record.message.startswith("tiny: request 'Should I? Should I?")
    assert "the model's context window holds 1,024; nothing was cut" in record.message


def test_a_flood_of_failures_is_no_flood_in_the_log(model, caplog):
    failed = replies(model, [ask(f"{i} {LONG}", choices=CHOICES) for i in range(50)])
    assert {reply.finish_reason for reply in failed} == {"context_exceeded"}
    assert len([record for record in caplog.records if record.name.startswith("evenhand")]) <= NAMED + 1


def test_an_image_is_not_understood_by_a_text_model(model, caplog):
    seen = Request((Message("user", ("Who?", Image(b"png"))),), choices=("left", "right"), name="row 7")
    failed, answered = replies(model, [seen, ask("Who?", choices=("left", "right"))])
    assert failed == Reply.failure("not_understood", seen)
    assert not answered.failed
    assert "request 'row 7' is not answered (not_understood): this model answers text only" in caplog.text


@pytest.mark.parametrize(
    "raises",
    ["{{ raise_exception('not this') }}", "{{ 1 + 'one' }}", "{{ messages[99].content.nothing }}", "{{ 1 / 0 }}"],
)
def test_messages_that_a_template_refuses_fail_alone(tiny_llama, tokenizer, raises, caplog):
    picky = copy.deepcopy(tokenizer)
    picky.chat_template = (
        "{% for m in messages %}{% if 'Who?' in m['content'] %}" + raises + "{% endif %}{{ m['content'] }}{% endfor %}"
    )
    model = TransformersModel(lambda: tiny_llama, picky, "tiny", context=1024)
    asked = [ask(question, choices=("Yes", "No")) for question in ("Why?", "Who?", "How?")]
    why, who, how = replies(model, asked)
    assert who == Reply.failure("not_understood", asked[1])
    assert not why.failed
    assert not how.failed
    assert "request 'Who?' is not answered (not_understood): the model's chat template refuses" in caplog.text


def test_a_broken_template_is_no_ones_fault_but_the_models(tiny_llama, tokenizer):
    broken = copy.deepcopy(tokenizer)
    broken.chat_template = "{% for m in messages %}{{ m['content'] }}"
    with pytest.raises(ModelError, match="chat template is broken"):
        replies(TransformersModel(lambda: tiny_llama, broken, "tiny", context=1024), [ask("Why?")])


def test_a_choice_that_can_not_be_told_from_its_prompt_fails_alone(tiny_llama, tokenizer):
    """The tokenizer's vocabulary ends a prompt and its answer in one token."""
    silent = copy.deepcopy(tokenizer)
    silent.add_special_tokens({"additional_special_tokens": ["<|user|>Why?<|end|><|assistant|>Yes"]})
    model = TransformersModel(lambda: tiny_llama, silent, "tiny", context=1024)
    asked = [Request((Message("user", question),), choices=("Yes", "No")) for question in ("Why?", "Who?")]
    assert [reply.finish_reason for reply in replies(model, asked)] == ["not_understood", "choice"]


def test_bugs_are_raised(tiny_llama, tokenizer):
    def out_of_memory():
        raise torch.OutOfMemoryError

    for broken, error in ((out_of_memory, torch.OutOfMemoryError), (lambda: None, AttributeError)):
        with pytest.raises(error):
            replies(TransformersModel(broken, tokenizer, "tiny", context=1024), [ask("Why?", choices=("Yes", "No"))])


def test_what_a_failing_request_would_read_is_not_counted(model):
    good = [ask(question, choices=CHOICES) for question in QUESTIONS]
    assert model.count_tokens([*good, ask(LONG, choices=CHOICES)]) == model.count_tokens(good)
    text = dataclasses.replace(good[0], choices=())
    assert model.count_tokens([text, ask(LONG)]).read == len(model.reader.prompts([text])[0])


def test_a_closed_model_answers_no_more(tiny_llama, tokenizer):
    model = TransformersModel(lambda: tiny_llama, tokenizer, "tiny", context=1024)
    replies(model, [ask("Why?", choices=("Yes", "No"))])
    model.close()
    with pytest.raises(ModelError, match="tiny was closed"):
        replies(model, [ask("Why?", choices=("Yes", "No"))])


def test_no_requests_no_replies(model):
    assert replies(model, []) == []


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


def tiny(folder, **how):
    return TransformersModel.from_checkpoint(Checkpoint(str(folder), name="tiny", **how))


def test_loading_says_what_is_wrong(tmp_path):
    with pytest.raises(ModelError, match="could not load model"):
        tiny(tmp_path)


def test_weights_are_never_made_up(tiny_checkpoint, tmp_path):
    folder = shutil.copytree(tiny_checkpoint, tmp_path / "half")
    kept = {name: w for name, w in load_file(folder / "model.safetensors").items() if "layers.1.mlp" not in name}
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=r"could not load model .*no weights for model\.layers\.1\.mlp"):
        replies(tiny(folder, dtype="float32"), [ask("Why?")])


def test_identity_tells_checkpoints_and_dtypes_apart(tiny_checkpoint, tiny_llama, tokenizer, tmp_path):
    """A changed weight is another model; the same folder is the same model, whatever a report calls it."""
    identity = tiny(tiny_checkpoint, dtype="float32").identity
    assert identity == tiny(tiny_checkpoint, dtype="float32").identity
    assert identity != tiny(tiny_checkpoint, dtype="bfloat16").identity
    trained = copy.deepcopy(tiny_llama)
    with torch.no_grad():
        trained.model.layers[1].mlp.up_proj.weight.add_(0.01)
    trained.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    assert tiny(tmp_path, dtype="float32").identity != identity
    assert tiny(tmp_path, dtype="float32").name == tiny(tiny_checkpoint).name == "tiny"


def test_what_it_can(tiny_checkpoint):
    model = tiny(tiny_checkpoint, dtype="float32")
    assert model.can - {"constrain"} == {"generate", "choose", "count_tokens", "continue"}  # that: with llguidance
    assert model.whole_calls
    assert (model.at_once("choose"), model.at_once("generate")) == (256, 32)


@pytest.mark.parametrize(("rope", "context"), [("longrope", 64), ("default", 512)])
def test_positions_that_change_with_the_batch_are_not_used(tiny_checkpoint, tmp_path, rope, context):
    """Of Phi-3-128k and its kin: beyond its first 4,096 tokens a text would depend on what is asked beside it."""
    folder = shutil.copytree(tiny_checkpoint, tmp_path / "model")
    file = folder / "config.json"
    parameters = {"rope_type": rope, "rope_theta": 10000.0}
    if rope == "longrope":
        parameters |= {"short_factor": [1.0] * 4, "long_factor": [2.0] * 4, "original_max_position_embeddings": 64}
    settings = json.loads(file.read_text()) | {"rope_parameters": parameters, "max_position_embeddings": 512}
    file.write_text(json.dumps(settings))
    assert Checkpoint(str(folder)).context == context
