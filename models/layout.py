"""How messages become the text that a model continues: one function for scoring, writing, token counts and training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from transformers import PreTrainedTokenizerBase

from evenhand.models.chat_templates import ChatTemplate, TemplateRefused
from evenhand.models.errors import Unanswerable
from evenhand.models.request import Message
from evenhand.models.template_settings import NO_SETTINGS, TemplateSettings

_SPEAKERS = {"user": "User", "assistant": "Assistant"}


@dataclass(frozen=True)
class Prompt:
    """Text before the answer.

    Attributes:
        special_tokens: whether the tokenizer should add its own (a chat template has them).
        gap: spaces between the text and an answer, which tokenizers join with the answer's first word.
        opened: whether the text ends inside a thought.
    """

    text: str
    special_tokens: bool
    gap: str = ""
    opened: bool = False

    def with_choice(self, choice: str) -> str:
        """The prompt continued by a choice."""
        return self.text + self.gap + choice


class Layout:
    """Lays out prompts by a tokenizer's chat template; base models, which have none, get plain paragraphs."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase, settings: TemplateSettings = NO_SETTINGS):
        self.chat = ChatTemplate(tokenizer, settings)

    def lay_out(self, messages: Sequence[Message], template: bool = True, answered: bool = False) -> Prompt:
        """Lay out a prompt.

        Where a template refuses a system message or leaves it out, its text stands at the beginning of the first user
        message.

        Args:
            template: without it the one message is the prompt, to the letter, after the tokenizer's own special tokens.
            answered: whether an answer follows at once: what the template writes before one is then part of the prompt,
                and no thought is left open.

        Raises:
            Unanswerable: for images, for messages that a template refuses, and for a thought that can't be closed.
            ModelError: for a template that is broken.
        """
        if any(message.images for message in messages):
            raise Unanswerable(
                "not_understood",
                "this model answers text only, and the request carries an image; use a vision-language model",
            )
        if not template or self.chat.source is None:
            text = _plain(messages) if template else messages[0].text
            return Prompt(text, special_tokens=True, gap="" if text[-1:].isspace() else " ")
        try:
            prompt = self._templated(messages, answered)
            if all(message.text.strip() in prompt.text for message in messages if message.role == "system"):
                return prompt
            return self._templated(_system_folded_in(messages), answered)  # the template leaves the system out
        except TemplateRefused:
            try:
                return self._templated(_system_folded_in(messages), answered)
            except TemplateRefused as error:
                raise Unanswerable(
                    "not_understood", f"the model's chat template refuses its messages: {error}"
                ) from error

    def _templated(self, messages: Sequence[Message], answered: bool) -> Prompt:
        turns = [{"role": message.role, "content": message.text} for message in messages]
        ending = self.chat.ending(turns)
        if not answered:
            return Prompt(self.chat.render(turns), special_tokens=False, opened=ending.opened)
        if ending.text is None:
            raise Unanswerable(
                "not_understood",
                "its prompt ends inside a thought, which can't be closed here: turn thinking off (--template-option), "
                "or let the model write its answers (--protocol generate)",
            )
        between = ending.text.rstrip(" ")
        text = self.chat.render(turns, variables=dict(ending.variables)) + between
        return Prompt(text, special_tokens=False, gap=ending.text[len(between) :])


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
