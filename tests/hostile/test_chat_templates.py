"""Chat templates are strangers' programs: they write what they would by transformers, and what they take is bounded."""

import copy
import os
import signal
import sys

import pytest

from evenhand.models import chat_templates
from evenhand.models.chat_templates import TemplateRefused, rendered
from evenhand.models.errors import ModelError
from evenhand.models.layout import lay_out
from evenhand.models.request import Message
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
def quick(monkeypatch):
    """A second is enough for whatever ends at all."""
    worker = chat_templates._Worker()
    monkeypatch.setattr(chat_templates, "SECONDS", 1)
    monkeypatch.setattr(chat_templates, "_worker", worker)
    yield worker
    worker._end()


@pytest.mark.parametrize("template", HARMLESS)
def test_the_text_is_that_of_transformers(tokenizer, template):
    of_transformers = copy.deepcopy(tokenizer)
    of_transformers.chat_template = template
    expected = of_transformers.apply_chat_template(CHAT, tokenize=False, add_generation_prompt=True)
    assert lay_out(of_transformers, [Message(turn["role"], turn["content"]) for turn in CHAT]).text == expected


@pytest.mark.parametrize(
    "template", [tiny_vision.SPEAKERS, tiny_vision.CHAT_ML, tiny_vision.PICTURES_FIRST.replace("raise_exception", "")]
)
def test_parts_too(tokenizer, template):
    chat = [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "Who?"}]}]
    asked = {"messages": chat, "add_generation_prompt": True, **tokenizer.special_tokens_map}
    expected = tokenizer.apply_chat_template(chat, chat_template=template, tokenize=False, add_generation_prompt=True)
    assert rendered(template, asked) == expected


@pytest.mark.parametrize(
    "template",
    [
        "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
        "{% for i in range(99999) %}{% for j in range(99999) %}endless {% endfor %}{% endfor %}",
        "{{ 'a' * 10**10 }}",
        "{% set x %}{{ 'a' * 10**9 }}{% endset %}",
        "{{ 'a' | center(10**9) }}",
        "{{ '%9999999999d' % 1 }}",
        "{{ ' '.ljust(99999).replace(' ', 'b' * 99999) }}",
        "{% macro again() %}{{ again() }}{% endmacro %}{{ again() }}",
        "{% set ns = namespace(l=['a']) %}{% for i in range(60) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l }}",
    ],
)
def test_what_gets_out_of_hand_ends_in_a_sentence(quick, template):
    with pytest.raises(
        ModelError, match=r"the model's chat template (takes more than|gets out of hand: ).*another model"
    ):
        rendered(template, {"messages": CHAT})
    assert rendered("{{ messages | length }}", {"messages": CHAT}) == "4"


@pytest.mark.parametrize("template", ["{% for", "{{ 'a' }", "{% nonsense %}", "{{ messages | nonsense }}", None, 3, []])
def test_what_is_no_template_is_said(template):
    with pytest.raises(ModelError, match=r"the model's chat template is (broken|no text)"):
        rendered(template, {"messages": CHAT})


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
def test_what_a_template_takes_exception_to(template, said):
    with pytest.raises(TemplateRefused, match=said):
        rendered(template, {"messages": CHAT})


def test_several_templates_without_a_default_are_refused(tokenizer):
    several = copy.deepcopy(tokenizer)
    several.chat_template = {"rag": "a", "tool_use": "b"}
    with pytest.raises(Exception, match="none of its chat templates is the default: rag, tool_use"):
        lay_out(several, [Message("user", "Why?")])
    several.chat_template = {"rag": "a", "default": "{{ messages[0].content }}"}
    assert lay_out(several, [Message("user", "Why?")]).text == "Why?"


def test_a_run_says_so(evenhand, tiny_checkpoint, tmp_path):
    import shutil

    folder = shutil.copytree(tiny_checkpoint, tmp_path / "model")
    (folder / "chat_template.jinja").write_text("{{ 'a' * 10**10 }}")
    told = evenhand("run", "contact_hypothesis", "--model", folder, "--limit", 6, "--output", tmp_path / "run")
    assert told.code == 1
    assert "evenhand: the model's chat template gets out of hand" in told.err


@pytest.mark.skipif(not hasattr(os, "kill"), reason="no signals")
def test_a_process_that_was_killed_is_begun_anew(quick):
    assert rendered("a", {}) == "a"
    os.kill(quick._process.pid, signal.SIGTERM)
    quick._process.wait()
    assert rendered("a", {}) == "a"


def test_nothing_is_imported_from_where_a_person_is(quick, tmp_path, monkeypatch):
    (tmp_path / "jinja2.py").write_text("raise SystemExit('planted')")
    monkeypatch.chdir(tmp_path)
    assert rendered("a", {}) == "a"
    assert "jinja2" not in vars(sys.modules["__main__"])
