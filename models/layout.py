"""How messages become the text that a model continues."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jinja2 import TemplateError
from transformers import PreTrainedTokenizerBase

from evenhand.models.errors import ModelError
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


def lay_out(tokenizer: PreTrainedTokenizerBase, messages: Sequence[Message]) -> Prompt:
    """By the tokenizer's chat template; base models, which have none, get plain paragraphs.

    Where a template refuses a system message, its text stands at the beginning of the first user message.
    """
    if any(message.images for message in messages):
        raise ModelError("this model answers text only, and a request carries an image; use a vision-language model")
    if tokenizer.chat_template is None:
        return Prompt(_plain(messages), special_tokens=True)
    try:
        text = _templated(tokenizer, messages)
    except TemplateError:
        text = _templated(tokenizer, _system_folded_in(messages))
    return Prompt(text, special_tokens=False)


def _templated(tokenizer: PreTrainedTokenizerBase, messages: Sequence[Message]) -> str:
    conversation = [{"role": message.role, "content": message.text} for message in messages]
    return str(tokenizer.apply_chat_template(conversation, tokenize=False, add_generation_prompt=True))


def _system_folded_in(messages: Sequence[Message]) -> list[Message]:
    system = [message.text for message in messages if message.role == "system"]
    first, *rest = [message for message in messages if message.role != "system"]
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
