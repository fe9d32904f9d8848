"""Chat templates are strangers' programs: they write what they would by transformers, and reach nothing else."""

import copy
import shutil

import pytest

from evenhand.models.chat_templates import ChatTemplate, TemplateRefused
from evenhand.models.errors import ModelError
from evenhand.models.request import Message
from evenhand.models.text_reader import Layout
from tests.conftest import CHAT_TEMPLATE
from tests.models import tiny_vision

CHAT = [
    {"role": "system", "content": "Be <b>brief</b> & “kind”."},
    {"role": "user", "content": "Who is {{ messages }}?\n  Ünïcode 🎈 \ud800"},
    {"role": "assistant", "content": ""},
    {"role": "user", "content": "Why?"},
]
HARMLESS = [
    CHAT_TEMPLATE,
    "{{ bos_token }}{{ eos_token }}{{ messages | tojson }}{{ messages[0] | tojson(indent=2) }}"
    "{{ tools }}{{ documents }}",
    "{% for m in messages %}{% if loop.index > 2 %}{% break %}{% endif %}\n    {% generation %}{{ m.content | trim }}"
    "{% endgeneration %}\n{% endfor %}",
    "{% set ns = namespace(n=0) %}{% for m in messages if m['role'] == 'user' %}{% set ns.n = ns.n + 1 %}{% endfor %}"
    "{{ ns.n * '-' }}{{ 'é' ~ add_generation_prompt }}{{ strftime_now('%Y') }}",
    "{% macro said(m) %}{{ m.role | capitalize }}: {{ m.content }}{% endmacro %}{{ said(messages[0]) }}\n",
]


@pytest.fixture
def templated(tokenizer):
    """templated(template) → a tokenizer with it."""

    def make(template):
        made = copy.deepcopy(tokenizer)
        made.chat_template = template
        return made

    return make


@pytest.mark.parametrize("template", HARMLESS)
def test_the_text_is_that_of_transformers(templated, template):
    of_transformers = templated(template)
    expected = of_transformers.apply_chat_template(CHAT, tokenize=False, add_generation_prompt=True)
    assert ChatTemplate(of_transformers).render(CHAT) == expected


@pytest.mark.parametrize(
    "template", [tiny_vision.SPEAKERS, tiny_vision.CHAT_ML, tiny_vision.PICTURES_FIRST.replace("raise_exception", "")]
)
def test_parts_too(tokenizer, template):
    chat = [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "Who?"}]}]
    expected = tokenizer.apply_chat_template(chat, chat_template=template, tokenize=False, add_generation_prompt=True)
    assert ChatTemplate(tokenizer, template=template).render(chat) == expected


@pytest.mark.parametrize("template", ["{% for", "{{ 'a' }", "{% nonsense %}", 3, []])
def test_what_is_no_template_is_said(tokenizer, template):
    for use in (lambda chat: chat.mark, lambda chat: chat.render(CHAT)):
        with pytest.raises(ModelError, match=r"the model's chat template is (broken|no text)"):
            use(ChatTemplate(tokenizer, template=template))


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{{ raise_exception('only users speak') }}", "only users speak"),
        ("{% for i in range(10**9) %}a{% endfor %}", "Range too big"),
        ("{{ nothing.more }}", "undefined"),
        ("{{ 1 / 0 }}", "zero"),
        ("{{ ''.__class__.__mro__ }}", "unsafe"),
        ("{% include '/etc/hostname' %}", "no loader"),
    ],
)
def test_what_a_template_takes_exception_to(tokenizer, template, said):
    with pytest.raises(TemplateRefused, match=said):
        ChatTemplate(tokenizer, template=template).render(CHAT)


def test_a_template_that_calls_itself_for_ever_is_named(tokenizer):
    with pytest.raises(ModelError, match="takes too much memory"):
        ChatTemplate(tokenizer, template="{% macro again() %}{{ again() }}{% endmacro %}{{ again() }}").render(CHAT)


def test_several_templates_without_a_default_are_refused(templated):
    with pytest.raises(ModelError, match="none of the model's chat templates is the default: rag, tool_use"):
        Layout(templated({"rag": "a", "tool_use": "b"}))
    several = templated({"rag": "a", "default": "{{ messages[0].content }}"})
    assert Layout(several).lay_out([Message("user", "Why?")]).text == "Why?"


def test_a_run_says_so(evenhand, tiny_checkpoint, tmp_path):
    folder = shutil.copytree(tiny_checkpoint, tmp_path / "model")
    (folder / "chat_template.jinja").write_text("{% for m in messages %}")
    told = evenhand("run", "contact_hypothesis", "--model", folder, "--limit", 6, "--output", tmp_path / "run")
    assert told.code == 1
    assert "evenhand: the model's chat template is broken" in told.err
