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
from evenhand.models.endings import (
    ANSWER,
    QUESTION,
    Ending,
    find_ending,
    name_closing,
    name_switch,
)
from evenhand.models.errors import ModelError, Unanswerable, first_line
from evenhand.models.template_settings import NO_SETTINGS, THINKING_SWITCHES, TemplateSettings
from evenhand.models.thoughts import closing, has_thought, is_mark

Conversation = Sequence[Mapping[str, Any]]
"""Turns: role, and content as text or as parts."""

_JINJA = Environment(extensions=["jinja2.ext.loopcontrols"])  # reads templates, and renders none
_GIVEN = {"messages", "tools", "documents", "add_generation_prompt", "raise_exception", "strftime_now", *_JINJA.globals}
_CANT_CLOSE = (
    "its prompt ends inside a thought, which can't be closed here: turn thinking off (--template-option), or let the "
    "model write its answers (--protocol generate)"
)
_MAY_THINK = (
    "The chat template {} thoughts and writes none before an answer: if the model begins its answers with a thought, "
    "options are scored where the thought would begin. --protocol generate measures answers after it."
)


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
        """The date that the template is given; None where it doesn't ask for one."""
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

    def lay_out(self, conversation: Conversation, answered: bool) -> tuple[str, str, Ending]:
        """Lay out a prompt: its text, the spaces between it and an answer, and how it goes on.

        Args:
            answered: whether an answer follows immediately: the text then has what the template writes before one, and
                no open thought.

        Raises:
            TemplateRefused: for messages that the template refuses.
            Unanswerable: for a thought that can't be closed.
        """
        text = self.render(conversation)
        ending = self.ending(conversation, text)
        if not answered:
            return text + ending.header, "", ending
        if ending.text is None:
            raise Unanswerable("not_understood", _CANT_CLOSE)
        if ending.variables:
            text = self.render(conversation, variables=dict(ending.variables))
        between = ending.text.rstrip(" ")
        return text + between, ending.text[len(between) :], replace(ending, opened=False)

    def ending(self, conversation: Conversation, asked: str | None = None) -> Ending:
        """How the prompt of such turns goes on to an answer. asked: the prompt. Raises TemplateRefused."""
        turns = [
            dict(turn) if turn["role"] == "system" else {"role": turn["role"], "content": _like(turn, QUESTION)}
            for turn in conversation
        ]
        key = json.dumps(turns)
        if key not in self._endings:
            self._endings[key] = self._find_ending(turns, QUESTION)
        ending = self._endings[key]
        if asked is None or asked.endswith(ending.tail):
            return ending
        return self._find_ending(conversation, _text(conversation[-1]).strip())  # it reads the messages (/no_think)

    @cached_property
    def end_of_turn(self) -> int | None:
        """The first special token that the template writes behind an answer, if need be before the next question."""
        texts = {token: added.content for token, added in self.tokenizer.added_tokens_decoder.items()}
        texts |= zip(self.tokenizer.all_special_ids, self.tokenizer.all_special_tokens)
        unknown = self.tokenizer.unk_token_id  # what a tokenizer without byte fallback makes of a line's end
        special = {token for token, text in texts.items() if text.strip() and not is_mark(text) and token != unknown}
        for behind in self._behind_answer:
            written = self.tokenizer(behind, add_special_tokens=False)["input_ids"] if behind else ()
            if (end := next((token for token in written if token in special), None)) is not None:
                return int(end)
        return None

    @cached_property
    def stop(self) -> str:
        """The text that ends a turn where no special token does, such as "\\nUser:"; empty where there is none."""
        if self.end_of_turn is not None:
            return ""
        last, followed = self._behind_answer
        return last.strip() or followed.rstrip()

    @cached_property
    def _behind_answer(self) -> tuple[str, str]:
        """What stands behind an answer: of the last turn, and up to the next question."""
        if self.source is None:
            return "", ""
        question = {"role": "user", "content": QUESTION}
        followed = self._probe([question], after=[question])[1].partition(QUESTION)
        return self._probe([question])[1], followed[0] if followed[1] else ""

    def _find_ending(self, turns: Conversation, question: str) -> Ending:
        """By the rules of docs/models-of-today.md, "Scoring options"."""
        asked = self.render(turns)
        ending = find_ending(asked, self._probe(turns)[0], question)
        if ending.text and not ending.opened and not ending.closes_thought and self.render(turns, False) == asked:
            return replace(ending, header=ending.text.rstrip(" "), note="")
        if ending.closes_thought:
            return ending
        switches = [name for name in THINKING_SWITCHES if name in self.variables]
        for name in switches:  # as the template itself does when thinking is off
            if name in self.settings.variables:
                continue
            off = {name: False}
            prompt = self.render(turns, variables=off)
            without = find_ending(prompt, self._probe(turns, variables=off)[0], question)
            if prompt != asked and not without.opened:
                note = name_switch(ending, name)
                return replace(without, opened=ending.opened, tail=ending.tail, variables=((name, False),), note=note)
        if ending.text is None:
            return replace(ending, text=(closed := closing(asked)), note=name_closing(closed))
        on = [bool(self.settings.variables.get(name)) for name in switches]
        names = has_thought(self.source or "")
        if all(on) and (on or names):
            return replace(ending, note=_MAY_THINK.format("names" if names else "is asked for"))
        return ending

    def _probe(
        self,
        turns: Conversation,
        variables: Mapping[str, object] = MappingProxyType({}),
        after: Conversation = (),
    ) -> tuple[str, str]:
        """What stands before an answer to these turns, and what behind it; nothing where the template has none."""
        answer = {"role": "assistant", "content": _like(turns[-1], ANSWER)}
        try:
            before, found, behind = self.render([*turns, answer, *after], False, variables).rpartition(ANSWER)
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


def _text(turn: Mapping[str, Any]) -> str:
    """The last text of a turn."""
    content = turn["content"]
    texts = [content] if isinstance(content, str) else [part["text"] for part in content if part["type"] == "text"]
    return texts[-1] if texts else ""


def _broken(error: TemplateSyntaxError) -> ModelError:
    return ModelError(f"the model's chat template is broken: {error}; use another model")
