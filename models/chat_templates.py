"""A checkpoint's chat template: what it makes of messages, and what it writes around an answer.

Templates are programs; transformers renders them in Jinja's sandbox, which keeps them from files and code. What a
template writes between a prompt and its answer is found by rendering an answer that is known: a space (Llama-2), an
empty thought (Qwen3), the channel of the answer (gpt-oss).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

from jinja2 import Environment, TemplateSyntaxError, meta
from transformers import PreTrainedTokenizerBase

from evenhand.errors import unknown_name
from evenhand.models.endings import ANSWER, QUESTION, Ending, find_ending, name_closing
from evenhand.models.errors import ModelError, first_line
from evenhand.models.template_settings import NO_SETTINGS, TemplateSettings
from evenhand.models.thoughts import closing, is_mark

Conversation = Sequence[Mapping[str, Any]]
"""Turns: role, and content as text or as parts."""

_JINJA = Environment(extensions=["jinja2.ext.loopcontrols"])  # reads templates, and renders none
_GIVEN = {"messages", "tools", "documents", "add_generation_prompt", "raise_exception", "strftime_now", *_JINJA.globals}
_SWITCHES = ("enable_thinking", "thinking")  # variables by which templates turn thoughts off


class TemplateRefused(Exception):
    """What a template raised for these messages."""


class ChatTemplate:
    """The chat template of a tokenizer, or `template` (a processor's) in its place, with its settings.

    Raises UsageError for an option that is no variable of the template, ModelError for a template that is none.
    """

    def __init__(
        self, tokenizer: PreTrainedTokenizerBase, settings: TemplateSettings = NO_SETTINGS, template: object = None
    ):
        self.tokenizer = tokenizer
        self.source = _one_of(tokenizer.chat_template if template is None else template)
        self.settings = self._fitting(settings)
        self._endings: dict[str, Ending] = {}

    def _fitting(self, settings: TemplateSettings) -> TemplateSettings:
        """The same, without options of other models' templates where it isn't meant for this model alone."""
        known = self.variables - _GIVEN
        unknown = [name for name, _ in settings.options if name not in known]
        if unknown and settings.alone:
            raise unknown_name("variable of the model's chat template", unknown[0], sorted(known))
        if not unknown:
            return settings
        return replace(settings, options=tuple(each for each in settings.options if each[0] not in unknown))

    @cached_property
    def variables(self) -> frozenset[str]:
        """What the template asks for. Raises ModelError for a template that is broken."""
        plain = re.sub(r"\{%-?\s*(?:end)?generation\s*-?%\}", "", self.source or "")
        try:
            return frozenset(meta.find_undeclared_variables(_JINJA.parse(plain)))
        except TemplateSyntaxError as error:
            raise _broken(error) from error

    @property
    def date(self) -> str | None:
        """The date that the template is told; None where it doesn't ask for one."""
        return self.settings.day if "strftime_now" in self.variables else None

    @property
    def mark(self) -> str:
        """What its settings add to the model's identity."""
        options = [f"{name}={text}" for name, text in sorted(self.settings.options)]
        return "".join(f" {each}" for each in [*options, *([f"date={self.date}"] if self.date else [])])

    @property
    def notes(self) -> tuple[str, ...]:
        """What a report says of how options are scored after its prompts."""
        for content in ("", [{"type": "text", "text": ""}]):
            with suppress(TemplateRefused):
                if self.source is not None:
                    note = self.ending([{"role": "user", "content": content}]).note
                    return (note,) if note else ()
        return ()

    def render(
        self, conversation: Conversation, prompt: bool = True, variables: Mapping[str, object] = MappingProxyType({})
    ) -> str:
        """The text of the turns. prompt: with the beginning of an answer. variables: beside those of the settings.

        Raises TemplateRefused for messages that the template refuses, ModelError for a template that is broken.
        """
        given = {"strftime_now": self.settings.strftime_now, **self.settings.variables, **variables}
        try:
            return self.tokenizer.apply_chat_template(  # type: ignore[no-any-return]
                [dict(turn) for turn in conversation],
                chat_template=self.source,
                tokenize=False,
                add_generation_prompt=prompt,
                **given,
            )
        except TemplateSyntaxError as error:
            raise _broken(error) from error
        except (MemoryError, RecursionError) as error:
            raise ModelError("the model's chat template takes too much memory; use another model") from error
        except Exception as error:  # a template may do what raises anything
            raise TemplateRefused(first_line(error)) from error

    def ending(self, conversation: Conversation) -> Ending:
        """How prompts of such turns go on to an answer. Raises TemplateRefused."""
        turns = [
            dict(turn) if turn["role"] == "system" else {"role": turn["role"], "content": _like(turn, QUESTION)}
            for turn in conversation
        ]
        key = json.dumps(turns)
        if key not in self._endings:
            self._endings[key] = self._find_ending(turns)
        return self._endings[key]

    @cached_property
    def end_of_turn(self) -> int | None:
        """The first special token that the template writes behind an answer; None where it writes none."""
        if self.source is None:
            return None
        texts = {token: added.content for token, added in self.tokenizer.added_tokens_decoder.items()}
        texts |= zip(self.tokenizer.all_special_ids, self.tokenizer.all_special_tokens)
        added = {token for token, text in texts.items() if text.strip() and not is_mark(text)}
        for prompt in (False, True):  # some end a turn only where another follows
            behind = self._probe([{"role": "user", "content": QUESTION}], prompt=prompt)[1]
            written = self.tokenizer(behind, add_special_tokens=False)["input_ids"] if behind else ()
            if (end := next((token for token in written if token in added), None)) is not None:
                return int(end)
        return None

    def _find_ending(self, turns: Conversation) -> Ending:
        asked = self.render(turns)
        ending = find_ending(asked, self._probe(turns)[0])
        if ending.text is not None:
            return ending
        for name in _SWITCHES:  # as the template itself does when thinking is off
            if name in self.variables - self.settings.variables.keys():
                off = find_ending(
                    self.render(turns, variables={name: False}), self._probe(turns, variables={name: False})[0]
                )
                if not off.opened:
                    note = f"The chat template opens a thought; options are scored after its prompts with {name}=false."
                    return Ending(True, off.text, ((name, False),), note)
        return Ending(True, closed := closing(asked), note=name_closing(closed))

    def _probe(
        self, turns: Conversation, prompt: bool = False, variables: Mapping[str, object] = MappingProxyType({})
    ) -> tuple[str, str]:
        """What stands before an answer to these turns, and what behind it; nothing where the template has none."""
        answer = {"role": "assistant", "content": _like(turns[-1], ANSWER)}
        try:
            before, found, behind = self.render([*turns, answer], prompt, variables).rpartition(ANSWER)
        except TemplateRefused:
            return "", ""
        return (before, behind) if found else ("", "")


def _one_of(template: object) -> str | None:
    """The default of several. Raises ModelError for what is no text."""
    if isinstance(template, Mapping):
        if "default" not in template:
            raise ModelError(f"none of the model's chat templates is the default: {', '.join(map(str, template))}")
        template = template["default"]
    if template is None or isinstance(template, str):
        return template
    raise ModelError("the model's chat template is no text; use another model")


def _like(turn: Mapping[str, Any], text: str) -> object:
    """The text, as content of the same shape as the turn's."""
    return text if isinstance(turn["content"], str) else [{"type": "text", "text": text}]


def _broken(error: TemplateSyntaxError) -> ModelError:
    return ModelError(f"the model's chat template is broken: {error}; use another model")
