"""Prompts of public checkpoints' templates: what stands before an answer, behind it, and what the template is told."""

import copy
import json
import shutil

import numpy as np
import pytest
from tokenizers import AddedToken
from tokenizers.processors import TemplateProcessing

from evenhand.errors import UsageError
from evenhand.models.chat_templates import ChatTemplate
from evenhand.models.errors import Unanswerable
from evenhand.models.generation import end_tokens, own_sampling, reply_of
from evenhand.models.protocol import replies
from evenhand.models.request import Message, Reply, Request, Sampling
from evenhand.models.template_settings import TemplateSettings
from evenhand.models.text_reader import Layout, TextReader
from evenhand.models.transformers_model import TransformersModel
from tests.models import chat_templates as templates

WHO = (Message("user", "Who?"),)
OFF = TemplateSettings((("enable_thinking", "false"),))
DATED = TemplateSettings(date="2026-01-01")
ON = TemplateSettings((("thinking", "true"),), "2026-01-01")
MARKS = ("<think>", "</think>", "<|im_start|>", "<|im_end|>", "<|return|>", "<|channel|>", "<|message|>", "<|start|>",
         "<end_of_turn>", "<start_of_turn>", "<|eot_id|>", "<｜end▁of▁sentence｜>")  # fmt: skip


@pytest.fixture
def templated(tokenizer):
    """templated(template) → a tokenizer with it. marks: special tokens that no tiny model has."""

    def make(template, marks=MARKS):
        made = copy.deepcopy(tokenizer)
        made.add_tokens([AddedToken(mark, special=True, normalized=False) for mark in marks], special_tokens=True)
        made.bos_token = "<|user|>"
        made.chat_template = template
        return made

    return make


# What stands between a prompt and its answer


@pytest.mark.parametrize(
    ("template", "settings", "before", "gap"),
    [
        (templates.LLAMA_2, None, "<|user|>[INST] Who? [/INST]", " "),
        (templates.VICUNA, None, "USER: Who? ASSISTANT:", " "),
        (templates.GEMMA_2, None, "<|user|><start_of_turn>user\nWho?<end_of_turn>\n<start_of_turn>model\n", ""),
        (
            templates.QWEN_3,
            None,
            "<|im_start|>user\nWho?<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n",
            "",
        ),
        (templates.QWEN_3, OFF, "<|im_start|>user\nWho?<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n", ""),
        (
            templates.QWEN_3_THINKING,
            None,
            "<|im_start|>user\nWho?<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n",
            "",
        ),
        (templates.DEEPSEEK_R1, None, "<｜User｜>Who?<｜Assistant｜><think>\n\n</think>\n\n", ""),
        (
            templates.SMOLLM_3,
            None,
            "<|im_start|>user\nWho?<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n",
            "",
        ),
        (
            templates.GPT_OSS,
            None,
            "<|start|>user<|message|>Who?<|end|><|start|>assistant<|channel|>final<|message|>",
            "",
        ),
        (
            templates.SMOLLM_3_PUBLISHED,
            DATED,
            "<|im_start|>system\nToday Date: 01 January 2026\nReasoning Mode: /no_think\n\n<|im_end|>\n"
            "<|im_start|>user\nWho?<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n",
            "",
        ),
        (templates.GLM_4_5, None, "[gMASK]<sop><|user|>\nWho?<|assistant|>\n<think></think>\n", ""),
        (
            templates.COMMAND_A_REASONING,
            None,
            "<|user|><|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|># System Preamble<|END_OF_TURN_TOKEN|>"
            "<|START_OF_TURN_TOKEN|><|USER_TOKEN|>Who?<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>"
            "<|START_THINKING|><|END_THINKING|><|START_RESPONSE|>",
            "",
        ),
        (
            templates.EXAONE_DEEP,
            None,
            "[|system|][|endofturn|]\n[|user|]Who?\n[|assistant|]<thought>\n\n</thought>\n\n",
            "",
        ),
        (templates.HUNYUAN, None, "<|user|><｜hy_User｜>Who?<｜hy_Assistant｜><think>\n\n</think>\n", ""),
        (templates.DEEPSEEK_V3_1, None, "<|user|><｜User｜>Who?<｜Assistant｜></think>", ""),
        (templates.DEEPSEEK_V3_1, ON, "<|user|><｜User｜>Who?<｜Assistant｜><think>\n</think>\n\n", ""),
        (templates.FALCON, None, "User: Who?\nFalcon:", " "),
        (templates.OLMO_2, None, "<|user|><|user|>\nWho?\n<|assistant|>\n", ""),
        (templates.ALPACA, None, "### Instruction:\nWho?\n\n### Response:\n", ""),
    ],
    ids=["Llama 2", "Vicuna", "Gemma 2", "Qwen3", "Qwen3, off", "Qwen3 Thinking", "R1", "SmolLM3", "gpt-oss",
         "SmolLM3, published", "GLM 4.5", "Command A Reasoning", "EXAONE Deep", "Hunyuan", "DeepSeek V3.1",
         "DeepSeek V3.1, on", "Falcon", "OLMo 2", "Alpaca"],
)  # fmt: skip
def test_a_choice_stands_where_the_template_puts_an_answer(templated, template, settings, before, gap):
    """Byte by byte, and as tokens: what the template writes is no part of the choice, but for a space that joins it."""
    reader = TextReader(templated(template), None, settings or TemplateSettings())
    prompt = reader.layout.lay_out(WHO, answered=True)
    assert (prompt.text, prompt.gap, prompt.opened) == (before, gap, False)
    [[one]] = reader.continuations([Request(WHO, ("Likely",))])
    assert reader.tokenizer.decode(one.prompt) == before
    assert reader.tokenizer.decode(one.answer) == f"{gap}Likely"


@pytest.mark.parametrize(
    ("template", "opened", "note"),
    [
        (templates.QWEN_3, False, "which the chat template writes before an answer"),
        (templates.QWEN_3_THINKING, True, r"after '\n</think>\n\n' closes it"),
        (templates.DEEPSEEK_R1, True, r"after '\n</think>\n\n' closes it"),
        (templates.SMOLLM_3, True, "with enable_thinking=false"),
        (templates.GPT_OSS, False, "'<|channel|>final<|message|>'"),
        (templates.LLAMA_2, False, None),
        (templates.SMOLLM_3_PUBLISHED, False, "with enable_thinking=false"),
        (templates.COMMAND_A_REASONING, True, "with reasoning=false"),
        (templates.PHI_4_REASONING, False, "names thoughts and writes none before an answer"),
        (templates.OLMO_2, False, None),
        (templates.DEEPSEEK_V3_1, False, None),
    ],
)
def test_a_text_begins_where_the_template_begins_it(templated, template, opened, note):
    """And what options are scored after is said where it is no white space."""
    reader = TextReader(templated(template), None)
    request = Request(WHO)
    assert reader.opens_thought(request) == opened
    asked = templated(template).apply_chat_template(
        [{"role": "user", "content": "Who?"}],
        tokenize=False,
        add_generation_prompt=True,
        strftime_now=TemplateSettings().strftime_now,
    )
    assert reader.layout.lay_out(WHO).text == asked
    notes = reader.layout.chat.notes
    assert notes == () if note is None else note in notes[0]


def test_a_template_that_asks_for_a_thought_says_so(templated):
    """Granite's, where thinking is on: no mark stands in the prompt's end, and the model writes one."""
    for settings, note in ((DATED, ()), (TemplateSettings((("thinking", "false"),)), ())):
        assert ChatTemplate(templated(templates.GRANITE_3_3), settings).notes == note
    [note] = ChatTemplate(templated(templates.GRANITE_3_3), ON).notes
    assert "names thoughts" in note


@pytest.mark.parametrize("system", [False, True])
def test_a_space_before_an_answer_does_not_depend_on_the_system_message(templated, system):
    """Mistral's template puts the system's text before the last question, so that it moves when an answer follows."""
    messages = (*([Message("system", "Be fair.")] if system else []), *WHO)
    prompt = Layout(templated(templates.MISTRAL_V3)).lay_out(messages, answered=True)
    assert prompt.with_choice("Yes") == f"<|user|>[INST] {chr(10).join(('Be fair.', '', '')) * system}Who?[/INST] Yes"


@pytest.mark.parametrize("role", ["system", "user"])
def test_a_message_may_turn_thoughts_off(templated, role):
    """Nemotron's template reads /no_think, and takes it out; the prompt then closes the thought itself."""
    text = {"system": "", "user": "Who?"} | {role: "Who? /no_think"}
    layout = Layout(templated(templates.NEMOTRON_NANO_2))
    messages = [Message(each, content) for each, content in text.items() if content]
    for answered in (False, True):
        prompt = layout.lay_out(messages, answered=answered)
        assert prompt.text.endswith("User\nWho?\n<SPECIAL_11>Assistant\n<think></think>")
        assert not prompt.opened


def test_a_template_without_a_generation_prompt_begins_the_answer(templated):
    """Else the model would write the header itself, or the next instruction."""
    layout = Layout(templated(templates.ALPACA))
    assert (
        layout.lay_out(WHO).text
        == layout.lay_out(WHO, answered=True).text
        == ("### Instruction:\nWho?\n\n### Response:\n")
    )
    assert layout.chat.notes == ()


def test_turns_that_a_template_leaves_out_are_not_asked(templated):
    layout = Layout(templated(templates.LAST_QUESTION))
    assert (
        layout.lay_out((Message("system", "Be fair."), *WHO)).text
        == "<|user|><|user|>Be fair.\n\nWho?<|end|><|assistant|>"
    )
    with pytest.raises(Unanswerable, match="leaves out what they say"):
        layout.lay_out((*WHO, Message("assistant", "Me."), Message("user", "Why?")))


def test_all_choices_begin_at_one_place(templated):
    """One that joins a token of the prompt would be charged for it, another not."""
    tokenizer = templated("{% for m in messages %}{{ m.content }}{% endfor %}Answer: ", marks=())
    tokenizer.add_tokens([AddedToken(" Yes", special=False, normalized=False)])
    [read] = TextReader(tokenizer, None).continuations([Request(WHO, ("Yes", "No"))])
    assert [tokenizer.decode(each.prompt) for each in read] == ["Who?Answer:", "Who?Answer:"]
    assert [tokenizer.decode(each.answer) for each in read] == [" Yes", " No"]


def test_a_tokenizer_that_ends_every_text_leaves_prompts_open(tokenizer):
    """Its end would be scored as part of each option, and texts be written behind it."""
    ended = tokenizer.__class__(tokenizer_object=copy.deepcopy(tokenizer._tokenizer))
    ended.backend_tokenizer.post_processor = TemplateProcessing(
        single="<|user|> $A <|end|>", special_tokens=[("<|user|>", 2), ("<|end|>", 0)]
    )
    reader = TextReader(ended, None)
    [written] = reader.prompts([Request(WHO)])
    [[scored]] = reader.continuations([Request(WHO, ("Yes",))])
    assert (written, scored.prompt) == ((2, *tokenizer("Who?")["input_ids"]),) * 2
    assert scored.answer == tuple(tokenizer(" Yes")["input_ids"])


def test_a_question_that_speaks_of_thoughts_opens_none(templated):
    asked = (Message("system", "Think in <think>."), Message("user", "What is <think>?"))
    assert not TextReader(templated(templates.QWEN_3), None).opens_thought(Request(asked))


def test_a_schema_is_kept_to_outside_a_thought(templated):
    reader = TextReader(templated(templates.DEEPSEEK_R1), None)
    request = Request(WHO, schema="{}")
    [tokens] = reader.prompts([request])
    assert reader.tokenizer.decode(tokens).endswith("<think>\n\n</think>\n\n")
    assert not reader.opens_thought(request)


def test_scores_are_those_of_the_same_weights_without_the_thought(tiny_llama, templated):
    """An open thought used to give other figures."""
    found = []
    for template in (
        templates.SMOLLM_3,
        templates.SMOLLM_3.replace("enable_thinking = true", "enable_thinking = false"),
    ):
        tokenizer = templated(template, marks=())
        model = TransformersModel(lambda: tiny_llama, tokenizer, "tiny", context=1024)
        found.append(replies(model, [Request(WHO, ("Likely", "Unlikely"))])[0].choice_log_probs)
    for one, other in zip(*found):
        np.testing.assert_allclose(one, other, atol=1e-6)


# What ends a turn, and what begins a prompt


@pytest.mark.parametrize(
    ("template", "end"),
    [
        (templates.QWEN_3, "<|im_end|>"), (templates.GEMMA_2, "<end_of_turn>"), (templates.LLAMA_3, "<|eot_id|>"),
        (templates.LLAMA_2, "<|end|>"), (templates.GPT_OSS, "<|return|>"),
        (templates.DEEPSEEK_R1, "<｜end▁of▁sentence｜>"), ("{{ messages }}", None), (templates.GLM_4_5, "<|user|>"),
    ],
)  # fmt: skip
def test_the_end_of_a_turn_is_among_the_stops(templated, template, end):
    tokenizer = templated(template)
    found = ChatTemplate(tokenizer).end_of_turn
    assert found == (None if end is None else tokenizer.convert_tokens_to_ids(end))
    ends = end_tokens(None, tokenizer, found)
    assert ends[0] == tokenizer.eos_token_id
    if end is not None:
        tokens = tokenizer(f"Yes{end}\nuser", add_special_tokens=False)["input_ids"]
        assert reply_of(tokenizer, tokens, ends, Sampling()) == Reply("Yes")


@pytest.mark.parametrize(
    ("template", "stop"),
    [(templates.FALCON, "\nUser:"), (templates.QWEN_3, "<|im_end|>"), (templates.OLMO_2, "")],
)
def test_a_turn_that_ends_in_words_is_cut_there(tiny_llama, templated, template, stop):
    """Falcon's, and ChatML on a tokenizer without its tokens: the reply would go on with the next question."""
    tokenizer = templated(template, marks=())
    model = TransformersModel(lambda: tiny_llama, tokenizer, "tiny", context=1024)
    assert model.chat.stop == stop
    sampling = own_sampling(None, Sampling(), model.chat.stop)
    assert reply_of(tokenizer, tokenizer(f"Yes{stop} Who?")["input_ids"], [], sampling).text == (
        "Yes" if stop else "Yes Who?"
    )


def test_a_model_is_told_to_stop_there(tiny_llama, templated, monkeypatch):
    """Its generation settings name another token."""
    given = []
    tokenizer = templated("{% for m in messages %}{{ m.content }}<|system|>{% endfor %}", marks=())
    model = TransformersModel(lambda: tiny_llama, tokenizer, "tiny", context=1024)
    write = type(model.model).generate
    monkeypatch.setattr(
        type(model.model),
        "generate",
        lambda self, **all_: given.append(all_["generation_config"]) or write(self, **all_),
    )
    replies(model, [Request(WHO, sampling=Sampling(max_new_tokens=2))])
    assert given[0].stop_strings is None
    assert given[0].eos_token_id == [tokenizer.eos_token_id, tokenizer.convert_tokens_to_ids("<|system|>")]


def test_a_prompt_begins_once(templated):
    """Where both the template and the tokenizer write the token of a beginning."""
    tokenizer = templated(templates.LLAMA_2)
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single="<|user|> $A", special_tokens=[("<|user|>", 2)]
    )
    reader = TextReader(tokenizer, None)
    [written] = reader.prompts([Request(WHO)])
    [[scored]] = reader.continuations([Request(WHO, ("Yes",))])
    assert written == scored.prompt
    assert written.count(2) == 1
    assert written[0] == 2


def test_a_tokenizer_without_a_padding_token_answers_in_batches(tiny_llama, tokenizer):
    bare = tokenizer.__class__(tokenizer_object=tokenizer._tokenizer, chat_template=tokenizer.chat_template)
    assert bare.pad_token is None
    assert bare.eos_token is None
    model = TransformersModel(lambda: tiny_llama, bare, "tiny", context=1024)
    asked = [Request((Message("user", "Why? " * n),), sampling=Sampling(max_new_tokens=5)) for n in (1, 9)]
    asked += [Request((Message("user", "Why? " * n),), ("Yes", "No, never")) for n in (1, 9)]
    assert replies(model, asked)[:2] == [replies(model, [each])[0] for each in asked[:2]]
    for reply, each in zip(replies(model, asked)[2:], asked[2:]):
        for one, other in zip(reply.choice_log_probs, replies(model, [each])[0].choice_log_probs):
            np.testing.assert_allclose(one, other, atol=1e-5)


def test_a_template_without_system_role_gets_its_text_in_the_first_question(templated):
    """Gemma's refuses it; scored as written."""
    messages = (Message("system", "Be fair."), *WHO)
    layout = Layout(templated(templates.GEMMA_2))
    expected = "<|user|><start_of_turn>user\nBe fair.\n\nWho?<end_of_turn>\n<start_of_turn>model\n"
    assert layout.lay_out(messages).text == layout.lay_out(messages, answered=True).text == expected


def test_a_template_that_leaves_the_system_message_out_gets_its_text_in_the_first_question(templated):
    """Phi-4-reasoning has a system text of its own and renders other turns alone."""
    template = (
        "<|system|>You think.{% for m in messages %}{% if m.role != 'system' %}<|{{ m.role }}|>{{ m.content }}<|end|>"
        "{% endif %}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
    )
    messages = (Message("system", "Your name is Mary."), *WHO)
    assert Layout(templated(template)).lay_out(messages).text == (
        "<|system|>You think.<|user|>Your name is Mary.\n\nWho?<|end|><|assistant|>"
    )


# What a template is told


@pytest.mark.parametrize(
    ("options", "value"),
    [("false", False), ("True", True), ("3", 3), ("0.5", 0.5), ("null", None), ("high", "high"), ("nan", "nan")],
)
def test_values_of_options_are_read_as_json(tokenizer, options, value):
    settings = TemplateSettings((("effort", options),))
    rendered = ChatTemplate(tokenizer, settings, "{{ effort | tojson }}").render([{"role": "user", "content": ""}])
    assert json.loads(rendered) == value
    assert ChatTemplate(tokenizer, settings, "{{ effort }}").mark == f" effort={options}"


def test_an_option_that_the_template_does_not_know_is_refused(templated):
    with pytest.raises(UsageError, match="did you mean 'enable_thinking'"):
        Layout(templated(templates.QWEN_3), TemplateSettings((("enable_thinkin", "false"),)))
    with pytest.raises(UsageError, match="variable of the model's chat template 'messages'"):
        Layout(templated(templates.QWEN_3), TemplateSettings((("messages", "false"),)))
    shared = TemplateSettings((("thinking", "false"), ("enable_thinking", "false")), alone=False)
    assert Layout(templated(templates.QWEN_3), shared).chat.mark == " enable_thinking=false"


def test_a_date_is_told_and_part_of_the_identity_where_the_template_asks(templated):
    chat = ChatTemplate(templated(templates.LLAMA_3), TemplateSettings(date="2026-02-01"))
    assert "Today Date: 01 Feb 2026" in chat.render([{"role": "user", "content": "Who?"}])
    assert (chat.date, chat.mark) == ("2026-02-01", " date=2026-02-01")
    assert ChatTemplate(templated(templates.LLAMA_2), TemplateSettings(date="2026-02-01")).mark == ""
    for nearly in ("0", "off", "no"):  # a text, which templates take for true
        with pytest.raises(UsageError, match="enable_thinking must be true or false"):
            TemplateSettings((("enable_thinking", nearly),))
    with pytest.raises(UsageError, match="--date: expected a date as YYYY-MM-DD, got '1 Feb'"):
        TemplateSettings(date="1 Feb")


# Of runs


@pytest.fixture
def dated(tiny_checkpoint, tmp_path):
    """A checkpoint whose template asks for the date, and for `tone`."""
    folder = shutil.copytree(tiny_checkpoint, tmp_path / "model")
    template = (folder / "chat_template.jinja").read_text()
    (folder / "chat_template.jinja").write_text("{{ strftime_now('%d %b %Y') }}{{ tone }}" + template)
    return folder


def asked_on(monkeypatch, day):
    monkeypatch.setattr("evenhand.models.template_settings.today", lambda: day)
    monkeypatch.setattr("evenhand.flow.evaluation.today", lambda: day)


def test_a_run_keeps_its_date(evenhand, dated, tmp_path, monkeypatch):
    """On whatever day it goes on; two runs of two days differ, and compare says in what."""
    run = ["run", "contact_hypothesis", "--config", "certainty", "--limit", 4, "--model", dated, "--dtype", "float32"]
    for day, output in (("2026-01-01", "a"), ("2026-01-02", "a"), ("2026-01-02", "b")):
        asked_on(monkeypatch, day)
        (tmp_path / output / "results.json").unlink(missing_ok=True)
        called = evenhand(*run, "--output", tmp_path / output)
        assert called.code == 0, called.err
    a, b = (json.loads((tmp_path / each / "results.json").read_text()) for each in "ab")
    assert (a["config"]["date"], b["config"]["date"]) == ("2026-01-01", "2026-01-02")
    assert a["model_identity"].endswith(" date=2026-01-01")
    assert a["model_identity"].removesuffix("2026-01-01") == b["model_identity"].removesuffix("2026-01-02")
    compared = evenhand("compare", tmp_path / "a", tmp_path / "b")
    assert "date: '2026-01-02', not '2026-01-01'" in " ".join(compared.out.split()) or (
        "date: '2026-01-01', not '2026-01-02'" in " ".join(compared.out.split())
    )


def test_template_options_and_date_are_of_the_run(evenhand, dated, tmp_path):
    run = ["run", "contact_hypothesis", "--config", "certainty", "--limit", 2, "--model", dated, "--dtype", "float32"]
    chosen = ["--template-option", "tone=2", "--date", "2026-01-03"]
    called = evenhand(*run, *chosen, "--output", tmp_path / "a")
    assert called.code == 0, called.err
    results = json.loads((tmp_path / "a" / "results.json").read_text())
    assert results["config"]["template_options"] == [["tone", "2"]]
    assert results["config"]["date"] == "2026-01-03"
    assert results["model_identity"].endswith(" tone=2 date=2026-01-03")
    other = evenhand(*run, "--output", tmp_path / "a")
    assert other.code == 2
    assert "template_options" in other.err


@pytest.mark.parametrize(
    ("template", "begin", "system", "user", "behind"),
    [
        (templates.HUNYUAN, "", "{}<｜hy_place▁holder▁no▁3｜>", "<｜hy_User｜>{}",
         "<｜hy_Assistant｜><think>\n\n</think>\n"),
        (templates.GLM_4_5, "[gMASK]<sop>", "<|system|>\n{}", "<|user|>\n{}", "<|assistant|>\n<think></think>\n"),
    ],
    ids=["Hunyuan", "GLM 4.5"],
)  # fmt: skip
def test_a_run_scores_options_where_an_answer_stands(
    evenhand, tiny_llama, tokenizer, tmp_path, template, begin, system, user, behind
):
    """A whole run's figures are those of the same weights after that prompt, to the letter."""
    to_the_letter = (
        f"{{{{ {begin!r} }}}}{{% for m in messages %}}{{{{ {{'system': {system!r}, 'user': {user + behind!r}, "
        "'assistant': '{}'}[m.role].format(m.content) }}{% endfor %}"
    )
    own, found = copy.deepcopy(tokenizer), []
    for name, own.chat_template in (("model", template), ("plain", to_the_letter)):
        tiny_llama.save_pretrained(tmp_path / name)
        own.save_pretrained(tmp_path / name)
        run = ["run", "contact_hypothesis", "--config", "certainty", "--limit", 3, "--dtype", "float32"]
        called = evenhand(*run, "--model", tmp_path / name, "--output", tmp_path / f"{name}-run")
        assert called.code == 0, called.err
        found.append(json.loads((tmp_path / f"{name}-run" / "results.json").read_text()))
    assert found[0]["figures"] == found[1]["figures"]
    assert "scored_after" in {each["code"] for each in found[0]["warnings"]}


def test_options_and_dates_without_effect_are_refused(evenhand, tiny_checkpoint, tmp_path):
    run = ["run", "contact_hypothesis", "--limit", 2, "--output", tmp_path / "run", "--model"]
    wrong = (
        (tiny_checkpoint, "--template-option", "tone=2", "unknown variable of the model's chat template 'tone'"),
        (tiny_checkpoint, "--date", "2026-01-03", "--date has no effect"),
        (tiny_checkpoint, "--date", "today", "YYYY-MM-DD"),
        ("stub:first", "--template-option", "tone=2", "--template-option has no effect"),
        ("stub:first", "--date", "2026-01-03", "--date has no effect"),
    )
    for model, *option, said in wrong:
        called = evenhand(*run, model, *option)
        assert called.code == 2, called.err
        assert said in called.err
    assert not (tmp_path / "run").exists()


def test_a_thought_that_is_closed_is_said_in_the_results(evenhand, tiny_checkpoint, tmp_path):
    folder = shutil.copytree(tiny_checkpoint, tmp_path / "model")
    template = (folder / "chat_template.jinja").read_text()
    opened = template.replace("<|assistant|>{% endif %}", "<|assistant|><think>\n{% endif %}")
    (folder / "chat_template.jinja").write_text(opened)
    called = evenhand("run", "contact_hypothesis", "--limit", 2, "--model", folder, "--output", tmp_path / "run")
    assert called.code == 0, called.err
    warnings = json.loads((tmp_path / "run" / "results.json").read_text())["warnings"]
    [said] = [each["text"] for each in warnings if each["code"] == "scored_after"]
    assert r"options are scored after '\n</think>\n\n' closes it" in said


# Of servers and trainers


@pytest.mark.parametrize(
    "template",
    [
        templates.LLAMA_2,
        templates.QWEN_3.replace("<|im_start|>", ""),
        templates.DEEPSEEK_R1,
        templates.SMOLLM_3,
        templates.HUNYUAN,
    ],
)
def test_servers_and_trainers_read_the_very_same_tokens(tiny_llama, tokenizer, tmp_path, template):
    from evenhand.models.server_tokens import LocalReader, ServerReader
    from evenhand.trainers.examples import read_answers
    from tests.models.scoring_server import Scoring

    own = copy.deepcopy(tokenizer)
    own.bos_token, own.chat_template = "<|user|>", template
    request = Request((Message("system", "Be fair."), *WHO), ("Likely", "Unlikely"))
    reader = TextReader(own, None)
    [expected] = reader.continuations([request])
    routes = Scoring(tiny_llama, own).routes

    def ask(path, body, read):
        return read(routes[path](body).body)

    served = ServerReader("tiny")
    assert served.continuations(request, ask) == expected
    own.save_pretrained(tmp_path)
    local = LocalReader(str(tmp_path))
    assert local.continuations(request, ask) == expected
    assert tuple(served.notes) == local.notes
    [example] = read_answers([Request(request.messages, ("Likely",))], reader, "tiny", end=None)
    assert example == expected[0]


def test_trainers_read_by_the_same_settings(dated):
    from evenhand.trainers.examples import load_base
    from evenhand.trainers.options import TuningOptions

    options = TuningOptions(model=str(dated), template_options=(("tone", "2"),), date="2026-01-03")
    prompt = TextReader.of(load_base(options)).layout.lay_out(WHO)
    assert prompt.text == "03 Jan 20262<|user|>Who?<|end|><|assistant|>"


def test_a_profile_keeps_its_date(tmp_path, monkeypatch):
    from evenhand.profiling.settings import ProfileOptions, open_settings

    for day in ("2026-01-01", "2026-01-02"):
        monkeypatch.setattr("evenhand.profiling.settings.today", lambda day=day: day)
        settings = open_settings(tmp_path, ProfileOptions())
        settings.write(tmp_path)
    assert settings.date == "2026-01-01"
