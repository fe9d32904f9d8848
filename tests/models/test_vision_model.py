"""The image-text-to-text backend, on a tiny checkpoint of each architecture."""

import dataclasses
import importlib.util
import io
import json
import re
import shutil

import numpy as np
import PIL.Image
import pytest
import torch
from safetensors.torch import load_file, save_file

from evenhand.models.box_scales import BOX_SCALES
from evenhand.models.errors import ModelError, Unanswerable
from evenhand.models.loading import Checkpoint
from evenhand.models.picture_reader import PictureLayout
from evenhand.models.protocol import replies
from evenhand.models.registry import load_model
from evenhand.models.request import Image, Message, Reply, Request, Sampling
from evenhand.models.vision_model import VisionModel
from tests.models import tiny_vision

needs_num2words = pytest.mark.skipif(
    importlib.util.find_spec("num2words") is None, reason="SmolVLM's processor needs num2words: the extra 'vision'"
)
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # PaliGemma's labels
CHOICES = ("left", "right", "the person on the left")
SHORT = Sampling(max_new_tokens=8)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(each, marks=needs_num2words if each == "smolvlm" else ()) for each in tiny_vision.ARCHITECTURES
    ],
)
def checkpoint(request, tmp_path_factory):
    return tiny_vision.build(request.param, tmp_path_factory.mktemp(request.param))


def loaded(folder, batch_size=4, **settings):
    settings = {"name": "tiny", "dtype": "float32"} | settings
    return VisionModel.from_checkpoint(Checkpoint(str(folder), **settings), batch_size)


def with_template(model, template):
    model.processor.chat_template = template
    model.layout = PictureLayout(model.processor)
    return model


def prompt_of(model, request):
    return model.rows(request)[0].prompt


def inputs_of(model, request):
    """What the model is given."""
    pictures = [model.picture(each) for message in request.messages for each in message.images]
    return model.inputs([prompt_of(model, request)], [pictures])


@pytest.fixture(scope="module")
def model(checkpoint):
    return loaded(checkpoint)


@pytest.fixture(scope="module")
def llava_folder(tmp_path_factory):
    return tiny_vision.build("llava", tmp_path_factory.mktemp("llava"))


@pytest.fixture(scope="module")
def llava(llava_folder):
    return loaded(llava_folder)


@pytest.fixture(scope="module")
def qwen(tmp_path_factory):
    return loaded(tiny_vision.build("qwen2_vl", tmp_path_factory.mktemp("qwen2_vl")))


def image(pixels):
    file = io.BytesIO()
    PIL.Image.fromarray(np.asarray(pixels, dtype=np.uint8)).save(file, "PNG")
    return Image(file.getvalue())


def squares(seed, width=400, height=200, side=50):
    """A picture of random squares."""
    colours = np.random.default_rng(seed).integers(256, size=(height // side, width // side, 3))
    return colours.repeat(side, axis=0).repeat(side, axis=1)


ONE, OTHER = image(squares(1)), image(squares(2))


def ask(*parts, **fields):
    fields = {"sampling": SHORT, "name": str(parts[0])} | fields
    return Request((Message("system", "Be fair."), Message("user", parts)), **fields)


MIXED = [
    ask(ONE, "Who is left?"),
    ask("Who is left?"),
    ask("Which of the two, the left", image(squares(3, 100, 300)), " or the right one", OTHER, "?"),
    ask(OTHER, "Who is left, who is right, and who is it that stands between them?"),
    ask(image(squares(4, 50, 50)), "Who?"),
    ask("No picture is shown here."),
    ask(OTHER, ONE, "Ö"),
    ask(image(squares(5, 300, 100)), "The nurse?"),
]


def with_choices(request, choices=CHOICES):
    return dataclasses.replace(request, choices=choices)


def log_probs(replies):
    return [np.concatenate(reply.choice_log_probs) for reply in replies]


def assert_alike(some, others):
    """Whatever the batches were: the same texts, and log-probabilities but for their last bits."""
    for one, other in zip(some, others, strict=True):
        assert (one.text, one.finish_reason) == (other.text, other.finish_reason)
        for tokens, others_ in zip(one.choice_log_probs, other.choice_log_probs, strict=True):
            np.testing.assert_allclose(tokens, others_, rtol=0, atol=1e-5)


def test_replies_are_the_same_whatever_the_batch(checkpoint):
    """In fp32, of requests with none, one and two pictures of unlike shapes; likewise the other way round."""
    alone, batches = loaded(checkpoint, batch_size=1), loaded(checkpoint, batch_size=4)
    written = replies(alone, MIXED)
    assert replies(batches, MIXED) == written
    assert replies(batches, MIXED[::-1])[::-1] == written
    scored = [with_choices(request) for request in MIXED]
    for one, other in zip(log_probs(replies(alone, scored)), log_probs(replies(batches, scored)), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-4)


def forward_pass(model, request, answer):
    """Log-probabilities (tokens of the answer + 1, vocabulary) after the prompt and after each token: one pass."""
    prompt = prompt_of(model, request).open_ended()
    pictures = [model.picture(each) for message in request.messages for each in message.images]
    special = {"add_special_tokens": prompt.special_tokens, "return_tensors": "pt"}
    if pictures:
        inputs = dict(model.processor(text=[prompt.text], images=[pictures], **special))
    else:
        inputs = dict(model.tokenizer([prompt.text], **special))
        if model.model.config.model_type == "paligemma":
            inputs["token_type_ids"] = torch.zeros_like(inputs["input_ids"])
    inputs.pop("labels", None)
    of_answers = {"input_ids": answer, "attention_mask": [1] * len(answer), "mm_token_type_ids": [0] * len(answer)}
    of_answers["token_type_ids"] = [1] * len(answer)  # PaliGemma's prompt sees itself whole, its answers what is before
    for name in of_answers.keys() & inputs.keys():
        inputs[name] = torch.cat([inputs[name], torch.tensor([of_answers[name]], dtype=inputs[name].dtype)], dim=-1)
    with torch.inference_mode():
        return model.model(**inputs).logits[0, -len(answer) - 1 :].log_softmax(-1).numpy()


@pytest.mark.parametrize("request_", MIXED[:3], ids=["a picture", "text alone", "two pictures"])
def test_choose_equals_one_forward_pass_a_choice(model, request_):
    [reply] = replies(model, [with_choices(request_)])
    ends_a_line = prompt_of(model, request_).text[-1] == "\n" or prompt_of(model, request_).ending == "\n"
    for choice, scored in zip(CHOICES, reply.choice_log_probs, strict=True):
        answer = model.tokenizer((choice if ends_a_line else " " + choice), add_special_tokens=False)["input_ids"]
        right = forward_pass(model, request_, answer)
        assert len(scored) == len(answer)
        np.testing.assert_allclose(scored, right[range(len(answer)), answer], rtol=0, atol=1e-4)


@pytest.mark.parametrize("request_", MIXED[:3], ids=["a picture", "text alone", "two pictures"])
def test_what_is_written_is_the_likeliest(model, request_):
    """Token for token: what a forward pass over the prompt and all written before finds likeliest."""
    own = model.model.generation_config.eos_token_id
    model.model.generation_config.eos_token_id = None
    try:
        written = model.write(inputs_of(model, request_), [], max_new_tokens=4).sequences[0, -4:].tolist()
    finally:
        model.model.generation_config.eos_token_id = own
    assert forward_pass(model, request_, written)[:-1].argmax(-1).tolist() == written


def test_pictures_and_their_order_reach_the_model(model):
    shown = [(ONE,), (OTHER,), (ONE, OTHER), (OTHER, ONE), ()]
    scored = log_probs(replies(model, [with_choices(ask(*pictures, "Who?")) for pictures in shown]))
    for i, one in enumerate(scored):
        for other in scored[:i]:
            assert np.abs(one - other).max() > 1e-3
    [alone] = log_probs(replies(model, [with_choices(ask(ONE, "Who?"))]))
    np.testing.assert_allclose(scored[0], alone, rtol=0, atol=1e-5)


@pytest.mark.parametrize("shape", [(200, 400), (400, 200), (200, 200)])
def test_the_outer_edges_of_a_picture_are_seen(model, shape):
    """Two pictures that differ in their first and last 20 columns (or rows) alone."""
    plain = np.full((*shape, 3), 128)
    edged = plain.copy()
    along = 1 if shape[1] >= shape[0] else 0
    np.swapaxes(edged, 0, along)[:20] = np.swapaxes(edged, 0, along)[-20:] = (255, 0, 0)
    requests = [with_choices(ask(image(pixels), "Who?")) for pixels in (plain, edged)]
    one, other = log_probs(replies(model, requests))
    assert np.abs(one - other).max() > 1e-3


def test_llava_sees_a_whole_picture_between_bars_of_the_mean_colour(llava_folder, caplog):
    """400 x 200, red and green at its ends: its processor alone would keep the middle 200 x 200, all blue."""
    pixels = np.zeros((200, 400, 3), dtype=np.uint8)
    pixels[..., 2] = 255
    pixels[:, :50], pixels[:, -50:] = (255, 0, 0), (0, 255, 0)
    model = loaded(llava_folder)
    request = ask(image(pixels), "Who?")
    for _ in range(2):
        values = inputs_of(model, request)["pixel_values"][0]
    of = model.processor.image_processor
    seen = values.permute(1, 2, 0).numpy() * of.image_std + of.image_mean  # (56, 56, 3): 7 pixels are one
    np.testing.assert_allclose(seen[28, 1:6], [[1, 0, 0]] * 5, atol=0.05)
    np.testing.assert_allclose(seen[28, 50:55], [[0, 1, 0]] * 5, atol=0.05)
    np.testing.assert_allclose(seen[28, 20:36], [[0, 0, 1]] * 16, atol=0.05)
    np.testing.assert_allclose(seen[[5, 50], 28], [of.image_mean] * 2, atol=0.01)
    assert [record.message for record in caplog.records if record.name.startswith("evenhand")] == [
        f"{model.identity}: its image processor keeps the middle of oblong pictures alone; they are padded to squares "
        "first, in its mean colour"
    ]
    alone = of(PIL.Image.fromarray(pixels), return_tensors="pt")["pixel_values"][0]
    alone = alone.permute(1, 2, 0).numpy() * of.image_std + of.image_mean
    np.testing.assert_allclose(alone[:, 1:-1], np.broadcast_to([0, 0, 1], (56, 54, 3)), atol=0.05)


def test_square_pictures_are_left_as_they_are(llava_folder, caplog):
    model = loaded(llava_folder)
    square = ask(image(squares(4, 50, 50)), "Who?")
    assert model.picture(square.messages[1].images[0]).size == (50, 50)
    assert not [record for record in caplog.records if record.name.startswith("evenhand")]


def test_sampling_is_the_requests_own(model):
    """Order, neighbors and batch size change no reply; another seed does."""
    sampling = Sampling(temperature=1.0, top_p=0.95, max_new_tokens=6)
    requests = [dataclasses.replace(each, sampling=sampling, seed=seed) for seed in range(3) for each in MIXED[:3]]
    together = replies(model, requests)
    assert together == [replies(model, [request])[0] for request in requests]
    assert together == replies(model, requests[::-1])[::-1]
    assert len({reply.text for reply in together[::3]}) > 1


def test_without_a_temperature_the_checkpoint_decides(llava_folder, tmp_path):
    folder = shutil.copytree(llava_folder, tmp_path / "sampling")
    settings = json.loads((folder / "generation_config.json").read_text())
    (folder / "generation_config.json").write_text(json.dumps(settings | {"do_sample": True, "temperature": 0.7}))
    unsaid, greedy, said = (
        [dataclasses.replace(MIXED[0], sampling=sampling, seed=seed) for seed in range(4)]
        for sampling in (
            Sampling(temperature=None, max_new_tokens=8),
            SHORT,
            Sampling(temperature=0.7, top_k=50, max_new_tokens=8),
        )
    )
    assert replies(loaded(llava_folder), unsaid) == replies(loaded(llava_folder), greedy)
    assert replies(loaded(folder), unsaid) == replies(loaded(folder), said) != replies(loaded(folder), greedy)


def test_other_settings_of_the_checkpoint_are_left_out(llava_folder, tmp_path):
    """A repetition penalty counts where the checkpoint decides; beams and caches never do."""
    folder = shutil.copytree(llava_folder, tmp_path / "settings")
    settings = json.loads((folder / "generation_config.json").read_text())
    changes = {"repetition_penalty": 5.0, "num_beams": 3, "cache_implementation": "static"}
    (folder / "generation_config.json").write_text(json.dumps(settings | changes))
    plain, changed = loaded(llava_folder), loaded(folder)
    greedy = [dataclasses.replace(each, sampling=SHORT) for each in MIXED[:3]]
    unsaid = [dataclasses.replace(each, sampling=Sampling(None, max_new_tokens=8)) for each in MIXED[:3]]
    assert replies(changed, greedy) == replies(plain, greedy)
    assert replies(changed, unsaid) == [replies(changed, [each])[0] for each in unsaid] != replies(plain, unsaid)
    assert "cache_implementation, num_beams" in changed.notes["decoding_settings_left_out"]


def test_a_text_ends_at_an_end_token_a_stop_string_or_the_limit(qwen):
    request = dataclasses.replace(MIXED[0], sampling=Sampling(max_new_tokens=12))
    [whole] = replies(qwen, [request])
    assert whole.finish_reason == "length"
    stop = whole.text[4]
    [stopped] = replies(qwen, [dataclasses.replace(request, sampling=Sampling(max_new_tokens=12, stop=(stop,)))])
    assert (stopped.text, stopped.finish_reason) == (whole.text[: whole.text.index(stop)], "stop")
    own = qwen.model.generation_config
    tokens = qwen.write(inputs_of(qwen, request), [], max_new_tokens=12)
    third = tokens.sequences[0, -12:].tolist()[2]
    try:
        own.eos_token_id = [own.eos_token_id, third]
        [ended] = replies(qwen, [request])
    finally:
        own.eos_token_id = own.eos_token_id[0]
    assert ended.finish_reason == "stop"
    assert whole.text.startswith(ended.text)
    assert len(ended.text) < len(whole.text)


def test_a_chat_template_lays_out_turns_pictures_and_the_header_of_the_answer(qwen):
    assert prompt_of(qwen, ask("Who is ", ONE, "left?")).text == (
        "<|im_start|>system\nBe fair.<|im_end|>\n"
        "<|im_start|>user\nWho is <|vision_start|><|image_pad|><|vision_end|>left?<|im_end|>\n<|im_start|>assistant\n"
    )


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{ raise_exception('never') }}", None),
        (
            "{% for message in messages if message['role'] != 'system' %}" + tiny_vision.PARTS + "{% endfor %}",
            "Be fair.\n\nIMAGEWho?",
        ),
        (
            "{% for message in messages %}{% if message['role'] == 'system' %}<<{{ message['content'] }}>>"
            "{% else %}" + tiny_vision.PARTS + "{% endif %}{% endfor %}",
            "<<Be fair.>>IMAGEWho?",
        ),
        ("{% for message in messages %}{{ message['role'] }}{% endfor %}", None),
    ],
    ids=["refuses all", "leaves it out", "takes it as text", "no text"],
)
def test_system_messages_stand_where_the_template_takes_them(llava_folder, template, text):
    model = with_template(loaded(llava_folder), template)
    request = ask(ONE, "Who?")
    if text is None:
        with pytest.raises(Unanswerable, match="chat template takes no turns of system, user"):
            model.rows(request)
    else:
        assert prompt_of(model, request).text == text


def test_a_broken_template_is_no_ones_fault_but_the_models(llava_folder):
    with pytest.raises(ModelError, match="chat template is broken"):
        replies(with_template(loaded(llava_folder), "{% for m in messages %}{{ m['content'] }}"), [ask("Who?")])


def test_a_refused_system_message_stands_in_the_first_question(llava):
    assert prompt_of(llava, ask("Who?", ONE)).text == "USER: <image>\nBe fair.\n\nWho? ASSISTANT:"


def test_base_models_get_plain_text(tmp_path, llava_folder):
    """PaliGemma: all pictures, the start, the text and a line's end, as its processor has it."""
    pali_gemma = loaded(tiny_vision.build("paligemma", tmp_path))
    request = Request((Message("user", ("Who is ", ONE, "left", OTHER, "?")),))
    ids = inputs_of(pali_gemma, request)["input_ids"][0]
    assert pali_gemma.tokenizer.decode(ids) == "<image>" * 32 + "<start>Who is left?\n"
    request = Request((Message("user", "Who is left?"),))
    ids = inputs_of(pali_gemma, request)["input_ids"][0]
    assert pali_gemma.tokenizer.decode(ids) == "<start>Who is left?\n"
    other = loaded(llava_folder)
    other.tokenizer.chat_template = None
    other = with_template(other, None)
    assert prompt_of(other, ask("Who is ", ONE, "left?")).text == "Be fair.\n\nWho is <image>left?"


@pytest.mark.parametrize(
    ("text", "spelt"),
    [("ASSISTANT:", " left"), ("<|im_start|>assistant\n", "left"), ("Answer: ", " left"), ("<|im_start|>", "left")],
)
def test_a_choice_follows_as_a_word_of_its_own(qwen, text, spelt):
    from evenhand.models.picture_reader import PicturePrompt

    prompt = PicturePrompt(text).open_ended()
    assert qwen.tokenizer.decode(prompt.answer(qwen.tokenizer, "left")) == spelt
    assert text.startswith(prompt.text)
    behind_a_line = PicturePrompt(text, ending="\n").open_ended()
    assert qwen.tokenizer.decode(behind_a_line.answer(qwen.tokenizer, "left")) == "left"


@pytest.mark.parametrize("choices", [CHOICES, ()], ids=["choose", "generate"])
def test_a_prompt_too_long_fails_alone(model, choices, caplog):
    """The others of its batch are answered as if it had not been asked."""
    long = ask(ONE, "Who is left? " * 400, choices=choices, name="the long one")
    others = [ask(each, "Who?", choices=choices) for each in (ONE, OTHER)]
    first, failed, second = replies(model, [others[0], long, others[1]])
    assert failed == Reply.failure("context_exceeded", long)
    assert_alike([first, second], replies(model, others))
    [warning] = [each.message for each in caplog.records if "context window" in each.message]
    assert "request 'the long one' is not answered (context_exceeded): it needs " in warning
    assert "context window holds 1,024; nothing was cut" in warning


def test_pictures_count_in_a_prompts_length(llava):
    """16 tokens each: 64 fill the window."""
    fits, exceeds = (ask(*[ONE] * n, "Who?", choices=("left", "right")) for n in (50, 64))
    assert [reply.finish_reason for reply in replies(llava, [fits, exceeds])] == ["choice", "context_exceeded"]


@pytest.mark.parametrize("choices", [CHOICES, ()], ids=["choose", "generate"])
@pytest.mark.parametrize("data", [b"", b"no picture", ONE.data[:200], b"GIF89a" + b"\0" * 20])
def test_an_image_that_can_not_be_decoded_fails_alone(llava_folder, data, choices, caplog):
    model = loaded(llava_folder)
    damaged = ask(Image(data), "Who?", name="row 7", choices=choices)
    others = [ask(each, "Who?", choices=choices) for each in (ONE, OTHER)]
    first, failed, second = replies(model, [others[0], damaged, others[1]])
    assert failed == Reply.failure("not_understood", damaged)
    assert_alike([first, second], replies(model, others))
    says = rf"request 'row 7' is not answered \(not_understood\): an image of {len(data)} bytes can't be decoded.*PNG"
    assert re.search(says, caplog.text)


def test_a_prompt_to_the_letter_is_not_for_it(llava_folder, caplog):
    request = Request((Message("user", "[INST] Who? [/INST]"),), CHOICES, name="row 7", template=False)
    model = loaded(llava_folder)
    assert "continue" not in model.can
    assert replies(model, [request]) == [Reply.failure("not_understood", request)]
    assert "request 'row 7' is not answered (not_understood): image-text-to-text models are asked by" in caplog.text


@pytest.mark.parametrize("text", ["Who is <image> left?", "<image>"])
def test_a_text_can_not_stand_for_a_picture(llava_folder, text, caplog):
    request = ask(ONE, text, name="row 7")
    assert replies(loaded(llava_folder), [request]) == [Reply.failure("not_understood", request)]
    assert "request 'row 7' is not answered (not_understood): its text holds <image>, which stands for" in caplog.text


@pytest.mark.parametrize("choices", [CHOICES, ()], ids=["choose", "generate"])
@pytest.mark.parametrize("refusing", ["processor", "model"])
def test_who_makes_a_batch_fail_is_found(llava_folder, refusing, choices, caplog, monkeypatch):
    """What is raised for a batch names nobody; asked one by one, the others are answered."""
    model = loaded(llava_folder)
    asked = [ask(each, "Who?", choices=choices, name=f"row {i}") for i, each in enumerate([ONE, OTHER, ONE])]
    asked[1] = dataclasses.replace(asked[1], messages=(Message("user", (OTHER, "Refuse me")),))
    alone = [replies(model, [request])[0] for request in asked]
    refused = model.tokenizer("Refuse me", add_special_tokens=False)["input_ids"]

    takes, writes = type(model.processor).__call__, model.model.generate

    def refusing_processor(self, text, **settings):
        if any("Refuse me" in each for each in text):
            raise ValueError("one of these is not for me")
        return takes(self, text=text, **settings)

    def refusing_model(input_ids, **settings):
        if any(str(refused)[1:-1] in str(row) for row in input_ids.tolist()):
            raise IndexError("one of these is not for me")
        return writes(input_ids=input_ids, **settings)

    if refusing == "processor":
        monkeypatch.setattr(type(model.processor), "__call__", refusing_processor)
    else:
        monkeypatch.setattr(model.model, "generate", refusing_model)
    first, failed, last = replies(model, asked)
    assert failed == Reply.failure("not_understood", asked[1])
    assert_alike([first, last], [alone[0], alone[2]])
    assert "request 'row 1' is not answered (not_understood): one of these is not for me" in caplog.text


def test_bugs_and_lack_of_memory_are_raised(llava_folder, monkeypatch):
    model = loaded(llava_folder)
    for error in (torch.OutOfMemoryError, AttributeError, RuntimeError):

        def broken(error=error, **settings):
            raise error("this is no request's fault")

        monkeypatch.setattr(model.model, "generate", broken)
        with pytest.raises(error, match="no request's fault"):
            replies(model, [MIXED[0]])


def test_pictures_that_a_template_does_not_show_are_not_understood(llava_folder, caplog):
    without_pictures = "{% for m in messages %}{% for p in m['content'] %}{{ p['text'] }}{% endfor %}{% endfor %}"
    model = with_template(loaded(llava_folder), without_pictures)
    request = ask(ONE, "Who?", name="row 7")
    assert replies(model, [request]) == [Reply.failure("not_understood", request)]
    assert re.search(r"request 'row 7' is not answered \(not_understood\): .*image", caplog.text)


def test_one_call_may_ask_for_texts_and_choices(llava):
    chosen = [with_choices(request) for request in MIXED]
    both = [each for pair in zip(MIXED, chosen) for each in pair]
    assert replies(llava, both)[::2] == replies(llava, MIXED)
    assert replies(llava, both)[1::2] == replies(llava, chosen)  # in the very same batches


def test_tokens_are_told_while_they_are_written(llava):
    """As many as were written; none where choices are scored."""
    heard = []
    own, llava.model.generation_config.eos_token_id = llava.model.generation_config.eos_token_id, 0
    try:
        arriving = llava.answer([*MIXED, with_choices(MIXED[0])], heard.append)
        assert next(arriving)[0] == len(MIXED)
        assert heard == []
        list(arriving)
        assert sum(heard) == len(MIXED) * SHORT.max_new_tokens
        assert len(heard) > SHORT.max_new_tokens
    finally:
        llava.model.generation_config.eos_token_id = own


def test_no_requests_no_replies(llava):
    assert replies(llava, []) == []


@pytest.mark.parametrize("damage", ["broken", "half of them"])
def test_weights_are_loaded_when_the_first_question_comes_and_never_made_up(llava_folder, tmp_path, damage):
    folder = shutil.copytree(llava_folder, tmp_path / "llava")
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    if damage == "broken":
        (folder / "model.safetensors").write_bytes(b"no weights")
    else:
        kept = {name: weight for name, weight in weights.items() if "projector" not in name}
        save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    model = loaded(folder)
    says = r"no weights for .*projector" if damage == "half of them" else "could not load model"
    with pytest.raises(ModelError, match=says) as error:
        replies(model, [MIXED[0]])
    assert "Accepted: a Hub id or a local folder of an image-text-to-text model" in str(error.value)


def test_identity_tells_checkpoints_and_dtypes_apart(llava_folder, tmp_path):
    """Changed weights and a changed image processor are another model; the same folder is the same model."""
    model = loaded(llava_folder)
    assert model.identity == loaded(llava_folder).identity
    assert model.identity.startswith("tiny@")
    assert model.identity != loaded(llava_folder, dtype="bfloat16").identity
    trained = shutil.copytree(llava_folder, tmp_path / "trained")
    with torch.no_grad():
        model.model.model.language_model.layers[1].mlp.up_proj.weight.add_(0.01)
    model.model.save_pretrained(trained)
    processed = shutil.copytree(llava_folder, tmp_path / "processed")
    settings = json.loads((processed / "preprocessor_config.json").read_text())
    (processed / "preprocessor_config.json").write_text(json.dumps(settings | {"do_normalize": False}))
    assert len({loaded(folder).identity for folder in (llava_folder, trained, processed)}) == 3


def test_bfloat16_answers_too(llava_folder):
    model = loaded(llava_folder, dtype="bfloat16")
    [reply] = replies(model, [with_choices(MIXED[0])])
    assert np.isfinite(np.concatenate(reply.choice_log_probs)).all()
    assert model.model.dtype == torch.bfloat16


def test_loading_says_what_is_wrong(tmp_path, tiny_checkpoint, llava_folder):
    with pytest.raises(ModelError, match="could not load model"):
        loaded(tmp_path)
    with pytest.raises(ModelError, match="a llama model is no image-text-to-text model"):
        loaded(tiny_checkpoint)
    bare = shutil.copytree(llava_folder, tmp_path / "bare")
    (bare / "preprocessor_config.json").unlink()
    with pytest.raises(ModelError, match="Can't load image processor"):
        loaded(bare)
    (bare / "processor_config.json").unlink()
    with pytest.raises(ModelError, match="Can't load image processor"):
        loaded(bare)
    odd = shutil.copytree(llava_folder, tmp_path / "odd")
    config = json.loads((odd / "config.json").read_text())
    config["vision_config"]["patch_size"] = "fourteen"
    (odd / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match=r"could not load model .*patch_size"):
        loaded(odd)
    with pytest.raises(ModelError, match="batch size must be at least 1, got 0"):
        loaded(llava_folder, batch_size=0)


def test_checkpoints_of_older_days_are_laid_out_alike(tmp_path):
    """As Qwen2-VL lies on the hub: no processor_config.json, its template in a JSON file."""
    folder = tiny_vision.build("qwen2_vl", tmp_path)
    [reply] = replies(loaded(folder), [MIXED[0]])
    (folder / "processor_config.json").unlink()
    template = (folder / "chat_template.jinja").read_text()
    (folder / "chat_template.jinja").unlink()
    (folder / "chat_template.json").write_text(json.dumps({"chat_template": template}))
    assert replies(loaded(folder), [MIXED[0]]) == [reply]


def test_no_code_of_a_checkpoint_is_run(llava_folder, tmp_path):
    folder = shutil.copytree(llava_folder, tmp_path / "llava")
    (folder / "mine.py").write_text("raise SystemExit('this was run')\n")
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "mine", "auto_map": {"AutoConfig": "mine.Config", "AutoProcessor": "mine.Processor"}}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match="could not load model"):
        loaded(folder)


def test_box_scales_are_the_documented_ones(llava, qwen):
    assert (llava.box_scale, qwen.box_scale) == (None, 1000)
    assert BOX_SCALES["qwen2_5_vl"] == "pixels"
    assert {"llava", "idefics2", "smolvlm", "paligemma"}.isdisjoint(BOX_SCALES)


def test_load_model_with_pictures(llava_folder):
    model = load_model(str(llava_folder), pictures=True, dtype="float32", batch_size=2)
    assert isinstance(model, VisionModel)
    assert model.batch_size == 2
    assert model.identity.startswith(f"{llava_folder}@")
    with pytest.raises(
        ModelError, match="the embedded model sees no pictures; accepted: a Hub id or a local folder of"
    ):
        load_model("embedded", pictures=True)
    assert load_model("stub:first", pictures=True).identity == "stub:first"
    assert model.can == {"generate", "choose", "see"}
    assert model.whole_calls
    assert model.at_once("choose") == model.at_once("generate") == 4
    assert model.name == str(llava_folder)
