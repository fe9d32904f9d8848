"""How messages become the text that a model continues."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from transformers import PreTrainedTokenizerBase

from evenhand.models.chat_templates import TemplateRefused, rendered
from evenhand.models.errors import Unanswerable, first_line
from evenhand.models.request import Message

_SPEAKERS = {"user": "User", "assistant": "Assistant"}


@dataclass(frozen=True)
class Prompt:
    """Text before the answer. special_tokens: whether the tokenizer should add its own (a chat template has them)."""

    text: str
    special_tokens: bool

    def with_choice(self, choice: str) -> str:
        """The prompt continued by a choice: after a space, unless the prompt ends in white space or a chat header."""
        needs_space = self.special_tokens and not self.text[-1:].isspace()
        return self.text + (" " if needs_space else "") + choice


def lay_out(tokenizer: PreTrainedTokenizerBase, messages: Sequence[Message], template: bool = True) -> Prompt:
    """By the tokenizer's chat template; base models, which have none, get plain paragraphs.

    template: without it the one message is the prompt, to the letter, after the tokenizer's own special tokens.

    Where a template refuses a system message, its text stands at the beginning of the first user message.
    Raises Unanswerable for images and for messages that a template refuses, ModelError for a template that is broken or
    gets out of hand.
    """
    if any(message.images for message in messages):
        raise Unanswerable(
            "not_understood",
            "this model answers text only, and the request carries an image; use a vision-language model",
        )
    if not template:
        return Prompt(messages[0].text, special_tokens=True)
    if tokenizer.chat_template is None:
        return Prompt(_plain(messages), special_tokens=True)
    try:
        text = _templated(tokenizer, messages)
    except TemplateRefused:
        try:
            text = _templated(tokenizer, _system_folded_in(messages))
        except TemplateRefused as error:
            raise Unanswerable(
                "not_understood", f"the model's chat template refuses its messages: {first_line(error)}"
            ) from error
    return Prompt(text, special_tokens=False)


def _templated(tokenizer: PreTrainedTokenizerBase, messages: Sequence[Message]) -> str:
    conversation = [{"role": message.role, "content": message.text} for message in messages]
    return templated(tokenizer, tokenizer.chat_template, conversation)


def templated(tokenizer: PreTrainedTokenizerBase, template: object, conversation: object) -> str:
    """What the template makes of turns, with the beginning of the answer; of several templates, by the default.

    Raises as `rendered` does, and TemplateRefused where none is the default.
    """
    if isinstance(template, dict):
        if "default" not in template:
            raise TemplateRefused(f"none of its chat templates is the default: {', '.join(map(str, template))}")
        template = template["default"]
    variables = {"messages": conversation, "tools": None, "documents": None, "add_generation_prompt": True}
    return rendered(template, {**variables, **tokenizer.special_tokens_map})


def _system_folded_in(messages: Sequence[Message]) -> list[Message]:
    system = [message.text for message in messages if message.role == "system"]
    others = [message for message in messages if message.role != "system"]
    if not system or not others:
        return list(messages)
    first, *rest = others
    return [Message(first.role, "\n\n".join([*system, first.text])), *rest]


def _plain(messages: Sequence[Message]) -> str:
    """One question: its paragraphs. A longer conversation: each turn with its speaker."""
    if sum(message.role != "system" for message in messages) == 1:
        return "\n\n".join(message.text for message in messages)
    turns = [
        f"{_SPEAKERS[message.role]}: {message.text}" if message.role in _SPEAKERS else message.text
        for message in messages
    ]
    return "\n\n".join([*turns, "Assistant:"])
